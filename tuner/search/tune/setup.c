/* setup.c: the beginning of a tune: inputs and reference, the problem on the device, the default variant, the
 * run in the store. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "tuner/measure/finals/finals.h"
#include "tuner/measure/sampling/device_time.h"
#include "tuner/search/hints/hints.h"
#include "tuner/search/hints/starts.h"
#include "tuner/search/tune/session.h"

enum {
  LAST_STEPS_MS = 2000, /* what comes after the finals: the second grid */
  ENOUGH_MS = 10000     /* half of it for the finals */
};

static const double graph_below_ms = 0.020;

/* A recording has neither inputs nor results, so that none need be computed. */
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
  if (!session->tools->backend->facts.is_recording) return scene_make(&request, &session->scene);
  session->scene.request = request;
  return HALOTUNE_OK;
}

static halotune_status set_problem(struct session *session, enum launch_mode launch) {
  const struct backend_handle *backend = session->tools->backend;
  struct backend_problem problem = {.scene = &session->scene,
                                    .launch = launch,
                                    .cache = session->options->cache,
                                    .reproducible = session->task->reproducible};
  if (session->copy) problem.roof_elements = session->copy->grid.n[0];
  session->launch = launch;
  return backend->table->set_problem(backend->state, &problem);
}

/* --- a recording
 * ---------------------------------------------------------------------------------------------------------- */

static halotune_status add_recorded(void *context, const char *template, const char *parameters) {
  struct session *session = context;
  for (int i = 0; i < session->space.count; i++) {
    if (strcmp(session->templates[i]->name, template) == 0)
      return proposals_read(&session->recorded, &session->space, i, parameters);
  }
  return HALOTUNE_OK;
}

/* Of a recording, only what was recorded is there to be searched. */
static halotune_status take_recorded(struct session *session) {
  struct backend_handle *backend = session->tools->backend;
  if (!backend->table->list) return HALOTUNE_OK;
  halotune_status status = backend->table->list(backend->state, add_recorded, session);
  if (status != HALOTUNE_OK) return status;
  if (session->recorded.count == 0)
    return fail(HALOTUNE_NOT_FOUND, "the recording has no variant of today's templates with these options");
  session->space.only = session->recorded.list;
  session->space.only_count = session->space_size = session->recorded.count;
  return HALOTUNE_OK;
}

/* --- the default variant
 * ------------------------------------------------------------------------------------------------ */

/* Try a template's default, as near to it as the rules allow. Kept as session->first where it works.
 *   time_ms  receives about what it takes */
static halotune_status try_default(struct session *session, int index, double *time_ms) {
  struct backend_handle *backend = session->tools->backend;
  struct template *template = session->templates[index];
  struct proposal proposal = {.template_index = index, .configuration = configuration_default(template)};
  const struct configuration *values = space_values(&session->space, index);
  struct verdict verdict = {.outcome = OUTCOME_MEASURED};
  struct trial *trial;
  if (values) proposal.configuration = *values;
  *time_ms = NAN;
  if (space_nearest(&session->bindings[index], space_fixed(&session->space, index), &proposal.configuration))
    return HALOTUNE_OK;
  halotune_status status = session_build(session, session->task, template, &proposal, &trial);
  if (status != HALOTUNE_OK) return status;
  if (!trial->is_over) status = session_load(session, 0, trial, false, &verdict);
  bool is_loaded = status == HALOTUNE_OK && !trial->is_over && verdict.outcome == OUTCOME_MEASURED;
  if (is_loaded) status = device_time(backend, 0, time_ms);
  if (is_loaded && status == HALOTUNE_OK) status = backend->table->unload(backend->state, 0);
  if (status == HALOTUNE_OK && !isnan(*time_ms)) {
    session->first = trial;
    session->first_ms = *time_ms;
  } else {
    trial_free(trial);
  }
  return status;
}

/* What a user without a tuner would run: the default of the first template whose default works. Where launches count
 * beside what it takes, they go into a graph. */
static halotune_status find_default(struct session *session) {
  const struct tune_options *options = session->options;
  double time_ms = NAN;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < session->space.count && !session->first && status == HALOTUNE_OK && !session_is_stopped(session);
       i++) {
    status = try_default(session, i, &time_ms);
  }
  if (status != HALOTUNE_OK || options->launch >= 0 || !(time_ms < graph_below_ms)) return status;
  return set_problem(session, LAUNCH_GRAPH);
}

/* --- the run
 * ------------------------------------------------------------------------------------------------------------ */

static halotune_status open_run(struct session *session) {
  struct store *store = session->tools->store;
  const struct task *task = session->task;
  const struct backend_facts *facts = &session->tools->backend->facts;
  struct problem_key key = {.dtype = task->dtype,
                            .grid = task->grid,
                            .launch = session->launch,
                            .cache = session->options->cache,
                            .reproducible = task->reproducible};
  const struct nvrtc_name nvrtc = session_nvrtc(session);
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
                            .nvrtc = nvrtc.text,
                            .strategy = session->options->strategy->name,
                            .cuda = facts->cuda,
                            .seed = session->options->seed,
                            .budget_s = isfinite(session->options->budget_s) ? session->options->budget_s : 0,
                            .space = session->space_size,
                            .bytes = task_bytes(task)};
  session->run_id = store_run_begin(store, &start);
  return session->run_id ? HALOTUNE_OK : HALOTUNE_DB;
}

bool tune_has_time(const struct tune_options *options, double now_ms) {
  return options->deadline_ms - LAST_STEPS_MS - now_ms >= fmin(options->budget_s * 1e3 / 2, ENOUGH_MS);
}

/* The finals keep their share of what there is. Without a budget nothing has to be shared. */
static void set_times(struct session *session) {
  const struct tune_options *options = session->options;
  double now_ms = clock_ms(), budget_ms = options->budget_s * 1e3;
  session->has_deadline = options->deadline_ms - LAST_STEPS_MS < now_ms + budget_ms;
  session->is_too_late = !tune_has_time(options, now_ms);
  session->end_ms = fmin(now_ms + budget_ms, fmax(options->deadline_ms - LAST_STEPS_MS, now_ms));
  session->search_end_ms = session->end_ms;
  if (isfinite(session->end_ms))
    session->search_end_ms -= fmin(finals_budget_ms(budget_ms), (session->end_ms - now_ms) / 2);
}

/* There is something to compute. */
static halotune_status check_box(const struct task *task) {
  struct domain domain = domain_dense(task->stencil, task->analysis, &task->grid);
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (domain.low[axis] < domain.high[axis]) continue;
    return fail(HALOTUNE_ARGUMENT, "no point of this grid is computed: along %c every tap of %s leaves it",
                axis_names[axis], task->stencil->name);
  }
  return HALOTUNE_OK;
}

halotune_status session_find_hints(struct session *session) {
  const struct tune_options *options = session->options;
  const struct hint_sources sources = session_hint_sources(session);
  const struct hint_target target = session_hint_target(session, session->task);
  if (options->no_hints || options->rematch || !options->strategy->takes_hints) return HALOTUNE_OK;
  halotune_status status = hints_find(&sources, &target, &session->space,
                                      session->first ? &session->first->proposal : NULL, &session->hints);
  session->space.hints = session->hints.list;
  session->space.hint_count = session->hints.count;
  return status;
}

halotune_status session_find_starts(struct session *session) {
  if (session->options->rematch) return HALOTUNE_OK;
  halotune_status status = starts_find(&session->space, &session->hints,
                                       session->first ? &session->first->proposal : NULL, &session->starts);
  if (!session->options->strategy->takes_hints) return status;
  session->space.hints = session->starts.list;
  session->space.hint_count = session->starts.count;
  return status;
}

halotune_status session_open(struct session *session) {
  const struct tune_options *options = session->options;
  struct backend_handle *backend = session->tools->backend;
  halotune_status status;
  session_show(session, "reference");
  if ((status = check_box(session->task)) != HALOTUNE_OK) return status;
  if ((status = make_scene(session)) != HALOTUNE_OK || session_is_stopped(session)) return status;
  status = set_problem(session, options->launch < 0 ? LAUNCH_STREAM : (enum launch_mode)options->launch);
  if (status == HALOTUNE_OK) status = take_recorded(session);
  if (status == HALOTUNE_OK) status = find_default(session);
  if (status != HALOTUNE_OK || session_is_stopped(session)) return status;
  if (session->copy && (status = device_time(backend, SLOT_MEMCPY, &session->memcpy_ms)) != HALOTUNE_OK) return status;
  session->result->launch = session->launch;
  if ((status = open_run(session)) != HALOTUNE_OK || (status = session_find_hints(session)) != HALOTUNE_OK)
    return status;
  if ((status = session_find_starts(session)) != HALOTUNE_OK) return status;
  set_times(session);
  return options->strategy->open(&session->space, options->seed, &session->strategy);
}
