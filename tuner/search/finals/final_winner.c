/* final_winner.c: the winner's last checks, and its row. */
#include "tuner/search/finals/final_winner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tuner/search/finals/final_store.h"
#include "tuner/search/finals/grid_check.h"
#include "tuner/search/finals/second_grid.h"

enum { MOST_WINNERS_TRIED = 4 };

/* List the finalists in the form of the store. Their ratios are to the winner. Returns NULL when memory is out. */
static struct finalist *list_finalists(const struct final_inputs *in, const struct finals *finals, int *count) {
  struct finalist *list = calloc((size_t)finals->count + 1, sizeof *list);
  *count = 0;
  for (int i = 0; list && i < finals->count; i++) {
    const struct final_entry *entry = &finals->entries[i];
    if (!entry->is_finalist || entry->rank == 0) continue;
    list[(*count)++] = (struct finalist){.variant = in->timed->list[entry->candidate].variant,
                                         .rank = entry->rank,
                                         .timing = entry->timing,
                                         .ratio = entry->ratio,
                                         .ratio_low = entry->ratio_low,
                                         .ratio_high = entry->ratio_high,
                                         .is_default = entry->is_default,
                                         .is_tie = entry->is_tie,
                                         .energy_mj = entry->energy_mj,
                                         .energy_low_mj = entry->energy_low_mj,
                                         .energy_high_mj = entry->energy_high_mj};
    list[*count - 1].timing.samples = entry->samples;
  }
  return list;
}

static void report_winner(const struct final_inputs *in, const struct finals *finals, const char *second_grid,
                          struct final_winner *out) {
  const struct final_entry *winner = &finals->entries[0];
  const struct timed_variant *timed = &in->timed->list[winner->candidate];
  const struct proposal *proposal = &timed->proposal;
  const struct template *template = in->space->templates[proposal->template_index];
  size_t length = 0;
  snprintf(out->template_name, sizeof out->template_name, "%s", template->name);
  for (int i = 0; i < template->parameter_count && length < sizeof out->parameters; i++) {
    const struct parameter *parameter = &template->parameters[i];
    length += (size_t)snprintf(out->parameters + length, sizeof out->parameters - length, "%s%s=%s", i ? " " : "",
                               parameter->name, parameter->words[proposal->configuration.choice[i]]);
  }
  snprintf(out->second_grid, sizeof out->second_grid, "%s", second_grid);
  out->exists = true;
  out->is_hinted = timed->is_hinted;
  out->timing = winner->timing;
  out->timing.samples = NULL;
  out->default_ms = finals->default_ms;
  out->roof_ms = finals->roof_ms;
  out->roof_ratio = finals->roof_ratio;
  out->roof_ratio_low = finals->roof_ratio_low;
  out->roof_ratio_high = finals->roof_ratio_high;
  out->empty_ms = finals->empty_ms;
  out->energy_mj = winner->energy_mj;
  out->energy_low_mj = winner->energy_low_mj;
  out->energy_high_mj = winner->energy_high_mj;
  out->idle_w = finals->idle_w;
  for (int i = 0; i < finals->count; i++) {
    out->finalists += finals->entries[i].is_finalist;
    out->ties += i > 0 && finals->entries[i].is_finalist && finals->entries[i].is_tie;
  }
}

/* Each row of a winner has this value, but a recording may lack it. */
static double known_or(double value, double unknown) { return isnan(value) ? unknown : value; }

/* Store finalists, run and winner together. */
static halotune_status store_winner(const struct final_inputs *in, const struct final_rounds *rounds,
                                    const struct trial *trial, const char *second_grid, const char *partial,
                                    bool *is_current) {
  const struct finals *finals = &rounds->finals;
  const struct final_entry *winner = &finals->entries[0];
  const struct run_rows *rows = in->rows;
  const struct measurement *result = &trial->result;
  int count;
  const struct best best = {.problem = rows->problem,
                            .variant = in->timed->list[winner->candidate].variant,
                            .run = rows->run,
                            .driver = rows->driver,
                            .nvrtc = rows->nvrtc,
                            .arch = in->task->arch_name,
                            .second_grid = second_grid,
                            .timing = winner->timing,
                            .default_ms = finals->default_ms,
                            .roof_ms = finals->roof_ms,
                            .roof_ratio = finals->roof_ratio,
                            .roof_ratio_low = finals->roof_ratio_low,
                            .roof_ratio_high = finals->roof_ratio_high,
                            .empty_ms = finals->empty_ms,
                            .bytes = task_bytes(in->task),
                            .rms_error = known_or(result->rms_error, -1),
                            .max_error = known_or(result->max_error, -1),
                            .max_error_units = known_or(result->max_error_units, -1),
                            .registers = result->registers,
                            .shared_bytes = result->shared_bytes,
                            .occupancy = known_or(result->occupancy, 0),
                            .launch = &trial->generated.launch,
                            .coefficients = in->task->coefficients,
                            .coefficient_count = in->task->stencil->coefficient_count,
                            .source = trial->generated.source,
                            .cubin = trial->compiled.cubin,
                            .cubin_bytes = trial->compiled.cubin_bytes,
                            .objective = objective_names[isnan(winner->energy_mj) ? OBJECTIVE_TIME : in->objective],
                            .energy_mj = winner->energy_mj};
  const struct run_end end = {.is_complete = !partial,
                              .reason = partial ? partial : "",
                              .empty_ms = finals->empty_ms,
                              .copy_ms = rounds->copy_ms,
                              .memcpy_ms = rounds->memcpy_ms,
                              .warnings = text_string(&rounds->warnings),
                              .idle_w = finals->idle_w};
  struct finalist *finalists = list_finalists(in, finals, &count);
  if (!finalists) return fail_memory();
  halotune_status status = store_final(rows->store, rows->run, finalists, count, &best, &end, is_current);
  free(finalists);
  return status;
}

/* Tell the crew which finalist is the winner. It writes how fast the winner is on each GPU. */
static void tell_winner(const struct final_inputs *in, struct final_rounds *rounds) {
  const struct final_entry *winner = &rounds->finals.entries[0];
  for (int i = 0; i < rounds->told_count; i++) {
    if (rounds->told[i] == winner->candidate)
      in->crew->table->won(in->crew->state, i, winner->timing.median_ms, &rounds->warnings);
  }
}

/* The trial of the winner, with what the search found out about it. */
static struct trial *complete_winner(const struct final_inputs *in, const struct final_rounds *rounds) {
  const int candidate = rounds->finals.entries[0].candidate;
  const struct timed_variant *timed = &in->timed->list[candidate];
  struct trial *trial = rounds->trials[candidate];
  struct measurement *result = &trial->result;
  result->rms_error = timed->rms_error;
  result->max_error = timed->max_error;
  result->max_error_units = timed->max_error_units;
  result->registers = timed->registers;
  result->shared_bytes = timed->shared_bytes;
  result->occupancy = timed->occupancy;
  source_strip_lines(trial->generated.source);
  return trial;
}

/* Remove the first by rank, which was wrong in its last checks. Its newest result says so.
 *   where  "on the grid 40x50x60" */
static halotune_status reject_first(const struct final_inputs *in, const char *where, const struct verdict *verdict,
                                    struct final_rounds *rounds) {
  struct text reason = {0};
  text_printf(&reason, "%s: %s", where, verdict->reason);
  text_printf(&rounds->warnings, "the first by rank was %s %s\n", outcome_name(verdict->outcome), text_string(&reason));
  const int first = rounds->finals.entries[0].candidate;
  halotune_status status = final_store_failed(in, first, verdict->outcome, text_string(&reason));
  text_free(&reason);
  return status == HALOTUNE_OK ? finals_reject(&rounds->finals, verdict) : status;
}

/* The time that is left for the last checks of a run that is stopped. All winners that are tried share it. */
struct checks_left {
  double everywhere_ms; /* at all points. Without this comparison there is no winner. It can take half a minute */
  double second_ms;     /* on second grids: a compile, and a run */
};
static const struct checks_left all_left = {.everywhere_ms = 60000, .second_ms = 5000};

/* Compare the first by rank with the reference at all points of the task's grid. */
static halotune_status check_everywhere(const struct final_inputs *in, struct checks_left *left,
                                        struct final_rounds *rounds, struct verdict *verdict) {
  enum { SEED = 1 }; /* as in the search: these are the fields on which it was measured */
  const struct trial *trial = rounds->trials[rounds->finals.entries[0].candidate];
  const struct last_checks checks = schedule_last_checks(in->schedule, left->everywhere_ms);
  const struct ending ending = last_checks_ending(&checks);
  struct scene scene = {.launches = 0};
  run_progress_show(in->progress, "winner at all points");
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  const halotune_status status = grid_check(in, in->task, SEED, trial, &ending, &scene, &rounds->warnings, verdict);
  left->everywhere_ms = checks.until_ms - schedule_now_ms(in->schedule);
  scene_free(&scene);
  return status;
}

/* Verify the first by rank on the second grid, which a recording cannot do. */
static halotune_status check_second_grid(const struct final_inputs *in, struct checks_left *left,
                                         struct final_rounds *rounds, char grid[GRID_TEXT_BYTES],
                                         struct verdict *verdict) {
  const struct proposal *proposal = &in->timed->list[rounds->finals.entries[0].candidate].proposal;
  run_progress_show(in->progress, "second grid");
  if (in->backend->facts.is_recording) {
    *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
    snprintf(verdict->reason, sizeof verdict->reason, "a recording cannot run it");
    return HALOTUNE_OK;
  }
  const struct last_checks checks = schedule_last_checks(in->schedule, left->second_ms);
  const struct ending ending = last_checks_ending(&checks);
  const halotune_status status = second_grid_check(in, proposal, &ending, &rounds->warnings, grid, verdict);
  left->second_ms = checks.until_ms - schedule_now_ms(in->schedule);
  return status;
}

/* Do the last checks of the first by rank. The first that fails decides.
 *   is_drawn  so far it was compared in drawn boxes
 *   grid      receives the second grid
 *   where     receives where it is wrong */
static halotune_status check_first(const struct final_inputs *in, bool is_drawn, struct checks_left *left,
                                   struct final_rounds *rounds, char grid[GRID_TEXT_BYTES], char where[96],
                                   struct verdict *verdict) {
  halotune_status status = is_drawn ? check_everywhere(in, left, rounds, verdict) : HALOTUNE_OK;
  snprintf(where, 96, "compared at all points");
  if (status != HALOTUNE_OK || (is_drawn && verdict->outcome != OUTCOME_MEASURED)) return status;
  status = check_second_grid(in, left, rounds, grid, verdict);
  snprintf(where, 96, "on the grid %s", grid);
  return status;
}

halotune_status winner_choose(const struct final_inputs *in, const char *partial, struct final_rounds *rounds,
                              struct final_winner *out) {
  struct finals *finals = &rounds->finals;
  const long long drawn_points = backend_drawn_points(in->backend); /* the checks put other problems on the device */
  struct checks_left left = all_left;
  for (int tried = 0; tried < MOST_WINNERS_TRIED && finals->ranked > 0; tried++) {
    struct verdict verdict;
    char grid[GRID_TEXT_BYTES] = "", where[96];
    if (!schedule_is_stopped(in->schedule)) left = all_left;
    halotune_status status = check_first(in, drawn_points > 0, &left, rounds, grid, where, &verdict);
    if (status == HALOTUNE_OK && verdict.outcome != OUTCOME_MEASURED) {
      if ((status = reject_first(in, where, &verdict, rounds)) == HALOTUNE_OK) continue;
    }
    if (status != HALOTUNE_OK) return status;
    if (drawn_points > 0) text_printf(&rounds->warnings, "the winner was compared with the reference at all points\n");
    if (!grid[0]) text_printf(&rounds->warnings, "not verified on a second grid: %s\n", verdict.reason);
    tell_winner(in, rounds);
    status = store_winner(in, rounds, complete_winner(in, rounds), grid, partial, &out->is_current);
    if (status == HALOTUNE_OK) report_winner(in, finals, grid, out);
    out->drawn_points = drawn_points;
    return status;
  }
  return HALOTUNE_OK;
}
