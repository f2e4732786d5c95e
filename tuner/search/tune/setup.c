/* setup.c: the beginning of a run: inputs and reference, the problem on the device, the default variant, the run in the
 * store. */
#include "tuner/search/tune/setup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/trace.h"
#include "db/store/lost_member_run.h"
#include "gpu/driver/kernel.h"
#include "tuner/measure/sampling/measure.h"
#include "tuner/search/variants/evaluate.h"
#include "tuner/search/variants/problem_set.h"

static struct backend_problem problem_of(const struct setup_inputs *in, struct setup *setup, enum launch_mode launch) {
  setup->launch = launch;
  return (struct backend_problem){.scene = &setup->scene,
                                  .launch = launch,
                                  .cache = in->options->cache,
                                  .reproducible = in->task->reproducible,
                                  .roof_elements = in->copy ? in->copy->grid.n[0] : 0};
}

static void tell_progress(void *progress, const char *what) { run_progress_show(progress, what); }

/* Set the problem of a recording. Unless the options set the launch mode, the recorded mode counts. */
static halotune_status set_recorded(const struct setup_inputs *in, struct setup *setup, enum launch_mode launch) {
  const struct backend_handle *backend = in->tools->backend;
  struct backend_problem problem = problem_of(in, setup, launch);
  const halotune_status status = backend->table->set_problem(backend->state, &problem);
  if (status != HALOTUNE_NOT_FOUND || in->options->launch >= 0) return status;
  problem = problem_of(in, setup, launch == LAUNCH_STREAM ? LAUNCH_GRAPH : LAUNCH_STREAM);
  return backend->table->set_problem(backend->state, &problem);
}

/* Make inputs and reference, and bring the problem to the device. A recording runs nothing and needs no fields. */
static halotune_status make_problem(const struct setup_inputs *in, struct setup *setup, enum launch_mode launch) {
  const struct task *task = in->task;
  struct backend_handle *backend = in->tools->backend;
  const struct scene_request request = {.stencil = task->stencil,
                                        .analysis = task->analysis,
                                        .dtype = task->dtype,
                                        .domain = domain_dense(task->stencil, task->analysis, &task->grid),
                                        .coefficients = task->coefficients,
                                        .input = INPUT_RANDOM,
                                        .seed = 1,
                                        .steps = task->launch_steps > 1 ? task->launch_steps : 1,
                                        .launch_steps = task->launch_steps,
                                        .ending = schedule_ending(in->schedule)};
  const struct problem_teller teller = {tell_progress, in->progress};
  if (!backend->facts.is_recording) {
    const struct backend_problem problem = problem_of(in, setup, launch);
    halotune_status status = problem_make(backend, &request, &setup->scene, &problem, &setup->warnings, &teller);
    if (status == HALOTUNE_OK) problem_warn_of_drawing(backend, &setup->scene, &setup->warnings);
    return status;
  }
  setup->scene.request = request;
  return set_recorded(in, setup, launch);
}

halotune_status setup_change_launch(const struct setup_inputs *in, struct setup *setup, enum launch_mode launch) {
  struct backend_handle *backend = in->tools->backend;
  if (backend->facts.is_recording) return set_recorded(in, setup, launch);
  const struct backend_problem problem = problem_of(in, setup, launch);
  const struct problem_teller teller = {tell_progress, in->progress};
  const halotune_status status = problem_set(backend, &setup->scene, &problem, &setup->warnings, &teller);
  setup->rows.warnings = text_string(&setup->warnings); /* the text may have moved */
  return status;
}

/* Add a recorded variant, if its template is searched. */
static halotune_status add_recorded(void *context, const char *template, const char *parameters) {
  struct setup *setup = context;
  for (int i = 0; i < setup->space.count; i++) {
    if (strcmp(setup->templates[i]->name, template) == 0)
      return proposals_read(&setup->recorded, &setup->space, i, parameters);
  }
  return HALOTUNE_OK;
}

/* Make the space of a recording: the variants that were recorded with the launch mode. */
static halotune_status find_recorded(const struct setup_inputs *in, struct setup *setup) {
  const struct backend_handle *backend = in->tools->backend;
  if (!backend->table->list) return HALOTUNE_OK;
  proposals_free(&setup->recorded);
  halotune_status status = backend->table->list(backend->state, add_recorded, setup);
  if (status != HALOTUNE_OK) return status;
  if (setup->recorded.count == 0)
    return fail(HALOTUNE_NOT_FOUND, "the recording has no variant of today's templates with these options");
  setup->space.only = setup->recorded.list;
  setup->space.only_count = setup->space_size = setup->recorded.count;
  return HALOTUNE_OK;
}

/* Find a template's default, or the variant nearest to it that the rules keep. Returns false if there is none. */
static bool default_of(struct setup *setup, int index, struct proposal *out) {
  const struct configuration *values = space_values(&setup->space, index);
  *out = (struct proposal){.template_index = index,
                           .configuration = values ? *values : configuration_default(setup->templates[index])};
  return space_nearest(&setup->bindings[index], space_fixed(&setup->space, index), &out->configuration) == NULL;
}

/* Have the first template's default compiled while the device gets the problem. */
static halotune_status begin_default(const struct setup_inputs *in, struct setup *setup) {
  struct proposal proposal;
  struct trial *trial;
  if (!default_of(setup, 0, &proposal)) return HALOTUNE_OK;
  halotune_status status = trial_begin(in->task, setup->templates[0], &proposal, &in->task->grid, &trial);
  if (status != HALOTUNE_OK) return status;
  if (!trial->is_over) return pipeline_put(setup->pipeline, trial, in->task);
  trial_free(trial); /* try_default() begins it again */
  return HALOTUNE_OK;
}

/* Compile a template's default, or wait for the one that was begun before. */
static halotune_status build_default(const struct setup_inputs *in, struct setup *setup,
                                     const struct proposal *proposal, struct trial **out) {
  const struct template *template = setup->templates[proposal->template_index];
  const struct ending ending = schedule_ending(in->schedule);
  if (!pipeline_is_empty(setup->pipeline)) return pipeline_await(setup->pipeline, NULL, &ending, out);
  return pipeline_build(setup->pipeline, in->task, template, proposal, &ending, out);
}

/* Try a template's default. If it works, it becomes setup->first. */
static halotune_status try_default(const struct setup_inputs *in, struct setup *setup, int index) {
  struct backend_handle *backend = in->tools->backend;
  struct verdict verdict = {.outcome = OUTCOME_MEASURED};
  struct proposal proposal;
  struct trial *trial;
  double time_ms = NAN;
  if (!default_of(setup, index, &proposal)) return HALOTUNE_OK;
  halotune_status status = build_default(in, setup, &proposal, &trial);
  if (status != HALOTUNE_OK) return status;
  if (!trial->is_over) status = trial_load(backend, 0, trial, false, &verdict);
  const bool is_loaded = status == HALOTUNE_OK && !trial->is_over && verdict.outcome == OUTCOME_MEASURED;
  if (is_loaded) status = measure_roughly(backend, 0, &time_ms);
  if (is_loaded && status == HALOTUNE_OK) status = backend->table->unload(backend->state, 0);
  if (status != HALOTUNE_OK || isnan(time_ms)) {
    trial_free(trial);
    return status;
  }
  setup->first = trial;
  setup->first_ms = time_ms;
  return HALOTUNE_OK;
}

/* Find what a user without a tuner would run: the default of the first template whose default works. Choose the launch
 * mode by its time, unless the options set it. */
static halotune_status find_default(const struct setup_inputs *in, struct setup *setup) {
  const double begin_ms = trace_now_ms();
  halotune_status status = HALOTUNE_OK;
  run_progress_show(in->progress, "default variant");
  for (int i = 0; i < setup->space.count && !setup->first && status == HALOTUNE_OK; i++) {
    if (schedule_is_stopped(in->schedule)) break;
    status = try_default(in, setup, i);
  }
  trace_end(TRACE_PHASES, "default variant", begin_ms, NULL, NULL);
  const bool is_short = setup->first && setup->first_ms < kernel_graph_below_ms;
  if (status != HALOTUNE_OK || in->options->launch >= 0 || !is_short) return status;
  status = setup_change_launch(in, setup, LAUNCH_GRAPH);
  return status == HALOTUNE_OK ? find_recorded(in, setup) : status;
}

/* The compiler's version, as the store has it. */
static void write_nvrtc(const struct tune_tools *tools, char *text, size_t bytes) {
  const struct backend_facts *recorded = &tools->backend->facts;
  if (recorded->is_recording) {
    snprintf(text, bytes, "%s", recorded->nvrtc);
    return;
  }
  const struct nvrtc_facts *facts = compiler_nvrtc(tools->compiler);
  snprintf(text, bytes, "%d.%d", facts->major, facts->minor);
}

/* Put device, stencil, templates, problem and run into the store, within a burst. */
static halotune_status put_run(const struct setup_inputs *in, struct setup *setup) {
  struct store *store = in->tools->store;
  const struct task *task = in->task;
  const struct tune_options *options = in->options;
  const struct backend_facts *facts = &in->tools->backend->facts;
  struct run_rows *rows = &setup->rows;
  struct problem_key key = {.dtype = task->dtype,
                            .grid = task->grid,
                            .launch = setup->launch,
                            .cache = options->cache,
                            .reproducible = task->reproducible,
                            .steps = task->launch_steps};
  *rows = (struct run_rows){.store = store,
                            .templates = setup->template_ids,
                            .driver = facts->driver,
                            .warnings = text_string(&setup->warnings)};
  write_nvrtc(in->tools, rows->nvrtc, sizeof rows->nvrtc);
  const struct device_facts device = facts->is_recording ? device_recorded(&facts->device) : facts->device;
  if ((key.device = store_device(store, &device, facts->is_emulation)) == 0) return HALOTUNE_DB;
  if ((key.stencil = store_stencil(store, task->stencil, task->analysis)) == 0) return HALOTUNE_DB;
  rows->stencil = key.stencil;
  const int64_t text = store_stencil_text(store, key.stencil, task->stencil_text);
  if (text == 0) return HALOTUNE_DB;
  for (int i = 0; i < setup->space.count; i++) {
    if ((setup->template_ids[i] = store_template(store, setup->templates[i])) == 0) return HALOTUNE_DB;
  }
  if ((rows->problem = store_problem(store, &key)) == 0) return HALOTUNE_DB;
  const struct run_start start = {.problem = rows->problem,
                                  .command = options->command,
                                  .host = options->host,
                                  .driver = facts->driver,
                                  .nvrtc = rows->nvrtc,
                                  .strategy = options->strategy->name,
                                  .cuda = facts->cuda,
                                  .seed = options->seed,
                                  .budget_s = isfinite(options->budget_s) ? options->budget_s : 0,
                                  .space = setup->space_size,
                                  .bytes = task_bytes(task),
                                  .text = text,
                                  .objective = options->objective,
                                  .power_limit_w = facts->power_limit_w};
  if (!options->fresh && store_adopt_lost(store, rows->problem) != HALOTUNE_OK) return HALOTUNE_DB;
  rows->run = store_run_begin(store, &start);
  return rows->run ? HALOTUNE_OK : HALOTUNE_DB;
}

/* Begin the run, in one transaction: `db forget` removes no rows beside a run that goes on, but before there is a run,
 * it could remove the other rows. */
static halotune_status open_run(const struct setup_inputs *in, struct setup *setup) {
  struct store *store = in->tools->store;
  halotune_status status = store_burst_begin(store);
  if (status == HALOTUNE_OK) status = store_burst_end(store, put_run(in, setup));
  if (status != HALOTUNE_OK) setup->rows.run = 0;
  return status;
}

/* Refuse a grid of which no point is computed. */
static halotune_status check_box(const struct task *task) {
  struct domain domain = domain_dense(task->stencil, task->analysis, &task->grid);
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (domain.low[axis] < domain.high[axis]) continue;
    return fail(HALOTUNE_ARGUMENT,
                "no point of this grid can be computed: along %c it is not longer than the reach of %s",
                axis_names[axis], task->stencil->name);
  }
  return HALOTUNE_OK;
}

struct hint_sources setup_hint_sources(const struct setup_inputs *in, struct hint_end end) {
  const struct tune_tools *tools = in->tools;
  return (struct hint_sources){
      .own = tools->store, .others = tools->hints, .other_count = tools->hint_count, .end = end};
}

struct hint_target setup_hint_target(const struct setup_inputs *in, const struct setup *setup,
                                     const struct task *task) {
  const struct backend_facts *facts = &in->tools->backend->facts;
  return (struct hint_target){.task = task,
                              .device = &facts->device,
                              .is_emulation = facts->is_emulation,
                              .launch = setup->launch,
                              .cache = in->options->cache,
                              .is_alone = task != in->task};
}

/* The variant that is tried before all others. */
static const struct proposal *first_proposal(const struct setup *setup) {
  return setup->first ? &setup->first->proposal : NULL;
}

static void show_to_strategy(struct setup *setup, const struct proposal_list *list) {
  setup->space.hints = list->list;
  setup->space.hint_count = list->count;
  setup->space.known_hints = setup->hints.count;
}

/* Databases are read for as long as the budget at most, or for this long where that is more; measurements of other
 * problems for a tenth of it; and neither for longer than the last number. */
static const double read_least_ms = 10000, known_least_ms = 1000, known_share = 0.1, read_most_ms = 20000;

struct read_limit {
  const struct setup_inputs *in;
  double at_ms;
};

static struct read_limit read_limit_of(const struct setup_inputs *in, double share, double least_ms) {
  const double time_ms = fmin(fmax(share * 1e3 * in->options->budget_s, least_ms), read_most_ms);
  return (struct read_limit){in, schedule_now_ms(in->schedule) + time_ms};
}

static const char reading[] = "earlier winners";

/* Whether the databases have to be read no further: the run stops, or the time that is left is for the search. A member
 * of a team tells its leader meanwhile that it lives, and hears whether to stop. */
static bool is_read_enough(const void *context) {
  const struct read_limit *limit = context;
  const struct schedule *schedule = limit->in->schedule;
  run_progress_show(limit->in->progress, reading);
  const double now_ms = schedule_now_ms(schedule);
  return schedule_is_stopped(schedule) || now_ms >= limit->at_ms ||
         !schedule_leaves_reading(schedule->deadline_ms, limit->in->options->budget_s, now_ms);
}

static halotune_status find_known(const struct setup_inputs *in, struct setup *setup,
                                  const struct hint_sources *sources, const struct hint_target *target) {
  const struct read_limit limit = read_limit_of(in, known_share, known_least_ms);
  const struct hint_end end = {.is_over = is_read_enough, .context = &limit};
  halotune_status status = known_find(sources, target, &setup->space, &end, &setup->known);
  setup->space.known = setup->known.variants;
  return status;
}

static halotune_status find_weights(struct setup *setup, const struct hint_sources *sources,
                                    const struct hint_target *target) {
  halotune_status status =
      stored_weights_find(sources, target, &setup->weights_found, &setup->weights, &setup->warnings);
  if (setup->weights_found == STATIC_STORED) setup->space.weights = &setup->weights;
  return status;
}

static halotune_status read_hints(const struct setup_inputs *in, struct setup *setup,
                                  const struct hint_sources *sources, const struct hint_target *target) {
  const struct strategy *strategy = in->options->strategy;
  halotune_status status = predicted_find(sources, target, &setup->space, &setup->predicted);
  if (status != HALOTUNE_OK || !strategy->takes_hints) return status;
  status = hints_find(sources, target, &setup->space, first_proposal(setup), &setup->predicted.list, &setup->hints);
  if (status == HALOTUNE_OK && strategy->takes_known) status = find_known(in, setup, sources, target);
  if (status == HALOTUNE_OK && strategy->takes_known) status = find_weights(setup, sources, target);
  return status;
}

halotune_status setup_find_hints(const struct setup_inputs *in, struct setup *setup) {
  const struct tune_options *options = in->options;
  if (options->no_hints || options->rematch) return HALOTUNE_OK;
  const struct hint_target target = setup_hint_target(in, setup, in->task);
  const struct read_limit limit = read_limit_of(in, 1, read_least_ms);
  struct hint_sources sources = setup_hint_sources(in, (struct hint_end){.is_over = is_read_enough, .context = &limit});
  sources.warnings = &setup->warnings;
  const double begin_ms = trace_now_ms();
  run_progress_show(in->progress, reading);
  hint_sources_ask(&sources, true);
  const halotune_status status = read_hints(in, setup, &sources, &target);
  hint_sources_ask(&sources, false);
  setup->rows.warnings = text_string(&setup->warnings); /* the text may have moved */
  trace_end(TRACE_PHASES, "hints", begin_ms, NULL, NULL);
  if (options->strategy->takes_hints) show_to_strategy(setup, &setup->hints);
  return status;
}

halotune_status setup_find_starts(const struct setup_inputs *in, struct setup *setup) {
  if (in->options->rematch) return HALOTUNE_OK;
  halotune_status status = starts_find(&setup->space, &setup->hints, first_proposal(setup), &setup->starts);
  if (in->options->strategy->takes_hints) show_to_strategy(setup, &setup->starts);
  return status;
}

/* Bring the problem to the device, and find the default variant. */
static halotune_status prepare_device(const struct setup_inputs *in, struct setup *setup) {
  const int launch = in->options->launch;
  halotune_status status = check_box(in->task);
  if (status == HALOTUNE_OK) status = begin_default(in, setup);
  if (status == HALOTUNE_OK) status = make_problem(in, setup, launch < 0 ? LAUNCH_STREAM : (enum launch_mode)launch);
  if (status != HALOTUNE_OK || schedule_is_stopped(in->schedule)) return status;
  status = find_recorded(in, setup);
  return status == HALOTUNE_OK ? find_default(in, setup) : status;
}

halotune_status setup_make(const struct setup_inputs *in, struct setup *out) {
  const struct tune_tools *tools = in->tools;
  *out = (struct setup){.memcpy_ms = NAN};
  text_printf(&out->warnings, "%s", tools->backend->facts.warnings);
  halotune_status status = pipeline_make(tools->backend->facts.is_recording ? NULL : tools->compiler, &out->pipeline);
  const double begin_ms = trace_now_ms();
  run_progress_show(in->progress, "search space");
  if (status == HALOTUNE_OK) status = setup_find_space(in, out);
  trace_end(TRACE_PHASES, "space", begin_ms, NULL, NULL);
  if (status != HALOTUNE_OK || schedule_is_stopped(in->schedule)) return status;
  status = schedule_settle(in->schedule, prepare_device(in, out));
  if (status != HALOTUNE_OK || schedule_is_stopped(in->schedule)) return status;
  if (in->copy) status = measure_roughly(tools->backend, SLOT_MEMCPY, &out->memcpy_ms);
  if (status == HALOTUNE_OK) status = open_run(in, out);
  if (status == HALOTUNE_OK) status = setup_find_hints(in, out);
  if (status == HALOTUNE_OK) status = setup_find_starts(in, out);
  return status;
}

void setup_free(struct setup *setup) {
  pipeline_free(setup->pipeline);
  trial_free(setup->first);
  scene_free(&setup->scene);
  text_free(&setup->warnings);
  for (int i = 0; i < setup->space.count; i++) bindings_free(&setup->bindings[i]);
  free(setup->bindings);
  free(setup->templates);
  free(setup->fixed);
  free(setup->template_ids);
  proposals_free(&setup->recorded);
  predicted_free(&setup->predicted);
  proposals_free(&setup->hints);
  known_free(&setup->known);
  proposals_free(&setup->starts);
}
