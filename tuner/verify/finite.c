/* finite.c: finds points of a scene for which the reference has no finite value. */
#include "tuner/verify/finite.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>

#include "base/memory/array.h"
#include "base/system/parallel.h"
#include "base/text/text.h"
#include "tuner/verify/scene.h"

/* The type's largest number. */
static double most_of(enum dtype dtype) { return dtype == DTYPE_F32 ? (double)FLT_MAX : DBL_MAX; }

struct search {
  const struct scene *scene;
  int output;
  double most;       /* the type's largest number */
  atomic_long first; /* the first point in the box whose value cannot be compared; LONG_MAX: there is none */
};

static void search_rows(void *context, int thread, long first, long end) {
  struct search *search = context;
  const struct scene *scene = search->scene;
  const struct grid *grid = &scene->request.domain.grid;
  const double *want = scene->want[search->output], *magnitudes = scene->magnitudes[search->output];
  const long rows = scene->box.high[1] - scene->box.low[1];
  (void)thread;
  for (long row = first; row < end; row++) {
    const long y = scene->box.low[1] + row % rows, z = scene->box.low[2] + row / rows;
    for (long x = scene->box.low[0]; x < scene->box.high[0]; x++) {
      const long i = grid_index(grid, x, y, z);
      if (fabs(want[i]) <= search->most && isfinite(magnitudes[i])) continue;
      long known = atomic_load(&search->first);
      while (i < known && !atomic_compare_exchange_weak(&search->first, &known, i)) continue;
      return;
    }
  }
}

static halotune_status fail_not_finite(const struct scene *scene, int output, long point) {
  const struct scene_request *r = &scene->request;
  const struct grid *grid = &r->domain.grid;
  struct text example = {0};
  for (int i = 0; i < r->stencil->input_count; i++)
    text_printf(&example, "%s%s: [1, 2]", i > 0 ? ", " : "", r->stencil->inputs[i]);
  const double value = scene->want[output][point];
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

halotune_status finite_check(const struct scene *scene) {
  const long rows = (scene->box.high[1] - scene->box.low[1]) * (scene->box.high[2] - scene->box.low[2]);
  if (box_points(&scene->box) == 0) return HALOTUNE_OK;
  for (int i = 0; i < scene->request.stencil->output_count; i++) {
    enum { PART_POINTS = 1 << 14 };
    struct search search = {.scene = scene, .output = i, .most = most_of(scene->request.dtype), .first = LONG_MAX};
    parallel_for(rows, 1 + PART_POINTS / scene->request.domain.grid.n[0], parallel_threads(scene->request.threads),
                 search_rows, &search);
    const long first = atomic_load(&search.first);
    if (first < LONG_MAX) return fail_not_finite(scene, i, first);
  }
  return HALOTUNE_OK;
}
