/* selftest.c: `halotune selftest --gpu`: a slice of all variants verified on this machine's GPU, timed for a moment
 * and verified again; and each of the wrappers that templates use. Nothing is stored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tuner/bench/backend.h"
#include "tuner/cli/command.h"
#include "tuner/cli/pick.h"
#include "tuner/cli/search_path.h"
#include "tuner/cli/selftest_wrappers.h"
#include "tuner/cli/variant.h"

enum { SLICE = 12 }; /* variants of a stencil in one type on one grid, where --sample does not say */

/* By the stencil's dimensions: extents that are primes, and whole vectors that fill no tile. */
static const char *const grids[][2] = {{"10007", "9996"}, {"521,89", "516,90"}, {"131,43,29", "132,42,30"}};

struct selftest {
  const struct invocation *invocation;
  struct compiler *compiler;
  struct backend_handle backend;
  bool as_json;
  json_t *rows;
  long variant_count, failed_count;
};

/* A variant on its way through the compiler. */
struct item {
  struct variant_spec spec;
  struct generated generated;
};

/* --- one variant -------------------------------------------------------------------------------------------------- */

/* Load, take a few samples, look again. */
static halotune_status try_candidate(struct selftest *s, const struct candidate *candidate, struct verdict *verdict,
                                     double *time_ms) {
  enum { ROUNDS = 2 };
  const int slot = 0, batch = 3;
  double times_ms[ROUNDS];
  int failed;
  struct verdict loaded;
  const struct backend *b = s->backend.table;
  const struct sample_plan plan = {.slots = &slot, .batches = &batch, .slot_count = 1, .rounds = ROUNDS, .warm = true};
  *time_ms = 0;
  halotune_status status = b->load(s->backend.state, slot, candidate, verdict);
  if (status != HALOTUNE_OK || verdict->outcome != OUTCOME_MEASURED) return status;
  loaded = *verdict;
  status = b->sample(s->backend.state, &plan, times_ms, &failed, verdict);
  if (status != HALOTUNE_OK || failed >= 0) return status;
  *time_ms = times_ms[0] < times_ms[1] ? times_ms[0] : times_ms[1];
  status = b->recheck(s->backend.state, slot, verdict);
  if (status == HALOTUNE_OK && verdict->outcome == OUTCOME_MEASURED) *verdict = loaded;
  return status == HALOTUNE_OK ? b->unload(s->backend.state, slot) : status;
}

/* What is said of one.
 *   what  template and parameters, or the wrapper */
static void tell(struct selftest *s, const struct scene *scene, const struct text *what, json_t *parameters,
                 const char *template, const struct verdict *verdict, double time_ms) {
  const struct scene_request *r = &scene->request;
  bool passed = verdict->outcome == OUTCOME_MEASURED;
  s->variant_count++;
  s->failed_count += !passed;
  if (s->as_json) {
    json_t *row = json_object();
    json_put(&row, "stencil", text_json(r->stencil->name));
    json_put(&row, "dtype", text_json(dtype_names[r->dtype]));
    json_put(&row, "grid",
             json_pack("[iii]", (int)r->domain.grid.n[0], (int)r->domain.grid.n[1], (int)r->domain.grid.n[2]));
    json_put(&row, "template", text_json(template));
    json_put(&row, "parameters", parameters);
    json_put(&row, "outcome", text_json(passed ? "passed" : outcome_name(verdict->outcome)));
    json_put(&row, "reason", text_json(verdict->reason));
    json_put(&row, "max_error_units", number_json(verdict->worst.max_error_units));
    json_put(&row, "allowed_units", number_json(scene->allowed_units));
    json_put(&row, "time_ms", number_json(time_ms));
    json_add(&s->rows, row);
  } else {
    json_decref(parameters);
    if (!passed) {
      printf("%s %s %ldx%ldx%ld %s: %s: %s\n", r->stencil->name, dtype_names[r->dtype], r->domain.grid.n[0],
             r->domain.grid.n[1], r->domain.grid.n[2], text_string(what), outcome_name(verdict->outcome),
             verdict->reason);
    }
  }
}

static halotune_status try_item(struct selftest *s, const struct scene *scene, const struct item *item,
                                const struct compile_result *result) {
  struct text what = {0};
  struct verdict verdict = {.outcome = OUTCOME_COMPILE_FAILED};
  double time_ms = 0;
  const struct candidate candidate = {&item->spec, &item->generated, &result->compiled, false};
  halotune_status status = HALOTUNE_OK;
  if (result->outcome == COMPILE_OK) status = try_candidate(s, &candidate, &verdict, &time_ms);
  else snprintf(verdict.reason, sizeof verdict.reason, "%.500s", result->compiled.log);
  bool is_wrapper = item->spec.template == NULL;
  if (is_wrapper) text_printf(&what, "wrapper");
  else variant_text(item->spec.template, &item->spec.configuration, &what);
  if (status == HALOTUNE_OK) {
    json_t *parameters = !s->as_json  ? NULL
                         : is_wrapper ? json_object()
                                      : variant_json(item->spec.template, &item->spec.configuration);
    tell(s, scene, &what, parameters, is_wrapper ? "wrapper" : item->spec.template->name, &verdict, time_ms);
  }
  text_free(&what);
  return status;
}

/* All of some items, in the order in which their compiles end. */
static halotune_status try_items(struct selftest *s, const struct scene *scene, const struct item *items, long count) {
  char arch[16];
  halotune_status status = HALOTUNE_OK;
  long submitted = 0, done = 0;
  snprintf(arch, sizeof arch, "sm_%d", s->backend.facts.device.capability);
  while (done < count && status == HALOTUNE_OK) {
    struct compiler_result result;
    bool have = false;
    while (submitted < count && status == HALOTUNE_OK && compiler_has_room(s->compiler)) {
      const struct generated *g = &items[submitted].generated;
      const struct compile_request request = {.source = g->source, .name = g->launch.kernel, .arch = arch};
      status = compiler_submit(s->compiler, (uint64_t)submitted++, &request);
    }
    if (status == HALOTUNE_OK) status = compiler_wait(s->compiler, -1, &result, &have);
    if (status != HALOTUNE_OK || !have) continue;
    status = try_item(s, scene, &items[result.compile.id], &result.compile);
    compile_result_free(&result.compile);
    done++;
  }
  return status;
}

/* --- problems ----------------------------------------------------------------------------------------------------- */

/* A box that begins and ends within vectors and tiles, with ghost layers around it, so that it is not the grid's
 * edge that keeps a kernel from what it must not compute. */
static void leave_ghosts(const struct stencil *stencil, const struct analysis *analysis, struct domain *domain) {
  enum { WIDEST_VECTOR = 4 };
  for (int axis = 0; axis < stencil->dims && axis < MAX_DIMS; axis++) {
    long low = domain->low[axis] + analysis->radius_low[axis] + (axis == 0 ? WIDEST_VECTOR : 1);
    long high = domain->high[axis] - analysis->radius_high[axis] - (axis == 0 ? WIDEST_VECTOR + 1 : 1);
    if (low < high) domain->low[axis] = low, domain->high[axis] = high;
  }
}

/* A scene with coefficients that are not the defaults, on the backend.
 *   ghosts  of the grid's points, some at all edges are not to be computed */
static halotune_status set_scene(struct selftest *s, const struct stencil *stencil, const struct analysis *analysis,
                                 enum dtype dtype, const struct grid *grid, double *coefficients,
                                 enum launch_mode launch, bool ghosts, struct scene *scene) {
  struct scene_request request = {.stencil = stencil,
                                  .analysis = analysis,
                                  .dtype = dtype,
                                  .coefficients = coefficients,
                                  .domain = domain_dense(stencil, analysis, grid),
                                  .input = INPUT_RANDOM,
                                  .seed = 1,
                                  .steps = 1};
  const struct backend_problem problem = {.scene = scene, .launch = launch, .cache = CACHE_STEADY};
  halotune_status status = scene_coefficients(stencil, grid, dtype, coefficients);
  if (ghosts) leave_ghosts(stencil, analysis, &request.domain);
  if (status == HALOTUNE_OK) status = scene_make(&request, scene);
  return status == HALOTUNE_OK ? s->backend.table->set_problem(s->backend.state, &problem) : status;
}

static void say_done(const struct selftest *s, const struct scene *scene, long variants_before, long failed_before) {
  const struct scene_request *r = &scene->request;
  if (s->as_json) return;
  printf("%-14s %s %ldx%ldx%ld: %ld variants, %ld failed\n", r->stencil->name, dtype_names[r->dtype],
         r->domain.grid.n[0], r->domain.grid.n[1], r->domain.grid.n[2], s->variant_count - variants_before,
         s->failed_count - failed_before);
  fflush(stdout);
}

/* The variants that the options choose for one stencil, type and grid, all in `inner`. Where rules leave none, that
 * is fine. */
static halotune_status try_problem(struct selftest *s, const struct invocation *inner, enum launch_mode launch,
                                   bool ghosts) {
  struct problem problem;
  struct picked picked = {.count = 0};
  struct scene scene = {.allowed_units = 0};
  long variants = s->variant_count, failed = s->failed_count, count = 0;
  halotune_status status = problem_open(inner, &problem);
  if (status != HALOTUNE_OK) return status;
  problem.limits = s->backend.facts.device.limits;
  status = pick_variants(inner, &problem, SLICE, &picked);
  bool none = status == HALOTUNE_ARGUMENT;
  struct item *items = status == HALOTUNE_OK ? calloc((size_t)picked.count + 1, sizeof *items) : NULL;
  if (status == HALOTUNE_OK && !items) status = fail_memory();
  if (status == HALOTUNE_OK) {
    status = set_scene(s, problem.loaded.stencil, problem.loaded.analysis, problem.dtype, &problem.grid,
                       problem.coefficients, launch, ghosts, &scene);
  }
  for (long i = 0; i < picked.count && status == HALOTUNE_OK; i++) {
    struct item *item = &items[count];
    item->spec = problem_variant(&problem, picked.variants[i].template, &picked.variants[i].configuration);
    item->spec.domain = scene.request.domain;
    status = generate(&item->spec, &item->generated);
    if (status == HALOTUNE_OK) count++;
    else if (status == HALOTUNE_ARGUMENT) status = HALOTUNE_OK; /* a rule that only this GPU breaks */
  }
  if (status == HALOTUNE_OK) status = try_items(s, &scene, items, count);
  if (status == HALOTUNE_OK) say_done(s, &scene, variants, failed);
  for (long i = 0; i < count; i++) generated_free(&items[i].generated);
  free(items);
  scene_free(&scene);
  picked_free(&picked);
  problem_free(&problem);
  return none ? HALOTUNE_OK : status;
}

static void set_option(struct invocation *invocation, const char *name, const char *value) {
  for (int i = 0; invocation->command->options[i].name; i++) {
    if (strcmp(invocation->command->options[i].name, name) == 0) invocation->values[i] = value;
  }
}

/* One stencil, in its types and on its grids. */
static halotune_status try_stencil(struct selftest *s, char *name) {
  struct invocation inner = *s->invocation;
  struct loaded loaded;
  const char *dtype = option_value(s->invocation, "dtype"), *grid = option_value(s->invocation, "grid");
  char arch[16];
  halotune_status status = loaded_open(name, &loaded);
  if (status != HALOTUNE_OK) return status;
  snprintf(arch, sizeof arch, "sm_%d", s->backend.facts.device.capability);
  inner.arguments = &name;
  inner.argument_count = 1;
  set_option(&inner, "arch", arch);
  for (int d = 0; d < DTYPE_COUNT && status == HALOTUNE_OK; d++) {
    if (dtype ? strcmp(dtype, dtype_names[d]) != 0 : !loaded.stencil->dtypes[d]) continue;
    set_option(&inner, "dtype", dtype_names[d]);
    for (int g = 0; g < (grid ? 1 : 3) && status == HALOTUNE_OK;
         g++) { /* the second grid once more, with ghosts; no scan has any */
      bool ghosts = g == 2;
      if (ghosts && loaded.stencil->kind == STENCIL_SCAN) continue;
      set_option(&inner, "grid", grid ? grid : grids[loaded.stencil->dims - 1][ghosts ? 1 : g]);
      status = try_problem(s, &inner, (g + d) % 2 ? LAUNCH_STREAM : LAUNCH_GRAPH, ghosts);
    }
  }
  loaded_free(&loaded);
  return status;
}

/* --- wrappers ----------------------------------------------------------------------------------------------------- */

/* A stencil of the program's own, so that the test needs no file. */
static halotune_status open_copy(int dims, struct stencil **stencil, struct analysis **analysis) {
  static const char *const texts[] = {
      "name: wrappers\ndims: 2\ninputs: [u]\noutputs: [v]\nupdate: v = u[0,0]\nboundary: skip\n"
      "dtypes: [f32, f64]\ngrids: [[256, 256]]\n",
      "name: wrappers\ndims: 3\ninputs: [u]\noutputs: [v]\nupdate: v = u[0,0,0]\nboundary: skip\n"
      "dtypes: [f32, f64]\ngrids: [[64, 32, 32]]\n"};
  const char *text = texts[dims - 2];
  const struct source source = source_of("wrappers", text, strlen(text));
  *analysis = NULL;
  halotune_status status = stencil_parse(&source, stencil);
  return status == HALOTUNE_OK ? analysis_make(*stencil, analysis) : status;
}

static halotune_status try_wrapper(struct selftest *s, const struct scene *scene, int number) {
  const struct scene_request *r = &scene->request;
  struct item item = {.spec = {.stencil = r->stencil, .analysis = r->analysis, .dtype = r->dtype, .domain = r->domain,
                               .coefficients = r->coefficients}};
  long failed = s->failed_count;
  halotune_status status = wrapper_generate(number, r->dtype, &item.generated);
  if (status == HALOTUNE_OK) status = try_items(s, scene, &item, 1);
  if (status == HALOTUNE_OK && !s->as_json && s->failed_count > failed)
    printf("  that was wrapper %s\n", wrapper_cases[number].name);
  generated_free(&item.generated);
  return status;
}

/* Those on fields of so many dimensions. */
static halotune_status try_wrappers(struct selftest *s, int dims) {
  struct stencil *stencil = NULL;
  struct analysis *analysis = NULL;
  double coefficients[1];
  halotune_status status = open_copy(dims, &stencil, &analysis);
  for (int d = 0; d < DTYPE_COUNT && status == HALOTUNE_OK; d++) {
    struct scene scene = {.allowed_units = 0};
    long variants = s->variant_count, failed = s->failed_count;
    status = set_scene(s, stencil, analysis, (enum dtype)d, &wrapper_grids[dims - 2], coefficients, LAUNCH_STREAM, false, &scene);
    for (int i = 0; i < wrapper_case_count && status == HALOTUNE_OK; i++) {
      if (wrapper_dims(i) != dims || wrapper_cases[i].capability > s->backend.facts.device.capability) continue;
      status = try_wrapper(s, &scene, i);
    }
    if (status == HALOTUNE_OK) say_done(s, &scene, variants, failed);
    scene_free(&scene);
  }
  analysis_free(analysis);
  stencil_free(stencil);
  return status;
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static halotune_status try_all(struct selftest *s) {
  char **paths = NULL;
  int count = 0;
  halotune_status status = try_wrappers(s, 2);
  if (status == HALOTUNE_OK && s->backend.facts.device.capability >= 90) status = try_wrappers(s, 3);
  if (status == HALOTUNE_OK) status = search_all(&search_stencils, NULL, &paths, &count);
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) status = try_stencil(s, paths[i]);
  search_free(paths, count);
  return status;
}

static halotune_status open_backend(struct selftest *s) {
  long ordinal;
  halotune_status status = option_whole(s->invocation, "device", 0, 255, 0, &ordinal);
  if (status != HALOTUNE_OK) return status;
  if (!option_value(s->invocation, "gpu")) {
    return fail(HALOTUNE_ARGUMENT,
                "selftest needs --gpu; without a GPU, 'halotune verify' proves variants on the host");
  }
  status = compiler_open(&(struct compiler_options){.no_cache = false}, &s->compiler);
  if (status != HALOTUNE_OK) return status;
  const struct backend_cuda_options options = {.ordinal = (int)ordinal, .compiler = s->compiler};
  return option_value(s->invocation, "in-process") ? backend_direct_open(&options, &s->backend)
                                                   : backend_cuda_open(&options, &s->backend);
}

static enum exit_code run(const struct invocation *invocation) {
  struct selftest s = {.invocation = invocation, .as_json = option_value(invocation, "json") != NULL};
  halotune_status status = open_backend(&s);
  if (s.as_json) s.rows = json_array();
  if (s.backend.table && invocation->argument_count == 0) status = try_all(&s);
  for (int i = 0; s.backend.table && i < invocation->argument_count && status == HALOTUNE_OK; i++)
    status = try_stencil(&s, invocation->arguments[i]);
  if (status == HALOTUNE_OK && s.as_json) {
    json_t *document = json_object();
    json_put(&document, "device", text_json(s.backend.facts.device.name));
    json_put(&document, "variants", json_incref(s.rows));
    json_put(&document, "failed", json_integer(s.failed_count));
    status = print_json(document);
  } else if (status == HALOTUNE_OK) {
    printf("%s: %ld variants, %ld failed\n", s.backend.facts.device.name, s.variant_count, s.failed_count);
  }
  json_decref(s.rows);
  backend_close(&s.backend);
  compiler_close(s.compiler);
  if (status != HALOTUNE_OK) return report_failure(status);
  return s.failed_count > 0 ? HALOTUNE_EXIT_FAILURE : HALOTUNE_EXIT_SUCCESS;
}

static const struct option_row options[] = {
    {"gpu", NULL, "on this machine's GPU; has to be given"},
    {"device", "N", "which GPU, from 0; 0 by default"},
    {"in-process", NULL, "with no worker process between, for compute-sanitizer"},
    {"dtype", "TYPE", "f32 or f64; both by default"},
    {"grid", "NX,NY,NZ", "points along each axis; two awkward ones by default, and one with ghost layers"},
    {"arch", "sm_XX", "is the GPU's, whatever is given"},
    TEMPLATE_OPTIONS,
    PICK_OPTIONS,
    {"json", NULL, "print a JSON document"},
    {0},
};

const struct command command_selftest = {
    "selftest",
    "[STENCIL...]",
    0,
    64,
    "verify variants on this machine's GPU, and the pieces that they are made of",
    options,
    run,
};
