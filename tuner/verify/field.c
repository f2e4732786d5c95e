/* field.c: pads fields. A ghost point has the value of a grid point (its image), with or without its sign, or a number.
 * Images are found axis by axis. */
#include "tuner/verify/field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/parallel.h"
#include "tuner/verify/box.h"

static halotune_status check_grid(const struct stencil *stencil, const struct grid *grid) {
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    long n = grid->n[axis];
    char name = axis_names[axis];
    if (n < 1) return fail(HALOTUNE_ARGUMENT, "a grid has at least one point along %c, not %ld", name, n);
    if (axis >= stencil->dims && n != 1) {
      return fail(HALOTUNE_ARGUMENT, "'%s' has no %c axis: its grids have one point along %c, not %ld", stencil->name,
                  name, name, n);
    }
    if (axis < stencil->dims && stencil->boundary[axis][SIDE_LOW].rule == BOUNDARY_PERIODIC_ENDPOINT && n < 2) {
      return fail(HALOTUNE_ARGUMENT,
                  "'%s' is periodic along %c with its end point repeated, which takes at least two points",
                  stencil->name, name);
    }
  }
  int wrong = -1;
  halotune_status status = stencil_check_grid(stencil, grid, &wrong);
  return wrong >= 0 ? status : HALOTUNE_OK; /* layout_make has a better message about a size that is too large */
}

halotune_status layout_make(const struct stencil *stencil, const struct analysis *analysis, const struct grid *grid,
                            const double *coefficients, struct layout *out) {
  halotune_status status = check_grid(stencil, grid);
  long low[MAX_DIMS], high[MAX_DIMS];
  if (status != HALOTUNE_OK) return status;
  *out = (struct layout){.stencil = stencil, .coefficients = coefficients, .grid = *grid};
  long points = 1, bytes;
  analysis_computed(analysis, stencil, grid, low, high);
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    long before = analysis->radius_low[axis] - low[axis];
    long after = analysis->radius_high[axis] - (grid->n[axis] - high[axis]);
    long ghosts = (before > 0 ? before : 0) + (after > 0 ? after : 0);
    out->low[axis] = before > 0 ? before : 0;
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
  const long rest = period > 0 ? index % period : 0; /* layout_make refuses a period of 0 */
  return rest < 0 ? rest + period : rest;
}

/* The source of a ghost point's value along an axis: a point of the grid with a sign, or a number. */
struct image {
  bool is_number;
  long index;
  double sign, number;
};

/* The image of a point beyond an end of an axis of `n` points. */
static struct image image_beyond(const struct layout *layout, const struct edge *edge, long index, long n) {
  const bool is_low = index < 0;
  switch (edge->rule) {
  case BOUNDARY_PERIODIC: return (struct image){.index = modulo(index, n), .sign = 1};
  case BOUNDARY_PERIODIC_ENDPOINT: return (struct image){.index = modulo(index, n - 1), .sign = 1};
  case BOUNDARY_MIRROR: return (struct image){.index = is_low ? -1 - index : 2 * n - 1 - index, .sign = 1};
  case BOUNDARY_MIRROR_NODE: return (struct image){.index = is_low ? -index : 2 * n - 2 - index, .sign = 1};
  case BOUNDARY_ODD_MIRROR: return (struct image){.index = is_low ? -1 - index : 2 * n - 1 - index, .sign = -1};
  case BOUNDARY_ODD_MIRROR_NODE: return (struct image){.index = is_low ? -index : 2 * n - 2 - index, .sign = -1};
  case BOUNDARY_ZERO: return (struct image){.is_number = true};
  case BOUNDARY_VALUE: {
    double number = edge->coefficient >= 0 ? layout->coefficients[edge->coefficient] : edge->number;
    return (struct image){.is_number = true, .number = number};
  }
  default: return (struct image){.index = is_low ? 0 : n - 1, .sign = 1};
  }
}

/* The image of the point `index` of an input along an axis. */
static struct image layout_image(const struct layout *layout, int input, int axis, long index) {
  const long n = layout->grid.n[axis];
  if (index >= 0 && index < n) return (struct image){.index = index, .sign = 1};
  const enum edge_side side = index < 0 ? SIDE_LOW : SIDE_HIGH;
  return image_beyond(layout, &layout->stencil->input_boundary[input][axis][side], index, n);
}

struct padding {
  const struct layout *layout;
  int input;
  const double *from; /* dense values; NULL: the inner points are filled already */
  double *to;
  bool absolute;
};

static double value_of(const struct padding *padding, double value) { return padding->absolute ? fabs(value) : value; }

/* Fill the points of a row that lie in the grid along x. */
static void pad_inner(const struct padding *padding, const struct image *y, const struct image *z, double *inner) {
  const struct layout *layout = padding->layout;
  const struct image *number = y->is_number ? y : z;
  const double sign = y->sign * z->sign;
  const long n = layout->grid.n[0];
  if (number->is_number) {
    for (long x = 0; x < n; x++) inner[x] = value_of(padding, number->number);
    return;
  }
  const double *from = padding->from ? padding->from + grid_index(&layout->grid, 0, y->index, z->index)
                                     : padding->to + layout_index(layout, 0, y->index, z->index);
  if (from == inner) return;
  if (sign > 0 && !padding->absolute) memcpy(inner, from, (size_t)n * sizeof *inner);
  else {
    for (long x = 0; x < n; x++) inner[x] = value_of(padding, sign * from[x]);
  }
}

/* Fill padded rows, which are numbered through y, then z. A number stands for itself, whatever other axes say; the
 * first axis with a number counts. */
static void pad_rows(void *context, int thread, long first, long end) {
  const struct padding *padding = context;
  const struct layout *layout = padding->layout;
  const long n = layout->grid.n[0], *padded = layout->padded;
  (void)thread;
  for (long row = first; row < end; row++) {
    double *to = padding->to + row * padded[0], *inner = to + layout->low[0];
    struct image y = layout_image(layout, padding->input, 1, row % padded[1] - layout->low[1]);
    struct image z = layout_image(layout, padding->input, 2, row / padded[1] - layout->low[2]);
    pad_inner(padding, &y, &z, inner);
    for (long i = 0; i < padded[0]; i++) {
      if (i == layout->low[0]) i += n; /* skip the inner points, which are filled already */
      if (i == padded[0]) break;
      struct image x = layout_image(layout, padding->input, 0, i - layout->low[0]);
      if (x.is_number) to[i] = value_of(padding, x.number);
      else if (y.is_number || z.is_number) to[i] = inner[0]; /* all points of the row hold the number */
      else to[i] = value_of(padding, x.sign * inner[x.index]);
    }
  }
}

static void pad_field(struct padding *padding, int threads) {
  enum { PART_POINTS = 1 << 15 };
  const long *padded = padding->layout->padded;
  parallel_for(padded[1] * padded[2], 1 + PART_POINTS / padded[0], threads, pad_rows, padding);
}

halotune_status field_copy(struct field *field, const struct layout *layout, int input, const double *values,
                           bool absolute, int threads) {
  if (!field->own) field->own = malloc((size_t)layout->points * sizeof *field->own);
  if (!field->own) return fail_memory();
  struct padding padding = {layout, input, values, field->own, absolute};
  pad_field(&padding, threads);
  field->values = field->own;
  return HALOTUNE_OK;
}

void field_refill(struct field *field, const struct layout *layout, int input, bool absolute, int threads) {
  struct padding padding = {layout, input, NULL, field->own, absolute};
  pad_field(&padding, threads);
}

halotune_status field_borrow(struct field *field, const struct layout *layout, int input, const double *values,
                             int threads) {
  if (layout->has_ghosts) return field_copy(field, layout, input, values, false, threads);
  field->values = values;
  return HALOTUNE_OK;
}

void field_free(struct field *field) {
  free(field->own);
  *field = (struct field){0};
}
