/* box.h: the box of a grid that a sweep computes. A field is a dense array of the grid's points, x fastest. */
#ifndef TUNER_VERIFY_BOX_H
#define TUNER_VERIFY_BOX_H

#include <stdbool.h>

#include "stencil/analysis/analysis.h"

/* Points with low <= point < high on each axis. The box is empty if that leaves no point on some axis. */
struct box {
  long low[MAX_DIMS], high[MAX_DIMS];
};

/* The points at which a sweep of this stencil writes at least one output. The other points are called skipped. */
struct box box_computed(const struct stencil *stencil, const struct analysis *analysis, const struct grid *grid);

/* The points of a box at which a sweep writes this output. */
struct box box_written(const struct stencil *stencil, const struct analysis *analysis, const struct grid *grid,
                       int output, const struct box *box);

/* The number of points in the box; 0 if it is empty. */
long box_points(const struct box *box);

/* Whether a point lies in the box. */
static inline bool box_contains(const struct box *box, long x, long y, long z) {
  return x >= box->low[0] && x < box->high[0] && y >= box->low[1] && y < box->high[1] && z >= box->low[2] &&
         z < box->high[2];
}

/* The number of points in a grid. */
long grid_points(const struct grid *grid);

/* The index of a point in a field. */
static inline long grid_index(const struct grid *grid, long x, long y, long z) {
  return x + grid->n[0] * (y + grid->n[1] * z);
}

/* Call `visit` for all points of the grid outside the box. Each call covers `count` consecutive elements of a field,
 * from `first` on. */
void box_outside(const struct box *box, const struct grid *grid, void (*visit)(void *context, long first, long count),
                 void *context);

#endif
