/* task_phases.c: one task from its beginning to its end: set-up, search, finals. */
#include "tuner/search/tune/task_phases.h"

#include <math.h>
#include <stdio.h>

#include "base/system/trace.h"
#include "tuner/measure/finals/finals_plan.h"
#include "tuner/search/finals/final_phase.h"
#include "tuner/search/tune/search_phase.h"
#include "tuner/search/tune/setup.h"

/* What each phase hands to the next one. */
struct run {
  struct setup_inputs in;
  struct schedule schedule;
  struct setup setup;
  void *strategy_state;
  struct timed_list timed;
  struct twins twins;
  struct search_end search;
  struct run_progress progress;
};

bool tune_has_time(const struct tune_options *options, double now_ms) {
  return schedule_leaves_time(options->deadline_ms, options->budget_s, now_ms);
}

bool tune_has_time_to_read(const struct tune_options *options, double now_ms) {
  return schedule_leaves_reading(options->deadline_ms, options->budget_s, now_ms);
}

/* Have the crew set up its devices as well. */
static halotune_status begin_crew(const struct run *run) {
  const struct crew *crew = run->in.tools->crew;
  const struct crew_task task = {.task = run->in.task,
                                 .templates = run->in.templates->list,
                                 .template_count = run->in.templates->count,
                                 .cache = run->in.options->cache};
  return crew->table->begin(crew->state, &task);
}

/* Whether what the finals rank by can be measured. */
static halotune_status check_objective(const struct run *run) {
  const enum objective objective = run->in.options->objective;
  const struct backend_handle *backend = run->in.tools->backend;
  if (objective == OBJECTIVE_TIME || backend_counts_energy(backend)) return HALOTUNE_OK;
  return fail(
      HALOTUNE_ARGUMENT,
      "--objective %s needs a GPU whose energy NVML counts (from Volta on, no MIG instance), and %s has no such "
      "counter: without the option, variants are ranked by time",
      objective_names[objective], backend->facts.device.name);
}

/* Tell the crew what the set-up found. */
static halotune_status start_crew(const struct run *run) {
  const struct crew *crew = run->in.tools->crew;
  const struct setup *setup = &run->setup;
  const struct crew_start start = {
      .space = &setup->space, .first = setup->first ? &setup->first->proposal : NULL, .launch = setup->launch};
  return crew->table->start(crew->state, &start);
}

/* End the crew's part, and keep its report. */
static halotune_status end_crew(const struct run *run, struct tune_result *out) {
  const struct crew *crew = run->in.tools->crew;
  if (!crew) return HALOTUNE_OK;
  const halotune_status status = crew->table->end(crew->state, &out->crew);
  struct crew_report *report = &out->crew;
  report->gpus[0].results = out->tally.tried - out->tally.recalled;
  for (int i = 1; i < report->shown; i++) report->gpus[0].results -= report->gpus[i].results;
  return status;
}

/* Set up, and begin to count the budget. */
static halotune_status run_setup(struct run *run, struct tune_result *out) {
  const struct tune_options *options = run->in.options;
  struct setup *setup = &run->setup;
  const struct crew *crew = run->in.tools->crew;
  halotune_status status = check_objective(run);
  if (status == HALOTUNE_OK && crew) status = begin_crew(run);
  if (status == HALOTUNE_OK) status = setup_make(&run->in, setup);
  out->launch = setup->launch;
  run->progress.space = setup->space_size;
  run->progress.memcpy_ms = setup->memcpy_ms;
  if (status != HALOTUNE_OK || !setup->rows.run) return status;
  if (crew) status = start_crew(run);
  if (status != HALOTUNE_OK) return status;
  run->schedule.energy_ms = finals_energy_ms(options->objective, 0);
  schedule_divide(&run->schedule, options->budget_s, options->is_scout);
  return options->strategy->open(&setup->space, options->seed, &run->strategy_state);
}

static halotune_status run_search(struct run *run, struct tally *tally) {
  const struct tune_options *options = run->in.options;
  const struct setup *setup = &run->setup;
  const struct search_inputs in = {.task = run->in.task,
                                   .space = &setup->space,
                                   .schedule = &run->schedule,
                                   .rows = &setup->rows,
                                   .first = setup->first,
                                   .first_ms = setup->first_ms,
                                   .served = setup->predicted.has_served ? setup->predicted.list.list : NULL,
                                   .memcpy_ms = setup->memcpy_ms,
                                   .hints = &setup->hints,
                                   .starts = &setup->starts,
                                   .strategy = options->strategy,
                                   .max_variants = options->max_variants,
                                   .good_enough = options->good_enough,
                                   .in_flight = options->in_flight,
                                   .in_full = options->in_full,
                                   .fresh = options->fresh,
                                   .leads_only = options->leads_only,
                                   .crew = run->in.tools->crew,
                                   .rematch = options->rematch,
                                   .proposed = options->proposed,
                                   .context = options->context,
                                   .backend = run->in.tools->backend,
                                   .pipeline = setup->pipeline,
                                   .strategy_state = run->strategy_state,
                                   .timed = &run->timed,
                                   .twins = &run->twins,
                                   .tally = tally,
                                   .progress = &run->progress};
  return search_phase_run(&in, &run->search);
}

/* Remark on weights that make no sense, and on the search in the strategy's words, which are added to the run's
 * warnings. */
static void take_remark(struct run *run, struct tune_result *out) {
  const struct strategy *strategy = run->in.options->strategy;
  const char *of_search = strategy->remark ? strategy->remark(run->strategy_state) : "";
  const char *of_weights = run->setup.weights_found == STATIC_NONSENSE ? stored_weights_remark : "";
  snprintf(out->remark, sizeof out->remark, "%s%s%s", of_weights, *of_weights && *of_search ? "; " : "", of_search);
  if (!*of_search) return;
  text_printf(&run->setup.warnings, "%s\n", of_search);
  run->setup.rows.warnings = text_string(&run->setup.warnings);
}

/* A search that tried fewer variants than this, and not all, says little about which variant is fast. */
enum { LEAST_TRIED = 10 };
_Static_assert(LEAST_TRIED == 10, "find_partial has the number in words");

/* Why the search was not complete; NULL if it was. */
static const char *find_partial(const struct run *run, const struct tally *tally) {
  if (run->search.is_cut) return "the deadline cut the search short";
  const bool is_small = tally->tried < LEAST_TRIED && tally->tried < run->setup.space_size;
  return is_small && !run->search.is_exhausted ? "the time was too short for ten variants" : NULL;
}

/* Tuned copies are read for so long, because the winner is not stored yet. */
static const double copies_ms = 1000;

struct copies_limit {
  const struct schedule *schedule;
  double at_ms;
};

static bool are_copies_read(const void *context) {
  const struct copies_limit *limit = context;
  return schedule_is_stopped(limit->schedule) || schedule_now_ms(limit->schedule) >= limit->at_ms;
}

static halotune_status run_finals(struct run *run, const struct tune_templates *copy_templates,
                                  struct tune_result *out) {
  const struct tune_options *options = run->in.options;
  const struct setup *setup = &run->setup;
  const struct task *copy = isnan(setup->memcpy_ms) ? NULL : run->in.copy;
  const struct copies_limit limit = {&run->schedule, schedule_now_ms(&run->schedule) + copies_ms};
  const struct hint_sources sources =
      setup_hint_sources(&run->in, (struct hint_end){.is_over = are_copies_read, .context = &limit});
  const struct hint_target target = setup_hint_target(&run->in, setup, copy);
  const struct roof_inputs roof = {.copy = copy,
                                   .templates = copy_templates->list,
                                   .template_count = copy_templates->count,
                                   .sources = &sources,
                                   .target = &target,
                                   .schedule = &run->schedule,
                                   .backend = run->in.tools->backend,
                                   .pipeline = setup->pipeline};
  const struct final_inputs in = {.task = run->in.task,
                                  .space = &setup->space,
                                  .schedule = &run->schedule,
                                  .rows = &setup->rows,
                                  .twins = &run->twins,
                                  .roof = &roof,
                                  .scale = run->search.scale,
                                  .memcpy_ms = setup->memcpy_ms,
                                  .seed = options->seed,
                                  .objective = options->objective,
                                  .fills = !run->search.is_exhausted,
                                  .launch = setup->launch,
                                  .cache = options->cache,
                                  .backend = run->in.tools->backend,
                                  .pipeline = setup->pipeline,
                                  .crew = run->in.tools->crew,
                                  .timed = &run->timed,
                                  .tally = &out->tally,
                                  .progress = &run->progress};
  const bool was_stopped = schedule_is_stopped(&run->schedule);
  const char *partial = find_partial(run, &out->tally);
  hint_sources_ask(&sources, true);
  halotune_status status = final_phase_run(&in, partial, &out->winner, out->reason);
  hint_sources_ask(&sources, false);
  out->is_complete = out->winner.exists && !partial;
  out->is_exhausted = !was_stopped && run->timed.count == 0 && run->search.is_exhausted;
  return status;
}

/* Store why the run failed. The detail of the failure stays as it is. */
static void store_failure(const struct run *run, halotune_status status, struct tune_result *out) {
  struct fail_kept detail;
  if (status == HALOTUNE_DB || !run->setup.rows.run) return;
  fail_keep(&detail);
  snprintf(out->reason, sizeof out->reason, "%s", fail_text());
  run_rows_end(&run->setup.rows, out->reason, run->setup.memcpy_ms);
  fail_put_back(&detail);
}

static void run_close(struct run *run) {
  run->in.options->strategy->close(run->strategy_state);
  setup_free(&run->setup);
  timed_free(&run->timed);
  twins_free(&run->twins);
}

halotune_status tune(const struct tune_tools *tools, const struct task *task, const struct tune_templates *templates,
                     const struct task *copy, const struct tune_templates *copy_templates,
                     const struct tune_options *options, struct tune_result *out) {
  *out = (struct tune_result){.winner = {.default_ms = NAN,
                                         .roof_ms = NAN,
                                         .roof_ratio = NAN,
                                         .roof_ratio_low = NAN,
                                         .roof_ratio_high = NAN,
                                         .empty_ms = NAN,
                                         .energy_mj = NAN,
                                         .energy_low_mj = NAN,
                                         .energy_high_mj = NAN,
                                         .idle_w = NAN},
                              .bytes = task_bytes(task)};
  struct run run = {.in = {tools, task, copy, templates, options, &run.schedule, &run.progress},
                    .schedule = schedule_start(&options->time, options->stop, options->deadline_ms),
                    .search = {.scale = 1},
                    .progress = {.show = options->progress,
                                 .context = options->context,
                                 .schedule = &run.schedule,
                                 .tally = &out->tally,
                                 .timed = &run.timed,
                                 .memcpy_ms = NAN}};
  double begin_ms = trace_now_ms();
  halotune_status status = run_setup(&run, out);
  trace_end(TRACE_PHASES, "set-up", begin_ms, NULL, task->stencil->name);
  begin_ms = trace_now_ms();
  out->setup_s = schedule_spent_s(&run.schedule);
  if (status == HALOTUNE_OK && run.setup.rows.run && !schedule_is_stopped(&run.schedule))
    status = schedule_settle(&run.schedule, run_search(&run, &out->tally));
  if (run.strategy_state) take_remark(&run, out);
  out->search_s = schedule_spent_s(&run.schedule) - out->setup_s;
  trace_end(TRACE_PHASES, "search", begin_ms, NULL, task->stencil->name);
  begin_ms = trace_now_ms();
  if (status == HALOTUNE_OK) status = run_finals(&run, copy_templates, out);
  out->final_s = schedule_spent_s(&run.schedule) - out->search_s - out->setup_s;
  trace_end(TRACE_PHASES, "finals", begin_ms, NULL, task->stencil->name);
  if (status != HALOTUNE_OK) store_failure(&run, status, out);
  const halotune_status ended = end_crew(&run, out);
  if (status == HALOTUNE_OK) status = ended;
  run_close(&run);
  return status;
}
