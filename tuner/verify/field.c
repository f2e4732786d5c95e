/* field.c: pads fields. A ghost point has the value of a grid point (its image), or 0. Images are found axis by
 * axis. */
#include "tuner/verify/field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "tuner/verify/box.h"

enum { NO_IMAGE = -1 };

static halotune_status check_grid(const struct stencil *stencil, const struct grid *grid) {
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    long n = grid->n[axis];
    char name = axis_names[axis];
    if (n < 1) return fail(HALOTUNE_ARGUMENT, "a grid has at least one point along %c, not %ld", name, n);
    if (axis >= stencil->dims && n != 1) {
      return fail(HALOTUNE_ARGUMENT, "'%s' has no %c axis: its grids have one point along %c, not %ld", stencil->name,
                  name, name, n);
    }
    if (axis < stencil->dims && stencil->boundary[axis] == BOUNDARY_PERIODIC_ENDPOINT && n < 2) {
      return fail(HALOTUNE_ARGUMENT,
                  "'%s' is periodic along %c with its end point repeated, which takes at least two points",
                  stencil->name, name);
    }
  }
  return HALOTUNE_OK;
}

halotune_status layout_make(const struct stencil *stencil, const struct analysis *analysis, const struct grid *grid,
                            struct layout *out) {
  halotune_status status = check_grid(stencil, grid);
  if (status != HALOTUNE_OK) return status;
  *out = (struct layout){.grid = *grid};
  long points = 1, bytes;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    enum boundary boundary = axis < stencil->dims ? stencil->boundary[axis] : BOUNDARY_SKIP;
    bool padded = boundary != BOUNDARY_SKIP;
    int ghosts = padded ? analysis->radius_low[axis] + analysis->radius_high[axis] : 0;
    out->boundary[axis] = boundary;
    out->low[axis] = padded ? analysis->radius_low[axis] : 0;
    if (__builtin_add_overflow(grid->n[axis], ghosts, &out->padded[axis]) ||
        __builtin_mul_overflow(points, out->padded[axis], &points) ||
        __builtin_mul_overflow(points, (long)sizeof(double), &bytes)) {
      return fail(HALOTUNE_ARGUMENT, "a grid of %ldx%ldx%ld points is too large", grid->n[0], grid->n[1], grid->n[2]);
    }
    out->has_ghosts = out->has_ghosts || ghosts > 0;
  }
  out->points = points;
  return HALOTUNE_OK;
}

static long modulo(long index, long period) {
  long rest = index % period;
  return rest < 0 ? rest + period : rest;
}

/* The point whose value the point `index` has, on an axis of `n` points; NO_IMAGE if its value is 0. */
static long image_of(enum boundary boundary, long index, long n) {
  if (index >= 0 && index < n) return index;
  switch (boundary) {
  case BOUNDARY_PERIODIC: return modulo(index, n);
  case BOUNDARY_PERIODIC_ENDPOINT: return modulo(index, n - 1);
  case BOUNDARY_CLAMP: return index < 0 ? 0 : n - 1;
  case BOUNDARY_ZERO:
  case BOUNDARY_SKIP: break;
  }
  return NO_IMAGE;
}

struct padding {
  const struct layout *layout;
  const double *from;
  double *to;
  bool absolute;
};

/* Fill padded rows, which are numbered through y, then z. */
static void pad_rows(void *context, int thread, long first, long end) {
  const struct padding *padding = context;
  const struct layout *layout = padding->layout;
  const long *n = layout->grid.n, *padded = layout->padded;
  (void)thread;
  for (long row = first; row < end; row++) {
    double *to = padding->to + row * padded[0];
    long y = image_of(layout->boundary[1], row % padded[1] - layout->low[1], n[1]);
    long z = image_of(layout->boundary[2], row / padded[1] - layout->low[2], n[2]);
    if (y == NO_IMAGE || z == NO_IMAGE) {
      memset(to, 0, (size_t)padded[0] * sizeof *to);
      continue;
    }
    const double *from = padding->from + grid_index(&layout->grid, 0, y, z);
    double *inner = to + layout->low[0];
    if (padding->absolute) {
      for (long x = 0; x < n[0]; x++) inner[x] = fabs(from[x]);
    } else {
      memcpy(inner, from, (size_t)n[0] * sizeof *inner);
    }
    for (long i = 0; i < padded[0]; i++) {
      if (i == layout->low[0]) i += n[0]; /* skip the inner points, which are copied already */
      if (i == padded[0]) break;
      long x = image_of(layout->boundary[0], i - layout->low[0], n[0]);
      to[i] = x == NO_IMAGE ? 0 : inner[x];
    }
  }
}

halotune_status field_copy(struct field *field, const struct layout *layout, const double *values, bool absolute,
                           int threads) {
  enum { PART_POINTS = 1 << 15 };
  if (!field->own) field->own = malloc((size_t)layout->points * sizeof *field->own);
  if (!field->own) return fail_memory();
  struct padding padding = {.layout = layout, .from = values, .to = field->own, .absolute = absolute};
  parallel_for(layout->padded[1] * layout->padded[2], 1 + PART_POINTS / layout->padded[0], threads, pad_rows, &padding);
  field->values = field->own;
  return HALOTUNE_OK;
}

halotune_status field_borrow(struct field *field, const struct layout *layout, const double *values, int threads) {
  if (layout->has_ghosts) return field_copy(field, layout, values, false, threads);
  field->values = values;
  return HALOTUNE_OK;
}

void field_free(struct field *field) {
  free(field->own);
  *field = (struct field){0};
}
