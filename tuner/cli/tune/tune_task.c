/* tune_task.c: runs the search of a planned task, and shows its progress. */
#include "tuner/cli/tune/tune_task.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/system/clock.h"
#include "base/text/utf8.h"
#include "stencil/template/space.h"
#include "tuner/cli/output/progress.h"
#include "tuner/cli/output/variant_text.h"
#include "tuner/cli/tune/steps_offered.h"
#include "tuner/search/hints/predicted.h"

/* The line of progress of one task. */
struct task_line {
  const char *name;
  bool has_roof;
  const struct tune_tasks *tasks;
};

/* If the terminal is narrow, the task's name is left out first, because the user has typed it. */
static void task_show(void *context, const struct tune_progress *progress) {
  const struct task_line *line = context;
  const struct tune_tasks *tasks = line->tasks;
  struct progress_parts parts = {.count = 0};
  if (tasks->look) tasks->look(tasks->look_context);
  if (!tasks->progress) return;
  char space[SPACE_COUNT_BYTES];
  progress_add(&parts, 4, "", "%s", line->name);
  progress_add(&parts, 3, ": ", "%s", progress->phase);
  if (progress->space > 0) {
    progress_add(&parts, 2, ", ", "%ld of %s tried", progress->tried, space_count_text(progress->space, space));
    progress_add(&parts, 6, ", ", "%ld failed", progress->failed);
    progress_add(&parts, 7, ", ", "%.0f/s", progress->variants_per_s);
  }
  if (isfinite(progress->best_ms)) {
    progress_add(&parts, 0, ", ", "best %.4g ms", progress->best_ms);
    if (line->has_roof && !isnan(progress->roof_share))
      progress_add(&parts, 5, " (", "%.3f of copy)", progress->roof_share);
  }
  if (isfinite(progress->left_s)) progress_add(&parts, 1, ", ", "%.0f s left", progress->left_s);
  if (progress->is_new) progress_hurry(tasks->progress);
  progress_show(tasks->progress, &parts);
}

static void line_hide(const struct tune_tasks *t) {
  if (t->progress) progress_hide(t->progress);
}

/* Print why a variant is proposed, over the line of progress. */
static void task_proposed(void *context, const struct template *template, const struct configuration *configuration,
                          const char *why) {
  const struct task_line *line = context;
  struct text variant = {0};
  variant_text(template, configuration, &variant);
  line_hide(line->tasks);
  fprintf(stderr, "%s%s%s\n", text_string(&variant), why[0] ? ": " : "", why);
  text_free(&variant);
}

/* Make the task of a stencil.
 *   arch  the device's "sm_90"; lives as long as the task */
static struct task task_of(const struct tune_tasks *t, const struct planned_stencil *stencil,
                           const struct planned_task *planned, const char *arch) {
  const struct backend_facts *facts = &t->setup->backend.facts;
  return (struct task){.stencil = stencil->loaded.stencil,
                       .analysis = stencil->loaded.analysis,
                       .stencil_text = stencil->loaded.text,
                       .dtype = planned->dtype,
                       .grid = planned->grid,
                       .coefficients = planned->coefficients,
                       .limits = facts->device.limits,
                       .arch = facts->arch,
                       .arch_name = arch,
                       .sm_count = facts->device.sm_count,
                       .reproducible = t->reproducible,
                       .launch_steps = planned->launch_steps};
}

/* Make the copy that moves as many bytes as the task. It has no sums, so --reproducible does not apply to it. */
static struct task copy_of(const struct tune_tasks *t, const struct task *task, const struct planned_task *planned) {
  struct task copy = task_of(t, &t->setup->copy, planned, task->arch_name);
  copy.coefficients = NULL;
  copy.reproducible = false;
  copy.launch_steps = 1;
  copy.grid = (struct grid){{(long)(task_bytes(task) / 2 / (long long)dtype_bytes(task->dtype)), 1, 1}};
  return copy;
}

/* Report why the task of a row failed, on stderr and in the row. */
static void task_failed(halotune_status status, const char *name, struct tuned *row) {
  char text[FAIL_TEXT_BYTES];
  row->is_done = true;
  row->is_refused = status == HALOTUNE_NOT_FOUND || status == HALOTUNE_ARGUMENT || status == HALOTUNE_PARSE;
  printable_message(text, sizeof text, fail_text());
  printable_message(row->result.reason, sizeof row->result.reason, fail_text());
  fprintf(stderr, "halotune: %s: %s\n", name, text);
}

/* Tune the task of a row.
 *   turn  has its share of the budget; variants that an earlier turn tried count again */
static halotune_status task_run(const struct tune_tasks *t, struct steps_turn turn, struct tuned *row) {
  const struct backend_facts *facts = &t->setup->backend.facts;
  const bool has_copy = t->setup->copy.loaded.stencil != NULL;
  const struct tune_templates templates = {t->set->list, t->set->fixed, t->set->count};
  const struct tune_templates copy_templates = {t->setup->copy_templates.list, NULL, t->setup->copy_templates.count};
  struct tune_options options = *t->options;
  struct task copy;
  struct text name = {0};
  char arch[16];
  snprintf(arch, sizeof arch, "sm_%d", facts->device.capability);
  planned_task_text(&row->task, &name);
  struct task_line line = {text_string(&name), !facts->is_emulation, t};
  const struct task task = task_of(t, row->task.stencil, &row->task, arch);
  if (has_copy) copy = copy_of(t, &task, &row->task);
  options.time = backend_time(&t->setup->backend);
  options.progress = task_show;
  options.proposed = t->explains ? task_proposed : NULL;
  options.context = &line;
  options.budget_s = tune_task_budget_s(&row->task, t->options) * turn.share;
  options.is_scout = turn.is_scout;
  options.max_variants = (long)ceil((double)options.max_variants * (turn.share + turn.earlier));
  halotune_status status =
      tune(&t->setup->tools, &task, &templates, has_copy ? &copy : NULL, &copy_templates, &options, &row->result);
  line_hide(t);
  row->is_done = true;
  row->reproducible = t->reproducible;
  row->is_recorded = facts->is_recording;
  row->is_emulated = facts->is_emulation;
  if (status != HALOTUNE_OK) task_failed(status, line.name, row);
  text_free(&name);
  return status;
}

bool tune_ends_all(halotune_status status) { return status == HALOTUNE_DB || status == HALOTUNE_NO_GPU; }

static bool may_go_on(const struct tune_tasks *t) {
  const struct time_source time = backend_time(&t->setup->backend);
  return !*t->stop && tune_has_time(t->options, time_now_ms(&time));
}

struct tuned *tuned_add(struct tuned_list *list, const struct planned_task *planned) {
  if (!array_room(list->rows, list->count, list->room)) return NULL;
  struct tuned *row = &list->rows[list->count++];
  *row = (struct tuned){.task = *planned};
  if (row->task.launch_steps == 0) row->task.launch_steps = 1;
  return row;
}

/* Find the row of a task with this number of steps, after `first`, or append one. Returns NULL when memory is out. */
static struct tuned *row_for(struct tuned_list *list, int first, const struct planned_task *planned, int steps) {
  for (int i = first; i < list->count; i++) {
    if (list->rows[i].task.launch_steps == steps) return &list->rows[i];
  }
  struct tuned *row = tuned_add(list, planned);
  if (row) row->task.launch_steps = steps;
  return row;
}

double tune_task_budget_s(const struct planned_task *task, const struct tune_options *options) {
  return task->budget_s > 0 ? task->budget_s : options->budget_s;
}

/* The least number of variants for which a search is worthwhile. */
static const double least_scout_variants = 2;

/* The limits that leave too little for the smallest share of the budget. */
struct small_limits {
  bool budget, variants, none; /* none: there is no limit, so there are no shares */
};

static struct small_limits small_limits_of(const struct tune_options *options, const struct planned_task *planned) {
  const double budget_s = tune_task_budget_s(planned, options);
  const bool counts = options->max_variants > 0;
  return (struct small_limits){.budget = budget_s < STEPS_LEAST_BUDGET_S,
                               .variants =
                                   counts && (double)options->max_variants * STEPS_SCOUT_SHARE < least_scout_variants,
                               .none = !isfinite(budget_s) && !counts};
}

/* For limits that are too small, name the least values with which other numbers of steps are searched. */
static void add_small_limits(const struct tune_options *options, const struct planned_task *planned,
                             struct text *text) {
  const struct small_limits small = small_limits_of(options, planned);
  const double least_variants = ceil(least_scout_variants / STEPS_SCOUT_SHARE);
  if (small.none)
    text_printf(text, "a limit: --budget %ds or --max-variants %.0f, or more", STEPS_LEAST_BUDGET_S, least_variants);
  if (small.budget) text_printf(text, "--budget %ds or more", STEPS_LEAST_BUDGET_S);
  if (small.variants) text_printf(text, "%s--max-variants %.0f or more", small.budget ? " and " : "", least_variants);
}

/* Whether the smallest share of the budget is worth a search. */
static bool leaves_enough(const struct tune_options *options, const struct planned_task *planned) {
  const struct small_limits small = small_limits_of(options, planned);
  return !small.budget && !small.variants && !small.none;
}

/* Whether a template makes launches of several steps. */
static bool has_steps(const struct tune_tasks *t) {
  for (int i = 0; i < t->set->count; i++) {
    if (t->set->list[i]->steps.is_given) return true;
  }
  return false;
}

/* Say that other numbers of steps are not searched, although the user did not name a number.
 *   known  the number that is tried because a database knows it; 0: none */
static void tell_single(const struct tune_tasks *t, const struct planned_task *planned, int known) {
  struct text name = {0}, limits = {0}, also = {0};
  if (!planned->stencil->loaded.analysis->can_iterate || !has_steps(t)) return;
  planned_task_text(planned, &name);
  add_small_limits(t->options, planned, &limits);
  text_printf(&also, "and %d steps a launch, the best that a database knows", known);
  line_hide(t);
  fprintf(stderr,
          "halotune: %s: single steps %s: other numbers of steps are searched with %s, or if --steps names them\n",
          text_string(&name), known > 0 ? text_string(&also) : "only", text_string(&limits));
  text_free(&also);
  text_free(&limits);
  text_free(&name);
}

/* Whether limits that are too small for scouts leave enough for single steps and a number that a database knows. */
static bool leaves_known(const struct tune_options *options, const struct planned_task *planned) {
  const double budget_s = tune_task_budget_s(planned, options);
  const bool counts = options->max_variants > 0;
  const double single = steps_shares_of(budget_s, true).single;
  return (isfinite(budget_s) || counts) && budget_s * single >= 1 &&
         (!counts || (double)options->max_variants * single >= least_scout_variants);
}

/* When the databases are read no further for a known number of steps. */
struct known_end {
  const struct tune_tasks *tasks;
  double until_ms;
};

static struct known_end known_end_of(const struct tune_tasks *t) {
  static const double most_ms = 2000; /* the databases that Halotune comes with take some milliseconds */
  const struct time_source time = backend_time(&t->setup->backend);
  return (struct known_end){t, time_now_ms(&time) + most_ms};
}

/* Whether the databases have to be read no further, because the time that is left is for the search. */
static bool is_read_enough(const void *context) {
  const struct known_end *end = context;
  const struct time_source time = backend_time(&end->tasks->setup->backend);
  const double now_ms = time_now_ms(&time);
  return *end->tasks->stop || now_ms >= end->until_ms || !tune_has_time_to_read(end->tasks->options, now_ms);
}

/* Find the number of steps that databases know as the best among those that the templates offer.
 *   out  receives it as `known`, and as the only number offered; 0 and none if there is none */
static halotune_status find_known(const struct tune_tasks *t, const struct task *task,
                                  const struct tune_templates *templates, const struct walk_limit *limit,
                                  struct steps_search *out) {
  const struct backend_facts *facts = &t->setup->backend.facts;
  const struct tune_tools *tools = &t->setup->tools;
  const struct known_end end = known_end_of(t);
  const struct hint_sources sources = {
      .own = tools->store, .others = tools->hints, .other_count = tools->hint_count, .end = {is_read_enough, &end}};
  const struct hint_target target = {.task = task, .device = &facts->device};
  halotune_status status = HALOTUNE_OK;
  int known = 0;
  hint_sources_ask(&sources, true);
  for (int most = t->options->no_hints ? 0 : STEPS_MOST; status == HALOTUNE_OK && most >= 2; most = known - 1) {
    status = predicted_steps(&sources, &target, most, &known);
    if (status == HALOTUNE_OK && known >= 2) status = steps_offered(task, templates, known, known, limit, out);
    if (out->count > 0) break;
  }
  hint_sources_ask(&sources, false);
  out->known = out->count > 0 ? known : 0;
  return status;
}

static bool is_over(const void *tasks) { return !may_go_on(tasks); }

/* Find the numbers of steps to search besides single steps; none if the task does not search them.
 *   row  the row of single steps; it receives the failure */
static halotune_status find_steps(const struct tune_tasks *t, const struct planned_task *planned, struct tuned *row,
                                  struct steps_search *out) {
  const struct backend_facts *facts = &t->setup->backend.facts;
  const struct tune_templates templates = {t->set->list, t->set->fixed, t->set->count};
  char arch[16];
  snprintf(arch, sizeof arch, "sm_%d", facts->device.capability);
  const struct task task = task_of(t, planned->stencil, planned, arch);
  const struct walk_limit limit = {.is_over = is_over, .context = t};
  struct text name = {0};
  *out = (struct steps_search){.count = 0};
  if (planned->launch_steps > 0 || facts->is_emulation || facts->is_recording || t->options->rematch)
    return HALOTUNE_OK;
  const bool is_small = !leaves_enough(t->options, planned);
  halotune_status status = HALOTUNE_OK;
  if (task.analysis->can_iterate && has_steps(t) && (!is_small || leaves_known(t->options, planned)))
    status = find_known(t, &task, &templates, &limit, out);
  const int known = out->known;
  if (status == HALOTUNE_OK && !is_small) status = steps_offered(&task, &templates, 2, STEPS_MOST, &limit, out);
  out->known = known;
  out->is_small = is_small;
  out->shares = steps_shares_of(tune_task_budget_s(planned, t->options), is_small);
  if (status == HALOTUNE_OK && is_small) tell_single(t, planned, known);
  if (status != HALOTUNE_OK) {
    planned_task_text(planned, &name);
    task_failed(status, text_string(&name), row);
    text_free(&name);
  }
  return status;
}

static double step_ms(const struct tuned *row) {
  const struct final_winner *winner = &row->result.winner;
  return winner->exists ? winner->timing.median_ms / row->task.launch_steps : INFINITY;
}

/* The largest number of steps that the template of a row's winner offers; 0 without a winner, or if it cannot be
 * found. */
static int most_of_winner(const struct tune_tasks *t, const struct tuned *row) {
  const struct walk_limit limit = {.is_over = is_over, .context = t};
  struct steps_search own = {.count = 0};
  for (int i = 0; i < t->set->count && row->result.winner.exists; i++) {
    if (strcmp(t->set->list[i]->name, row->result.winner.template_name) != 0) continue;
    const struct tune_templates one = {&t->set->list[i], t->set->fixed ? &t->set->fixed[i] : NULL, 1};
    const struct task task = task_of(t, row->task.stencil, &row->task, "");
    if (steps_offered(&task, &one, row->task.launch_steps, STEPS_MOST, &limit, &own) != HALOTUNE_OK) return 0;
  }
  return own.count > 0 ? own.offered[own.count - 1] : 0;
}

/* Tell the search of steps the result of a row. What the winner's template offers matters only for the next turn. */
static void tell_row(const struct tune_tasks *t, const struct tuned *row, struct steps_search *search) {
  const int steps = row->task.launch_steps;
  const bool goes_on = search->count > 0 && !search->is_over;
  steps_search_tell(search, steps, step_ms(row), steps > 1 && goes_on ? most_of_winner(t, row) : 0);
}

/* Tune a planned task with its number of steps, or with single steps and then with other numbers. */
static halotune_status planned_run(const struct tune_tasks *t, const struct planned_task *planned,
                                   struct tuned_list *list) {
  const int first = list->count;
  struct steps_search search;
  struct steps_turn turn;
  struct tuned *row = row_for(list, first, planned, planned->launch_steps > 0 ? planned->launch_steps : 1);
  halotune_status status = row ? find_steps(t, planned, row, &search) : fail_memory();
  if (status != HALOTUNE_OK) return status;
  turn = (struct steps_turn){row->task.launch_steps, search.count > 0 ? search.shares.single : 1, 0, false};
  status = task_run(t, turn, row);
  tell_row(t, row, &search);
  while (!tune_ends_all(status) && may_go_on(t) && steps_search_next(&search, &turn)) {
    row = row_for(list, first, planned, turn.steps);
    if (!row) return fail_memory();
    row->is_optional = turn.steps > 1;
    const halotune_status tuned = task_run(t, turn, row);
    if (tune_ends_all(tuned)) status = tuned;
    tell_row(t, row, &search);
  }
  return status;
}

void tuned_add_failed(halotune_status status, const struct planned_task *planned, struct tuned_list *out) {
  struct tuned *row = tuned_add(out, planned);
  struct text name = {0};
  if (!row) return;
  planned_task_text(planned, &name);
  task_failed(status, text_string(&name), row);
  text_free(&name);
}

halotune_status tune_task_run(const struct tune_tasks *tasks, const struct planned_task *planned,
                              struct tuned_list *out) {
  struct tune_lock lock = {-1};
  bool is_ours = true;
  halotune_status status = tasks->site ? site_task_take(tasks->site, planned, &lock, &is_ours) : HALOTUNE_OK;
  if (status != HALOTUNE_OK) tuned_add_failed(status, planned, out);
  else if (is_ours) status = planned_run(tasks, planned, out);
  tune_lock_release(&lock);
  return status;
}
