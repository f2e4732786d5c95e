/* box.c: computes boxes of points, and visits what is outside of them. */
#include "tuner/verify/box.h"

struct box box_computed(const struct stencil *stencil, const struct analysis *analysis, const struct grid *grid) {
  struct box box = {{0}, {0}};
  analysis_computed(analysis, stencil, grid, box.low, box.high);
  return box;
}

struct box box_written(const struct stencil *stencil, const struct analysis *analysis, const struct grid *grid,
                       int output, const struct box *box) {
  struct box written = *box;
  long low[MAX_DIMS], high[MAX_DIMS];
  analysis_written(analysis, stencil, grid, output, low, high);
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (written.low[axis] < low[axis]) written.low[axis] = low[axis];
    if (written.high[axis] > high[axis]) written.high[axis] = high[axis];
  }
  return written;
}

long box_points(const struct box *box) {
  long points = 1;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (box->high[axis] <= box->low[axis]) return 0;
    points *= box->high[axis] - box->low[axis];
  }
  return points;
}

long grid_points(const struct grid *grid) { return grid->n[0] * grid->n[1] * grid->n[2]; }

void box_outside(const struct box *box, const struct grid *grid, void (*visit)(void *context, long first, long count),
                 void *context) {
  if (box_points(box) == 0) {
    visit(context, 0, grid_points(grid));
    return;
  }
  long nx = grid->n[0];
  for (long z = 0; z < grid->n[2]; z++) {
    for (long y = 0; y < grid->n[1]; y++) {
      long row = grid_index(grid, 0, y, z);
      if (y < box->low[1] || y >= box->high[1] || z < box->low[2] || z >= box->high[2]) {
        visit(context, row, nx);
      } else {
        if (box->low[0] > 0) visit(context, row, box->low[0]);
        if (box->high[0] < nx) visit(context, row + box->high[0], nx - box->high[0]);
      }
    }
  }
}
