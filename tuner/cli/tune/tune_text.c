/* tune_text.c: prints the plan as a list, and the results in columns. */
#include "tuner/cli/tune/tune_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tuner/cli/output/terminal.h"
#include "tuner/cli/output/variant_text.h"
#include "tuner/measure/finals/finals.h"
#include "tuner/measure/finals/tie_rule.h"

double tuned_of_memory(const struct tuned *row, double figure) { return row->is_emulated ? NAN : figure; }

double tuned_bandwidth_gbs(const struct tuned *row) {
  return tuned_of_memory(row, (double)row->result.bytes / row->result.winner.timing.median_ms * 1e-6);
}

double tuned_speed_up(const struct tuned *row) {
  return row->result.winner.default_ms / row->result.winner.timing.median_ms;
}

/* Returns the columns that were printed. */
static int print_figure(const char *format, int width, double figure) {
  return isnan(figure) ? printf(" %*s", width, "-") : printf(format, width, figure);
}

/* Print the first line of the first failure. */
static void print_first_failure(const struct tune_result *result) {
  if (!result->tally.first_reason[0]) return;
  printf("  the first failure: %s: %.*s\n", outcome_name(result->tally.first_failure),
         (int)strcspn(result->tally.first_reason, "\n"), result->tally.first_reason);
}

/* Returns the columns that were printed. */
static int print_winner_figures(const struct tuned *row) {
  const struct final_winner *winner = &row->result.winner;
  const double half_percent = 50 * (winner->timing.high_ms - winner->timing.low_ms) / winner->timing.median_ms;
  int columns = printf(" %10.5f", winner->timing.median_ms);
  columns += print_figure(" %*.2f", 6, half_percent);
  columns += print_figure(" %*.1f", 8, tuned_bandwidth_gbs(row));
  columns += print_figure(" %*.3f", 7, tuned_of_memory(row, winner->roof_ratio));
  columns += print_figure(" %*.2f", 8, tuned_speed_up(row));
  return columns + printf(" %7ld", row->result.tally.tried);
}

/* The template with this name; NULL if the search did not have it, as may be with the template of an earlier
 * winner. */
static const struct template *template_named(const struct tune_set *set, const char *name) {
  for (int i = 0; i < set->count; i++) {
    if (strcmp(set->list[i]->name, name) == 0) return set->list[i];
  }
  return NULL;
}

/* name_columns: width of the column of tasks */
static void print_row(const struct tuned *row, const struct tune_set *set, int name_columns) {
  const struct tune_result *result = &row->result;
  struct text text = {0}, winner = {0};
  planned_task_text(&row->task, &text);
  const int columns = printf("%-*s", name_columns, text_string(&text));
  text_free(&text);
  if (result->winner.exists) {
    struct text name = {0};
    text_printf(&name, "%s%s%s", ink(stdout, INK_WINNER), result->winner.template_name, ink(stdout, INK_NONE));
    variant_words_text(text_string(&name), template_named(set, result->winner.template_name), result->winner.parameters,
                       &winner);
    text_free(&name);
    if (!result->winner.is_current) text_printf(&winner, "  (the winner of an earlier run is still the best)");
    terminal_last_column(columns + print_winner_figures(row), text_string(&winner));
    text_free(&winner);
  } else {
    printf(" %sno winner:%s %s\n", ink(stdout, INK_FAILURE), ink(stdout, INK_NONE),
           row->is_done ? result->reason : "not begun");
    print_first_failure(result);
  }
}

/* The width of the column of tasks. */
static int name_columns_of(const struct tuned *rows, int count) {
  enum { WIDE = 32, FIGURE_COLUMNS = 52 };
  size_t longest = strlen("task");
  for (int i = 0; i < count; i++) {
    struct text text = {0};
    planned_task_text(&rows[i].task, &text);
    if (text.length > longest) longest = text.length;
    text_free(&text);
  }
  return WIDE + FIGURE_COLUMNS <= terminal_width() ? WIDE : (int)longest;
}

/* Print the results of each GPU of a team. */
static void print_crew(const struct crew_report *crew) {
  printf("%d GPU%s took part", crew->count, PLURAL(crew->count));
  if (!isnan(crew->spread)) printf("; the winner's times on them spread by %.2f %%", crew->spread * 100);
  if (crew->lost > 0) printf("; %ld variant%s lost and taken over", crew->lost, crew->lost == 1 ? " was" : "s were");
  printf("\n");
  for (int i = 0; i < crew->shown; i++) {
    const struct crew_gpu *gpu = &crew->gpus[i];
    printf("  %s: %ld variant%s", gpu->uuid, gpu->results, PLURAL(gpu->results));
    if (!isnan(gpu->factor)) printf(", %.4f times as long as the first", gpu->factor);
    if (!isnan(gpu->winner_ms)) printf(", winner %.5f ms", gpu->winner_ms);
    if (gpu->left_out[0]) printf("; left out: %s", gpu->left_out);
    printf("\n");
  }
}

static void print_outcomes(const struct tuned *row) {
  const struct tune_result *result = &row->result;
  struct text text = {0};
  planned_task_text(&row->task, &text);
  printf("%s: %ld tried", text_string(&text), result->tally.tried);
  text_free(&text);
  if (result->tally.recalled > 0) printf(" (%ld of them by earlier runs)", result->tally.recalled);
  if (result->tally.twins > 0) printf(" (%ld have the machine code of another variant)", result->tally.twins);
  if (result->tally.hinted > 0) printf(" (%ld as hints)", result->tally.hinted);
  const char *separator = ": ";
  for (int i = 0; i < OUTCOME_COUNT; i++) {
    if (result->tally.outcomes[i] == 0) continue;
    printf("%s%ld %s", separator, result->tally.outcomes[i], outcome_name((enum outcome)i));
    separator = ", ";
  }
  if (result->winner.finalists > 0)
    printf("; %d finalist%s", result->winner.finalists, PLURAL(result->winner.finalists));
  if (result->winner.ties > 0)
    printf(", %d beside the winner within %g %% of the fastest", result->winner.ties,
           round((FINALS_TIE_RATIO - 1) * 1e4) / 100);
  if (!isnan(result->winner.energy_mj)) {
    printf("; %.5g mJ an application", result->winner.energy_mj);
    if (!isnan(result->winner.idle_w)) printf(" (the waiting GPU draws %.3g W)", result->winner.idle_w);
  }
  if (result->winner.other_processes > 0)
    printf("; %d other process%s on the GPU when the finals began: times may be off", result->winner.other_processes,
           result->winner.other_processes == 1 ? " computed" : "es computed");
  if (result->winner.exists && row->task.launch_steps > 1)
    printf("; %.5f ms a step", result->winner.timing.median_ms / row->task.launch_steps);
  if (result->winner.exists && result->winner.drawn_points > 0)
    printf("; the fields fill the GPU's memory: variants were compared at %lld drawn points, the winner at all",
           result->winner.drawn_points);
  if (result->winner.exists && !result->winner.second_grid[0] && !row->is_recorded)
    printf("; not verified on a second grid");
  if (result->winner.exists && !result->is_complete) printf("; %s", result->reason);
  if (result->remark[0]) printf("; %s", result->remark);
  printf("\n");
  if (result->crew.count > 0) print_crew(&result->crew);
}

/* Whether two rows differ only in their steps. */
static bool is_same_problem(const struct planned_task *left, const struct planned_task *right) {
  return left->stencil == right->stencil && left->dtype == right->dtype &&
         memcmp(&left->grid, &right->grid, sizeof left->grid) == 0;
}

static double step_ms(const struct tuned *row) {
  return row->result.winner.exists ? row->result.winner.timing.median_ms / row->task.launch_steps : INFINITY;
}

/* For a task of single steps, print which number of steps takes the least time a step. */
static void print_fastest_step(const struct tuned *single, const struct tuned *rows, int count) {
  const struct tuned *best = single;
  bool has_others = false;
  struct text text = {0};
  for (int i = 0; i < count; i++) {
    if (&rows[i] == single || !is_same_problem(&rows[i].task, &single->task)) continue;
    has_others = true;
    if (step_ms(&rows[i]) < step_ms(best)) best = &rows[i];
  }
  if (!has_others || single->is_emulated || !single->result.winner.exists) return;
  planned_task_text(&single->task, &text);
  printf("%s: fastest with %d step%s a launch: %.5f ms a step", text_string(&text), best->task.launch_steps,
         PLURAL(best->task.launch_steps), step_ms(best));
  if (best != single) printf(", %.2f times as fast as single steps", step_ms(single) / step_ms(best));
  printf("\n");
  text_free(&text);
}

void tune_table_print(const struct tuned *rows, int count, const struct tune_set *set) {
  const int name_columns = name_columns_of(rows, count);
  const int columns = printf("%-*s %10s %6s %8s %7s %8s %7s", name_columns, "task", "time_ms", "+-%", "GB/s", "of roof",
                             "speed-up", "tried");
  terminal_last_column(columns, "winner");
  bool has_winner = false;
  for (int i = 0; i < count; i++) {
    print_row(&rows[i], set, name_columns);
    has_winner = has_winner || rows[i].result.winner.exists;
  }
  printf("\n");
  if (has_winner) {
    printf(
        "+-%%: half of the 95 %% interval; of roof: of the fastest copy of the same bytes; speed-up: over the default "
        "variant\n");
  }
  for (int i = 0; i < count; i++) {
    if (rows[i].is_done) print_outcomes(&rows[i]);
  }
  for (int i = 0; i < count; i++) {
    if (rows[i].task.launch_steps == 1) print_fastest_step(&rows[i], rows, count);
  }
}

enum { SETUP_S = 8 }; /* time of a task for its worker, reference and roof; 1 to 11 s were measured on an H200 */

/* Append "68 s", or for more than two minutes "44 minutes", rounded up. */
static void time_add(double time_s, struct text *text) {
  const double minute_s = 60;
  const double whole_s = round(time_s); /* nine minutes may come as 540.0000001 s */
  if (whole_s > 2 * minute_s) text_printf(text, "%.0f minutes", ceil(whole_s / minute_s));
  else text_printf(text, "%.0f s", whole_s);
}

/* Append how long the tasks take. This is an estimate: a search may end sooner, and the set-up takes longer on few
 * cores. */
static void plan_time_add(const struct task_list *plan, const struct tune_options *options, double start_ms, int rounds,
                          struct text *text) {
  double all_s = plan->task_count * SETUP_S;
  bool is_equal = true;
  for (int i = 0; i < plan->task_count; i++) {
    all_s += tune_task_budget_s(&plan->tasks[i], options);
    is_equal = is_equal && tune_task_budget_s(&plan->tasks[i], options) == tune_task_budget_s(&plan->tasks[0], options);
  }
  if (plan->task_count > 0) all_s *= (double)rounds / plan->task_count;
  const double deadline_s = (options->deadline_ms - start_ms) * 1e-3;
  if (!isfinite(all_s)) {
    text_printf(text, "%d task%s without a limit of time", plan->task_count, PLURAL(plan->task_count));
    return;
  }
  text_printf(text, "%d task%s", plan->task_count, PLURAL(plan->task_count));
  if (is_equal && plan->task_count > 0) text_printf(text, " of %g s", tune_task_budget_s(&plan->tasks[0], options));
  text_printf(text, ", and about %d s of set-up%s: about ", SETUP_S, plan->task_count == 1 ? "" : " each");
  time_add(all_s, text);
  if (deadline_s >= all_s) return;
  text_printf(text, "; --deadline leaves only ");
  time_add(deadline_s, text);
}

void task_list_print(const struct task_list *plan, const struct tune_options *options, double start_ms, int rounds,
                     FILE *file) {
  struct text time = {0};
  plan_time_add(plan, options, start_ms, rounds, &time);
  fprintf(stderr, "halotune: %s\n", text_string(&time));
  text_free(&time);
  for (int i = 0; i < plan->task_count; i++) {
    struct text text = {0};
    planned_task_text(&plan->tasks[i], &text);
    fprintf(file, "%s%s\n", file == stderr ? "  " : "", text_string(&text));
    text_free(&text);
  }
}
