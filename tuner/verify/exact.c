/* exact.c: evaluates the formulas of fields point by point. */
#include "tuner/verify/exact.h"

#include <math.h>
#include <stdatomic.h>

#include "base/system/parallel.h"

const struct exact *exact_find(const struct stencil *stencil, bool is_output, int field) {
  for (int i = 0; i < stencil->exact_count; i++) {
    const struct exact *exact = &stencil->exact[i];
    if (exact->is_output == is_output && exact->field == field) return exact;
  }
  return NULL;
}

struct exact_filling {
  const struct stencil *stencil;
  const struct exact *exact;
  const struct grid *grid;
  const double *coefficients;
  long steps;
  const volatile sig_atomic_t *stop;
  double *values;
  atomic_bool failed; /* memory ran out, which is the only possible failure */
};

static void fill_points(void *context, int thread, long first, long end) {
  struct exact_filling *filling = context;
  const long *n = filling->grid->n;
  (void)thread;
  for (long i = first; i < end && !(filling->stop && *filling->stop); i++) {
    const long point[MAX_DIMS] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
    halotune_status status = stencil_exact(filling->stencil, filling->exact, filling->grid, filling->coefficients,
                                           filling->steps, point, &filling->values[i]);
    if (status != HALOTUNE_OK) filling->failed = true;
  }
}

halotune_status exact_fill(const struct stencil *stencil, const struct exact *exact, const struct grid *grid,
                           const double *coefficients, long steps, int threads, const volatile sig_atomic_t *stop,
                           double *values) {
  enum { PART_POINTS = 256 };
  struct exact_filling filling = {stencil, exact, grid, coefficients, steps, stop, values, false};
  parallel_for(grid_points(grid), PART_POINTS, parallel_threads(threads), fill_points, &filling);
  if (stop && *stop) return fail(HALOTUNE_CANCELLED, "stopped while formulas of 'exact' were computed");
  return filling.failed ? fail_memory() : HALOTUNE_OK;
}

struct exact_error exact_compare(const struct grid *grid, const struct box *box, const double *want,
                                 const double *got) {
  struct exact_error result = {0};
  double sum_of_squares = 0;
  long points = box_points(box);
  if (points == 0) return result;
  for (long z = box->low[2]; z < box->high[2]; z++) {
    for (long y = box->low[1]; y < box->high[1]; y++) {
      for (long x = box->low[0]; x < box->high[0]; x++) {
        long i = grid_index(grid, x, y, z);
        double error = fabs(got[i] - want[i]);
        if (isnan(error)) error = INFINITY;
        sum_of_squares += error * error;
        if (error > result.max) result.max = error;
        if (fabs(want[i]) > result.scale) result.scale = fabs(want[i]);
      }
    }
  }
  result.rms = sqrt(sum_of_squares / (double)points);
  return result;
}
