/* selftest_problem.c: the grids of a stencil, and the variants on each of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/cli/options/pick_variants.h"
#include "tuner/cli/selftest/selftest_try.h"

enum { SLICE = 12 }; /* number of variants of a stencil in one type on one grid, without --sample */

/* For 1, 2 and 3 dimensions: prime extents, and extents that are whole vectors but fill no tile. */
static const char *const grids[][2] = {{"10007", "9996"}, {"521,89", "516,90"}, {"131,43,29", "132,42,30"}};

enum { WIDEST_VECTOR = 4 };

/* A grid, and the part of it that is computed. */
enum layout {
  LAYOUT_PRIMES,
  LAYOUT_VECTORS,
  LAYOUT_BOX,    /* the grid of LAYOUT_VECTORS with ghost layers; not for scans */
  LAYOUT_LINES,  /* for scans and pencils: few long lines, which some kernels split; a scan computes only a box */
  LAYOUT_PLANES, /* in three dimensions, not for scans: few planes of more than 2 MB, which some kernels split */
  LAYOUT_COUNT
};

static bool layout_applies(enum layout layout, const struct loaded *loaded) {
  if (layout == LAYOUT_BOX) return loaded->stencil->kind != STENCIL_SCAN;
  if (layout == LAYOUT_PLANES) return loaded->stencil->kind != STENCIL_SCAN && loaded->stencil->dims == 3;
  return layout != LAYOUT_LINES || loaded->analysis->pencil_axis >= 0;
}

/* Write the extents as a value of --grid. Long lines are whole vectors, too. */
static void layout_grid(enum layout layout, const struct loaded *loaded, enum dtype dtype, char *text, size_t size) {
  const long length = 2044, across[MAX_DIMS] = {20, 4, 3};
  int dims = loaded->stencil->dims;
  long n[MAX_DIMS];
  if (layout == LAYOUT_PLANES) {
    const int planes = loaded->analysis->radius_low[2] + 3 + loaded->analysis->radius_high[2];
    snprintf(text, size, "%d,268,%d", dtype == DTYPE_F64 ? 1020 : 2044, planes);
    return;
  }
  if (layout != LAYOUT_LINES) {
    snprintf(text, size, "%s", grids[dims - 1][layout == LAYOUT_PRIMES ? 0 : 1]);
    return;
  }
  for (int axis = 0; axis < MAX_DIMS; axis++) n[axis] = axis == loaded->analysis->pencil_axis ? length : across[axis];
  if (dims == 1) snprintf(text, size, "%ld", 10 * n[0]);
  else if (dims == 2) snprintf(text, size, "%ld,%ld", n[0], n[1]);
  else snprintf(text, size, "%ld,%ld,%ld", n[0], n[1], n[2]);
}

/* Shrink the box by ghost layers, so that kernels cannot rely on the edge of the grid. Along x the box begins with the
 * second point of a vector and ends before the last point of one. All taps of both vectors are in the grid. */
static void leave_ghosts(const struct stencil *stencil, const struct analysis *analysis, struct domain *domain) {
  for (int axis = 0; axis < stencil->dims && axis < MAX_DIMS; axis++) {
    const long vector = axis == 0 ? WIDEST_VECTOR : 1;
    long low = (domain->low[axis] + analysis->radius_low[axis] + vector - 1) / vector * vector + 1;
    long high = (domain->high[axis] - analysis->radius_high[axis]) / vector * vector - 1;
    if (low < high) domain->low[axis] = low, domain->high[axis] = high;
  }
}

halotune_status selftest_scene(struct selftest *s, const struct stencil *stencil, const struct analysis *analysis,
                               enum dtype dtype, const struct domain *domain, int steps, double *coefficients,
                               enum launch_mode launch, struct scene *scene) {
  struct scene_request request = {.stencil = stencil,
                                  .analysis = analysis,
                                  .dtype = dtype,
                                  .coefficients = coefficients,
                                  .domain = *domain,
                                  .input = INPUT_RANDOM,
                                  .seed = 1,
                                  .steps = steps,
                                  .launch_steps = steps,
                                  .ending = {.flag = s->stop}};
  const struct backend_problem problem = {.scene = scene, .launch = launch, .cache = CACHE_STEADY};
  progress_hurry(&s->line);
  selftest_tell(s, &request, "inputs and reference");
  progress_hurry(&s->line);
  halotune_status status = scene_coefficients(stencil, &domain->grid, dtype, coefficients);
  if (status == HALOTUNE_OK) status = scene_make(&request, scene);
  return status == HALOTUNE_OK ? s->backend.table->set_problem(s->backend.state, &problem) : status;
}

/* Try items whose launches make the same number of steps. */
static halotune_status try_items(struct selftest *s, const struct problem *problem, enum launch_mode launch,
                                 const struct selftest_item *items, long count) {
  struct scene scene = {.allowed_units = 0};
  const long variants = s->variant_count, failed = s->failed_count;
  halotune_status status =
      selftest_scene(s, problem->loaded.stencil, problem->loaded.analysis, problem->dtype, &problem->domain,
                     items->generated.launch.steps, problem->coefficients, launch, &scene);
  if (status == HALOTUNE_OK) status = selftest_items(s, &scene, items, count);
  if (status == HALOTUNE_OK) selftest_say_done(s, &scene, variants, failed);
  scene_free(&scene);
  return status;
}

static int by_steps(const void *left, const void *right) {
  const struct selftest_item *a = left, *b = right;
  return a->generated.launch.steps - b->generated.launch.steps;
}

/* Generate the sources of variants, sorted by steps. A variant that a rule excludes on this GPU is left out. */
static halotune_status make_items(const struct problem *problem, const struct picked *picked,
                                  struct selftest_item *items, long *count) {
  halotune_status status = HALOTUNE_OK;
  for (long i = 0; i < picked->count && status == HALOTUNE_OK; i++) {
    struct selftest_item *item = &items[*count];
    item->spec = problem_variant(problem, picked->variants[i].template, &picked->variants[i].configuration);
    status = generate(&item->spec, &item->generated);
    if (status == HALOTUNE_OK) ++*count;
    else if (status == HALOTUNE_ARGUMENT) status = HALOTUNE_OK;
  }
  qsort(items, (size_t)*count, sizeof *items, by_steps);
  return status;
}

/* Try the variants that `inner` chooses for a problem. It is not a failure if rules exclude all of them. */
static halotune_status try_picked(struct selftest *s, const struct invocation *inner, const struct problem *problem,
                                  enum launch_mode launch) {
  struct picked picked = {.count = 0};
  long count = 0, end = 0;
  halotune_status status = pick_variants(inner, problem, SLICE, &picked);
  if (status == HALOTUNE_ARGUMENT) return HALOTUNE_OK;
  if (status != HALOTUNE_OK) return status;
  struct selftest_item *items = calloc((size_t)picked.count + 1, sizeof *items);
  status = items ? make_items(problem, &picked, items, &count) : fail_memory();
  for (long first = 0; first < count && status == HALOTUNE_OK && selftest_goes_on(s); first = end) {
    for (end = first + 1; end < count && by_steps(&items[first], &items[end]) == 0;) end++;
    status = try_items(s, problem, launch, &items[first], end - first);
  }
  for (long i = 0; i < count; i++) generated_free(&items[i].generated);
  free(items);
  picked_free(&picked);
  return status;
}

/* Try variants of single steps, and of several.
 *   inner   names stencil, type, grid and variants
 *   layout  says which box of the grid is computed */
static halotune_status try_problem(struct selftest *s, const struct invocation *inner, enum launch_mode launch,
                                   enum layout layout) {
  struct problem problem;
  halotune_status status = problem_open(inner, &problem);
  if (status != HALOTUNE_OK) return status;
  problem.limits = s->backend.facts.device.limits;
  const struct stencil *stencil = problem.loaded.stencil;
  const struct analysis *analysis = problem.loaded.analysis;
  if (layout == LAYOUT_BOX || (layout == LAYOUT_LINES && stencil->kind == STENCIL_SCAN)) {
    leave_ghosts(stencil, analysis, &problem.domain);
  }
  /* Sources are generated with the values that selftest_scene uses. */
  status = scene_coefficients(stencil, &problem.domain.grid, problem.dtype, problem.coefficients);
  if (status == HALOTUNE_OK) status = try_picked(s, inner, &problem, launch);
  problem.least_steps = 2;
  problem.most_steps = LAUNCH_MOST_STEPS;
  if (status == HALOTUNE_OK && analysis->can_iterate && !option_given(inner, "single-steps") && selftest_goes_on(s))
    status = try_picked(s, inner, &problem, launch);
  problem_free(&problem);
  return status;
}

halotune_status selftest_stencil(struct selftest *s, char *name) {
  struct invocation inner = *s->invocation;
  struct loaded loaded;
  const char *grid = option_value(s->invocation, "grid");
  bool wanted[DTYPE_COUNT];
  char arch[16], extents[64];
  halotune_status status = option_dtypes(s->invocation, true, wanted);
  if (status == HALOTUNE_OK) status = loaded_open(name, &loaded);
  if (status != HALOTUNE_OK) return status;
  snprintf(arch, sizeof arch, "sm_%d", s->backend.facts.device.capability);
  inner.arguments = &name;
  inner.argument_count = 1;
  option_put(&inner, "arch", arch);
  for (int d = 0; d < DTYPE_COUNT && status == HALOTUNE_OK && selftest_goes_on(s); d++) {
    if (!wanted[d] || !loaded.stencil->dtypes[d]) continue;
    option_put(&inner, "dtype", dtype_names[d]);
    for (int p = 0; p < (grid ? 1 : LAYOUT_COUNT) && status == HALOTUNE_OK && selftest_goes_on(s); p++) {
      if (!layout_applies((enum layout)p, &loaded)) continue;
      if (p == LAYOUT_PLANES && option_value(s->invocation, "no-large-planes")) continue;
      layout_grid((enum layout)p, &loaded, (enum dtype)d, extents, sizeof extents);
      option_put(&inner, "grid", grid ? grid : extents);
      status = try_problem(s, &inner, (p + d) % 2 ? LAUNCH_STREAM : LAUNCH_GRAPH, (enum layout)p);
    }
  }
  loaded_free(&loaded);
  return status;
}
