/* tune_text.c: results in columns. */
#include "tuner/cli/tune/tune_results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tuner/measure/finals/finals.h"

static double bandwidth_gbs(const struct tune_result *result) {
  return (double)result->bytes / result->timing.median_ms * 1e-6;
}

/* A figure of a GPU's memory, which times of an emulation cannot tell. */
static double of_memory(const struct tuned *row, double figure) { return row->is_emulated ? NAN : figure; }

static double speed_up(const struct tune_result *result) { return result->default_ms / result->timing.median_ms; }

static void print_figure(const char *format, int width, double figure) {
  if (isnan(figure)) printf(" %*s", width, "-");
  else printf(format, width, figure);
}

/* Of a compiler's complaint the first line. */
static void print_first_failure(const struct tune_result *result) {
  if (!result->first_reason[0]) return;
  printf("  the first failure: %s: %.*s\n", outcome_name(result->first_failure),
         (int)strcspn(result->first_reason, "\n"), result->first_reason);
}

static void print_row(const struct tuned *row) {
  const struct tune_result *result = &row->result;
  struct text text = {0};
  planned_task_text(row->task, &text);
  printf("%-32s", text_string(&text));
  text_free(&text);
  if (result->has_winner) {
    double half_percent = 50 * (result->timing.high_ms - result->timing.low_ms) / result->timing.median_ms;
    printf(" %10.5f", result->timing.median_ms);
    print_figure(" %*.2f", 6, half_percent);
    print_figure(" %*.1f", 8, of_memory(row, bandwidth_gbs(result)));
    print_figure(" %*.3f", 7, of_memory(row, result->roof_ratio));
    print_figure(" %*.2f", 8, speed_up(result));
    printf(" %7ld  %s %s%s\n", result->tried, result->template_name, result->parameters,
           result->is_current ? "" : "  (an earlier one is still the best)");
  } else {
    printf(" no winner: %s\n", row->is_done ? result->reason : "not begun");
    print_first_failure(result);
  }
}

static void print_outcomes(const struct tuned *row) {
  const struct tune_result *result = &row->result;
  struct text text = {0};
  planned_task_text(row->task, &text);
  printf("%s: %ld tried", text_string(&text), result->tried);
  text_free(&text);
  if (result->recalled > 0) printf(" (%ld of them by earlier runs)", result->recalled);
  if (result->twins > 0) printf(" (%ld with the machine code of another)", result->twins);
  if (result->hinted > 0) printf(" (%ld as hints)", result->hinted);
  const char *separator = ": ";
  for (int i = 0; i < OUTCOME_COUNT; i++) {
    if (result->outcomes[i] == 0) continue;
    printf("%s%ld %s", separator, result->outcomes[i], outcome_name((enum outcome)i));
    separator = ", ";
  }
  if (result->finalists > 0) printf("; %d finalist%s", result->finalists, PLURAL(result->finalists));
  if (result->ties > 0)
    printf(", %d beside the winner within %g %% of the fastest", result->ties,
           round((FINALS_TIE_RATIO - 1) * 1e4) / 100);
  if (result->other_processes > 0)
    printf("; %d other process%s on the GPU when the finals began: times may be off", result->other_processes,
           result->other_processes == 1 ? " computed" : "es computed");
  if (result->has_winner && !result->second_grid[0] && !row->is_recorded) printf("; second grid: none fits the winner");
  if (result->has_winner && !result->is_complete) printf("; %s", result->reason);
  printf("\n");
}

void tune_table_print(const struct tuned *rows, int count) {
  printf("%-32s %10s %6s %8s %7s %8s %7s  %s\n", "task", "time_ms", "+-%", "GB/s", "of roof", "speed-up", "tried",
         "winner");
  bool has_winner = false;
  for (int i = 0; i < count; i++) {
    print_row(&rows[i]);
    has_winner = has_winner || rows[i].result.has_winner;
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
}

static json_t *grid_json(const struct grid *grid) {
  json_t *json = json_array();
  for (int axis = 0; axis < MAX_DIMS; axis++) json_add(&json, json_integer(grid->n[axis]));
  return json;
}

static json_t *outcomes_json(const struct tune_result *result) {
  json_t *json = json_object();
  for (int i = 0; i < OUTCOME_COUNT; i++)
    json_put(&json, outcome_name((enum outcome)i), json_integer(result->outcomes[i]));
  return json;
}

/* The bytes of unknown and of known fields, of which the effective bandwidth of a stencil that iterates is made. */
static void put_field_bytes(json_t **json, const struct planned_task *task) {
  const struct analysis *analysis = task->stencil->loaded.analysis;
  const long long points = (long long)task->grid.n[0] * task->grid.n[1] * task->grid.n[2];
  const int unknown = analysis->unknown_bytes_per_point[task->dtype],
            known = analysis->known_bytes_per_point[task->dtype];
  json_put(json, "unknown_bytes", unknown > 0 ? json_integer(unknown * points) : json_null());
  json_put(json, "known_bytes", unknown > 0 ? json_integer(known * points) : json_null());
}

static void put_winner(json_t **json, const struct tuned *row) {
  const struct tune_result *result = &row->result;
  json_put(json, "template", text_json(result->template_name));
  json_put(json, "parameters", text_json(result->parameters));
  json_put(json, "second_grid", result->second_grid[0] ? text_json(result->second_grid) : json_null());
  json_put(json, "time_ms", number_json(result->timing.median_ms));
  json_put(json, "time_low_ms", number_json(result->timing.low_ms));
  json_put(json, "time_high_ms", number_json(result->timing.high_ms));
  json_put(json, "samples", json_integer(result->timing.sample_count));
  json_put(json, "bandwidth_gbs", number_json(of_memory(row, bandwidth_gbs(result))));
  put_field_bytes(json, row->task);
  json_put(json, "roof_ms", number_json(of_memory(row, result->roof_ms)));
  json_put(json, "share_of_roof", number_json(of_memory(row, result->roof_ratio)));
  json_put(json, "share_of_roof_low", number_json(of_memory(row, result->roof_ratio_low)));
  json_put(json, "share_of_roof_high", number_json(of_memory(row, result->roof_ratio_high)));
  json_put(json, "default_ms", number_json(result->default_ms));
  json_put(json, "speed_up", number_json(speed_up(result)));
  json_put(json, "empty_ms", number_json(result->empty_ms));
  json_put(json, "finalists", json_integer(result->finalists));
  json_put(json, "ties", json_integer(result->ties));
  json_put(json, "is_hinted", json_boolean(result->is_hinted));
  json_put(json, "is_current", json_boolean(result->is_current));
}

json_t *tuned_json(const struct tuned *row) {
  const struct tune_result *result = &row->result;
  json_t *json = json_object();
  json_put(&json, "stencil", text_json(row->task->stencil->loaded.stencil->name));
  json_put(&json, "dtype", text_json(dtype_names[row->task->dtype]));
  json_put(&json, "grid", grid_json(&row->task->grid));
  json_put(&json, "launch", text_json(launch_mode_names[result->launch]));
  json_put(&json, "reproducible", json_boolean(row->reproducible));
  json_put(&json, "complete", json_boolean(result->is_complete));
  json_put(&json, "reason", text_json(result->reason));
  json_put(&json, "tried", json_integer(result->tried));
  json_put(&json, "recalled", json_integer(result->recalled));
  json_put(&json, "twins", json_integer(result->twins));
  json_put(&json, "hinted", json_integer(result->hinted));
  json_put(&json, "outcomes", outcomes_json(result));
  json_put(&json, "setup_s", number_json(result->setup_s));
  json_put(&json, "search_s", number_json(result->search_s));
  json_put(&json, "final_s", number_json(result->final_s));
  json_put(&json, "other_processes", json_integer(result->other_processes));
  json_put(&json, "winner", json_null());
  if (!result->has_winner) return json;
  json_t *winner = json_object();
  put_winner(&winner, row);
  json_put(&json, "winner", winner);
  return json;
}
