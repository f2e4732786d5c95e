/* finite.c: finds points for which the reference has no finite value. */
#include "tuner/verify/finite.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>

#include "base/memory/array.h"
#include "base/system/parallel.h"
#include "base/text/text.h"

/* The type's largest number. */
static double most_of(enum dtype dtype) { return dtype == DTYPE_F32 ? (double)FLT_MAX : DBL_MAX; }

struct search {
  const struct finite_results *results;
  int output;
  double most;       /* the type's largest number */
  atomic_long first; /* the first point in the box whose value cannot be compared; LONG_MAX: there is none */
};

static void search_rows(void *context, int thread, long first, long end) {
  struct search *search = context;
  const struct grid *grid = &search->results->grid;
  const struct box *box = &search->results->box;
  const double *want = search->results->want[search->output], *magnitudes = search->results->magnitudes[search->output];
  const long rows = box->high[1] - box->low[1];
  (void)thread;
  for (long row = first; row < end; row++) {
    const long y = box->low[1] + row % rows, z = box->low[2] + row / rows;
    for (long x = box->low[0]; x < box->high[0]; x++) {
      const long i = grid_index(grid, x, y, z);
      if (fabs(want[i]) <= search->most && isfinite(magnitudes[i])) continue;
      long known = atomic_load(&search->first);
      while (i < known && !atomic_compare_exchange_weak(&search->first, &known, i)) continue;
      return;
    }
  }
}

static halotune_status fail_not_finite(const struct finite_results *r, int output, long point) {
  const struct grid *grid = &r->grid;
  struct text example = {0};
  for (int i = 0; i < r->stencil->input_count; i++)
    text_printf(&example, "%s%s: [1, 2]", i > 0 ? ", " : "", r->stencil->inputs[i]);
  const double value = r->want[output][point];
  const long x = point % grid->n[0], y = point / grid->n[0] % grid->n[1], z = point / grid->n[0] / grid->n[1];
  const char *name = r->stencil->outputs[output], *dtype = dtype_names[r->dtype];
  halotune_status status =
      fabs(value) <= most_of(r->dtype)
          ? fail(
                HALOTUNE_ARGUMENT,
                "the rounding errors of %s have no finite bound at point (%ld, %ld, %ld) after %d step%s, so that no kernel can be compared in %s: make fewer steps in a launch, or give narrower ranges of the inputs of tests in the stencil's file, such as 'values: {%s}'",
                name, x, y, z, r->steps, PLURAL(r->steps), dtype, text_string(&example))
          : fail(
                HALOTUNE_ARGUMENT,
                "%s is %g at point (%ld, %ld, %ld) after %d step%s, with which no kernel can be compared in %s: give the range of the inputs of tests in the stencil's file, such as 'values: {%s}'",
                name, isnan(value) ? NAN : value, x, y, z, r->steps, PLURAL(r->steps), dtype, text_string(&example));
  text_free(&example);
  return status;
}

halotune_status finite_check(const struct finite_results *results) {
  const struct box *box = &results->box;
  const long rows = (box->high[1] - box->low[1]) * (box->high[2] - box->low[2]);
  if (box_points(box) == 0) return HALOTUNE_OK;
  for (int i = 0; i < results->stencil->output_count; i++) {
    enum { PART_POINTS = 1 << 14 };
    struct search search = {.results = results, .output = i, .most = most_of(results->dtype), .first = LONG_MAX};
    parallel_for(rows, 1 + PART_POINTS / results->grid.n[0], parallel_threads(results->threads), search_rows, &search);
    const long first = atomic_load(&search.first);
    if (first < LONG_MAX) return fail_not_finite(results, i, first);
  }
  return HALOTUNE_OK;
}
