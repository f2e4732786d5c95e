/* session.c: what the phases of a tune share, and its beginning and end. */
#include "tuner/search/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

enum { FINAL_LEAST_S = 5, PROGRESS_EVERY_MS = 100, MEMCPY_SAMPLES = 9 };
static const double final_share = 0.2; /* of the budget */
static const double graph_below_ms = 0.020;

/* --- what the phases ask --- */

bool session_is_stopped(const struct session *session) {
  const struct tune_options *options = session->options;
  return (options->stop && *options->stop) || clock_ms() >= options->deadline_ms;
}

static double roof_share(const struct session *session) { return session->memcpy_ms / session->best_ms; }

bool session_is_searched(const struct session *session) {
  const struct tune_options *options = session->options;
  if (session_is_stopped(session) || clock_ms() >= session->search_end_ms) return true;
  if (options->max_variants > 0 && session->result->tried >= options->max_variants) return true;
  return options->good_enough > 0 && roof_share(session) >= options->good_enough;
}

static long failures(const struct tune_result *result) {
  long failed = result->tried;
  static const enum outcome fine[] = {OUTCOME_MEASURED, OUTCOME_SCREENED, OUTCOME_PRUNED};
  for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) failed -= result->outcomes[fine[i]];
  return failed;
}

void session_show(struct session *session, const char *phase) {
  double now_ms = clock_ms(), spent_s = (now_ms - session->start_ms) * 1e-3;
  if (!session->options->progress || now_ms < session->next_progress_ms) return;
  session->next_progress_ms = now_ms + PROGRESS_EVERY_MS;
  const struct tune_progress progress = {.phase = phase,
                                         .tried = session->result->tried,
                                         .space = session->space_size,
                                         .failed = failures(session->result),
                                         .best_ms = session->best_ms,
                                         .roof_share = roof_share(session),
                                         .variants_per_s = spent_s > 0 ? (double)session->result->tried / spent_s : 0,
                                         .left_s = fmax(0, (session->end_ms - now_ms) * 1e-3)};
  session->options->progress(session->options->context, &progress);
}

halotune_status session_add_timed(struct session *session, const struct timed_variant *timed) {
  if (session->timed_count == session->timed_capacity) {
    long capacity = session->timed_capacity ? 2 * session->timed_capacity : 256;
    struct timed_variant *larger = realloc(session->timed, (size_t)capacity * sizeof *larger);
    if (!larger) return fail_memory();
    session->timed = larger;
    session->timed_capacity = capacity;
  }
  session->timed[session->timed_count++] = *timed;
  session->best_ms = fmin(session->best_ms, timed->median_ms / timed->scale);
  return HALOTUNE_OK;
}

halotune_status session_build(struct session *session, const struct task *task, const struct template *template,
                              const struct proposal *proposal, const struct grid *grid, struct trial **out) {
  struct compiler_result result;
  bool have = false;
  halotune_status status = trial_begin(task, template, proposal, grid, out);
  if (status != HALOTUNE_OK || (*out)->is_over) return status;
  struct compile_request request = trial_request(*out, task);
  status = compiler_submit(session->tools->compiler, 0, &request);
  if (status == HALOTUNE_OK) status = compiler_wait(session->tools->compiler, -1, &result, &have);
  if (status == HALOTUNE_OK && !have) status = fail(HALOTUNE_IO, "the compile of %s gave no result", request.name);
  if (status == HALOTUNE_OK) {
    trial_take(*out, task, &result.compile);
    compile_result_free(&result.compile);
    return HALOTUNE_OK;
  }
  trial_free(*out);
  *out = NULL;
  return status;
}

struct variant_key session_key(const struct session *session, const struct trial *trial) {
  return (struct variant_key){.stencil = session->stencil_id,
                              .template_id = session->template_ids[trial->proposal.template_index],
                              .template = trial->template,
                              .configuration = &trial->proposal.configuration,
                              .source = trial->generated.hash};
}

/* --- beginning --- */

static bool count_variant(void *context, const struct configuration *configuration) {
  (void)configuration;
  return ++*(long *)context > 0;
}

/* Keep the templates that apply. `session->templates` has room for all. */
static halotune_status find_space(struct session *session, struct template *const *templates, int count) {
  for (int i = 0; i < count; i++) {
    struct bindings *bindings = &session->bindings[session->space.count];
    halotune_status status = task_bindings(session->task, templates[i], bindings);
    long kept = 0;
    if (status != HALOTUNE_OK) return status;
    if (!space_refusal(bindings)) space_walk(bindings, NULL, NULL, count_variant, &kept, NULL);
    if (kept == 0) {
      bindings_free(bindings);
      continue;
    }
    session->space_size += kept;
    session->templates[session->space.count++] = templates[i];
  }
  session->space.templates = session->templates;
  session->space.bindings = session->bindings;
  if (session->space.count > 0) return HALOTUNE_OK;
  return fail(HALOTUNE_NOT_FOUND, "no template has a variant of %s on this grid; see 'halotune space %s'",
              session->task->stencil->name, session->task->stencil->name);
}

/* What a user without a tuner would run: the default of the first template, as near as the rules allow. */
static void find_first(struct session *session) {
  struct template *template = session->templates[0];
  session->first = (struct proposal){.template_index = 0, .configuration = configuration_default(template)};
  space_nearest(&session->bindings[0], NULL, &session->first.configuration);
}

static halotune_status make_scene(struct session *session) {
  const struct task *task = session->task;
  struct scene_request request = {.stencil = task->stencil,
                                  .analysis = task->analysis,
                                  .dtype = task->dtype,
                                  .domain = domain_dense(task->stencil, task->analysis, &task->grid),
                                  .coefficients = task->coefficients,
                                  .input = INPUT_RANDOM,
                                  .seed = 1,
                                  .steps = 1};
  return scene_make(&request, &session->scene);
}

static halotune_status set_problem(struct session *session, enum launch_mode launch) {
  const struct backend_handle *backend = session->tools->backend;
  struct backend_problem problem = {.scene = &session->scene, .launch = launch, .cache = session->options->cache};
  if (session->copy) problem.roof_elements = session->copy->grid.n[0];
  session->launch = launch;
  return backend->table->set_problem(backend->state, &problem);
}

/* Samples of one slot that stands for no variant of ours; NaN where there is no such time. */
static double quick_time(const struct session *session, int slot, int batch) {
  const struct backend_handle *backend = session->tools->backend;
  double times_ms[MEMCPY_SAMPLES], best = INFINITY;
  struct sample_plan plan = {.slots = &slot, .batches = &batch, .slot_count = 1, .rounds = MEMCPY_SAMPLES};
  struct verdict verdict = {.outcome = OUTCOME_MEASURED};
  int failed;
  halotune_status status = backend->table->sample(backend->state, &plan, times_ms, &failed, &verdict);
  if (status != HALOTUNE_OK || verdict.outcome != OUTCOME_MEASURED) return NAN;
  for (int i = 0; i < MEMCPY_SAMPLES; i++) best = fmin(best, times_ms[i]);
  return best;
}

/* Whether the default variant is so quick that launches count: then they go into a graph. */
static halotune_status choose_launch(struct session *session, enum launch_mode *out) {
  const struct backend_handle *backend = session->tools->backend;
  struct verdict verdict;
  struct trial *trial;
  *out = LAUNCH_STREAM;
  halotune_status status =
      session_build(session, session->task, session->templates[0], &session->first, &session->task->grid, &trial);
  if (status != HALOTUNE_OK) return status;
  if (!trial->is_over) {
    struct candidate candidate = {.spec = &trial->spec, .generated = &trial->generated, .compiled = &trial->compiled};
    status = backend->table->load(backend->state, 0, &candidate, &verdict);
    if (status == HALOTUNE_OK && verdict.outcome == OUTCOME_MEASURED) {
      if (quick_time(session, 0, 16) < graph_below_ms) *out = LAUNCH_GRAPH;
      status = backend->table->unload(backend->state, 0);
    }
  }
  trial_free(trial);
  return status;
}

static halotune_status open_run(struct session *session) {
  struct store *store = session->tools->store;
  const struct task *task = session->task;
  const struct backend_facts *facts = &session->tools->backend->facts;
  struct problem_key key = {.dtype = task->dtype, .grid = task->grid, .launch = session->launch, .cache = session->options->cache};
  char nvrtc[32];
  const struct nvrtc_facts *compiler = compiler_nvrtc(session->tools->compiler);
  snprintf(nvrtc, sizeof nvrtc, "%d.%d", compiler->major, compiler->minor);
  if ((key.device = store_device(store, &facts->device, facts->is_emulation)) == 0) return HALOTUNE_DB;
  if ((key.stencil = store_stencil(store, task->stencil, task->analysis, task->stencil_text)) == 0) return HALOTUNE_DB;
  session->stencil_id = key.stencil;
  for (int i = 0; i < session->space.count; i++) {
    if ((session->template_ids[i] = store_template(store, session->templates[i])) == 0) return HALOTUNE_DB;
  }
  if ((session->problem_id = store_problem(store, &key)) == 0) return HALOTUNE_DB;
  struct run_start start = {.problem = session->problem_id,
                            .command = session->options->command,
                            .host = session->options->host,
                            .driver = facts->driver,
                            .nvrtc = nvrtc,
                            .strategy = session->options->strategy->name,
                            .cuda = facts->cuda,
                            .seed = session->options->seed,
                            .budget_s = session->options->budget_s,
                            .space = session->space_size,
                            .bytes = task_bytes(task)};
  session->run_id = store_run_begin(store, &start);
  return session->run_id ? HALOTUNE_OK : HALOTUNE_DB;
}

halotune_status session_open(struct session *session) {
  const struct tune_options *options = session->options;
  halotune_status status;
  session_show(session, "reference");
  if ((status = make_scene(session)) != HALOTUNE_OK) return status;
  if ((status = set_problem(session, options->launch < 0 ? LAUNCH_STREAM : (enum launch_mode)options->launch)) != HALOTUNE_OK) {
    return status;
  }
  if (options->launch < 0) {
    enum launch_mode launch;
    if ((status = choose_launch(session, &launch)) != HALOTUNE_OK) return status;
    if (launch != session->launch && (status = set_problem(session, launch)) != HALOTUNE_OK) return status;
  }
  if (session->copy) session->memcpy_ms = quick_time(session, SLOT_MEMCPY, 4);
  session->result->launch = session->launch;
  if ((status = open_run(session)) != HALOTUNE_OK) return status;
  double final_s = fmax(final_share * options->budget_s, FINAL_LEAST_S), now_ms = clock_ms();
  session->end_ms = fmin(now_ms + options->budget_s * 1e3, options->deadline_ms);
  session->search_end_ms = fmax(session->end_ms - final_s * 1e3, now_ms);
  return options->strategy->open(&session->space, options->seed, &session->strategy);
}

void session_close(struct session *session) {
  session->options->strategy->close(session->strategy);
  scene_free(&session->scene);
  for (int i = 0; i < session->space.count; i++) bindings_free(&session->bindings[i]);
  free(session->bindings);
  free(session->templates);
  free(session->template_ids);
  free(session->timed);
}

/* --- all of it --- */

halotune_status tune(const struct tune_tools *tools, const struct task *task, const struct tune_templates *templates,
                     const struct task *copy, const struct tune_templates *copy_templates, const struct tune_options *options,
                     struct tune_result *out) {
  struct session session = {.tools = tools, .task = task, .copy = copy, .copy_templates = copy_templates, .options = options,
                            .result = out};
  size_t room = (size_t)templates->count + 1;
  *out = (struct tune_result){.default_ms = NAN, .roof_ms = NAN, .roof_ratio = NAN, .roof_ratio_low = NAN,
                              .roof_ratio_high = NAN, .empty_ms = NAN, .bytes = task_bytes(task)};
  session.start_ms = clock_ms();
  session.memcpy_ms = NAN;
  session.best_ms = INFINITY;
  session.scale = 1;
  session.templates = calloc(room, sizeof *session.templates);
  session.bindings = calloc(room, sizeof *session.bindings);
  session.template_ids = calloc(room, sizeof *session.template_ids);
  halotune_status status = session.templates && session.bindings && session.template_ids ? HALOTUNE_OK : fail_memory();
  if (status == HALOTUNE_OK) status = find_space(&session, templates->list, templates->count);
  if (status == HALOTUNE_OK) {
    find_first(&session);
    status = session_open(&session);
  }
  if (status == HALOTUNE_OK) status = session_search(&session);
  out->search_s = (clock_ms() - session.start_ms) * 1e-3;
  if (status == HALOTUNE_OK) status = session_finals(&session);
  out->final_s = (clock_ms() - session.start_ms) * 1e-3 - out->search_s;
  session_close(&session);
  return status;
}
