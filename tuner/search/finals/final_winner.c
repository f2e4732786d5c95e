/* final_winner.c: from the rounds to the winner in the store: the second grid, one row. */
#include <stdio.h>
#include <stdlib.h>

#include "tuner/search/finals/final_inputs.h"

enum { MOST_WINNERS_TRIED = 4 };

/* Ratios are to the winner. */
static struct finalist *list_finalists(const struct final_phase *phase, int *count) {
  const struct finals *finals = &phase->finals;
  struct finalist *list = calloc((size_t)finals->count + 1, sizeof *list);
  *count = 0;
  for (int i = 0; list && i < finals->count; i++) {
    const struct final_entry *entry = &finals->entries[i];
    if (!entry->is_finalist || entry->rank == 0) continue;
    list[(*count)++] = (struct finalist){.variant = phase->session->timed.list[entry->candidate].variant,
                                         .rank = entry->rank,
                                         .timing = entry->timing,
                                         .ratio = entry->ratio,
                                         .ratio_low = entry->ratio_low,
                                         .ratio_high = entry->ratio_high,
                                         .is_default = entry->is_default,
                                         .is_tie = entry->is_tie};
    list[*count - 1].timing.samples = entry->samples;
  }
  return list;
}

static struct run_end end_of(const struct final_phase *phase) {
  return (struct run_end){.is_complete = phase->session->result->is_complete,
                          .reason = phase->session->result->reason,
                          .empty_ms = phase->finals.empty_ms,
                          .copy_ms = phase->copy_ms,
                          .memcpy_ms = phase->memcpy_ms,
                          .warnings = text_string(&phase->warnings)};
}

static void report_winner(struct final_phase *phase, const struct final_entry *entry, const char *second_grid) {
  struct session *session = phase->session;
  struct tune_result *result = session->result;
  const struct finals *finals = &phase->finals;
  const struct timed_variant *timed = &session->timed.list[entry->candidate];
  const struct proposal *proposal = &timed->proposal;
  const struct template *template = session->space.templates[proposal->template_index];
  size_t length = 0;
  snprintf(result->template_name, sizeof result->template_name, "%s", template->name);
  for (int i = 0; i < template->parameter_count && length < sizeof result->parameters; i++) {
    const struct parameter *parameter = &template->parameters[i];
    length += (size_t)snprintf(result->parameters + length, sizeof result->parameters - length, "%s%s=%s", i ? " " : "",
                               parameter->name, parameter->words[proposal->configuration.choice[i]]);
  }
  snprintf(result->second_grid, sizeof result->second_grid, "%s", second_grid);
  result->has_winner = true;
  result->is_hinted = timed->is_hinted;
  result->timing = entry->timing;
  result->timing.samples = NULL;
  result->default_ms = finals->default_ms;
  result->roof_ms = finals->roof_ms;
  result->roof_ratio = finals->roof_ratio;
  result->roof_ratio_low = finals->roof_ratio_low;
  result->roof_ratio_high = finals->roof_ratio_high;
  result->empty_ms = finals->empty_ms;
  for (int i = 0; i < finals->count; i++) {
    result->finalists += finals->entries[i].is_finalist;
    result->ties += &finals->entries[i] != entry && finals->entries[i].is_finalist && finals->entries[i].is_tie;
  }
}

/* Store finalists, run and winner together. */
static halotune_status store_winner(struct final_phase *phase, const struct final_entry *entry, struct trial *trial,
                                    const char *second_grid) {
  struct session *session = phase->session;
  const struct finals *finals = &phase->finals;
  const struct backend_facts *facts = &session->tools->backend->facts;
  const struct nvrtc_name nvrtc = session_nvrtc(session);
  int count;
  struct best best = {.problem = session->problem_id,
                      .variant = session->timed.list[entry->candidate].variant,
                      .run = session->run_id,
                      .origin = "tuned",
                      .driver = facts->driver,
                      .nvrtc = nvrtc.text,
                      .arch = session->task->arch_name,
                      .second_grid = second_grid,
                      .timing = entry->timing,
                      .default_ms = finals->default_ms,
                      .roof_ms = finals->roof_ms,
                      .roof_ratio = finals->roof_ratio,
                      .roof_ratio_low = finals->roof_ratio_low,
                      .roof_ratio_high = finals->roof_ratio_high,
                      .empty_ms = finals->empty_ms,
                      .bytes = task_bytes(session->task),
                      .rms_error = trial->result.rms_error,
                      .max_error = trial->result.max_error,
                      .max_error_units = trial->result.max_error_units,
                      .registers = trial->result.registers,
                      .shared_bytes = trial->result.shared_bytes,
                      .occupancy = trial->result.occupancy,
                      .launch = &trial->generated.launch,
                      .coefficients = session->task->coefficients,
                      .coefficient_count = session->task->stencil->coefficient_count,
                      .source = trial->generated.source,
                      .cubin = trial->compiled.cubin,
                      .cubin_bytes = trial->compiled.cubin_bytes};
  struct run_end end = end_of(phase);
  source_strip_lines(trial->generated.source);
  struct finalist *finalists = list_finalists(phase, &count);
  if (!finalists) return fail_memory();
  halotune_status status =
      store_final(session->tools->store, session->run_id, finalists, count, &best, &end, &session->result->is_current);
  free(finalists);
  return status;
}

/* The trial of an entry, built once more, with what the search found. */
static halotune_status build_winner(struct final_phase *phase, const struct final_entry *entry, struct trial **out) {
  struct session *session = phase->session;
  const struct timed_variant *timed = &session->timed.list[entry->candidate];
  const struct template *template = session->space.templates[timed->proposal.template_index];
  halotune_status status = session_build(session, session->task, template, &timed->proposal, out);
  if (status != HALOTUNE_OK) return status;
  if (!(*out)->is_over) {
    (*out)->result.rms_error = timed->rms_error;
    (*out)->result.max_error = timed->max_error;
    (*out)->result.max_error_units = timed->max_error_units;
    (*out)->result.registers = timed->registers;
    (*out)->result.shared_bytes = timed->shared_bytes;
    (*out)->result.occupancy = timed->occupancy;
    return HALOTUNE_OK;
  }
  status = fail(HALOTUNE_COMPILE, "the winner does not compile any more: %s", (*out)->reason);
  trial_free(*out);
  *out = NULL;
  return status;
}

/* The winner of the rounds was wrong on the second grid: it leaves, and its result of this run says so from now on. */
static halotune_status reject(struct final_phase *phase, const char *grid, struct verdict *verdict) {
  struct text reason = {0};
  text_printf(&reason, "on the grid %s: %s", grid, verdict->reason);
  text_printf(&phase->warnings, "the first by rank was %s %s\n", outcome_name(verdict->outcome), text_string(&reason));
  const int winner = phase->finals.entries[0].candidate;
  halotune_status status = final_phase_failed(phase, winner, verdict->outcome, text_string(&reason));
  text_free(&reason);
  return status == HALOTUNE_OK ? finals_reject(&phase->finals, verdict) : status;
}

/* What the second grid says of the winner of the rounds. */
static halotune_status check_winner(struct final_phase *phase, char grid[64], struct verdict *verdict) {
  struct session *session = phase->session;
  const struct final_entry *winner = &phase->finals.entries[0];
  session_show(session, "second grid");
  if (!session->tools->backend->facts.is_recording)
    return second_grid_check(session, &session->timed.list[winner->candidate].proposal, grid, verdict);
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  snprintf(verdict->reason, sizeof verdict->reason, "a recording runs nothing");
  return HALOTUNE_OK;
}

/* A winner of a search that the deadline cut short is one of less than was asked for. */
static void say_how_complete(struct session *session) {
  struct tune_result *result = session->result;
  result->is_complete = !session->is_cut;
  if (session->is_cut) snprintf(result->reason, sizeof result->reason, "%s", "the deadline cut the search short");
}

halotune_status winner_choose(struct final_phase *phase) {
  for (int tried = 0; tried < MOST_WINNERS_TRIED && phase->finals.ranked > 0; tried++) {
    struct verdict verdict;
    struct trial *trial;
    char grid[64] = "";
    halotune_status status = check_winner(phase, grid, &verdict);
    if (status == HALOTUNE_OK && verdict.outcome != OUTCOME_MEASURED) {
      if ((status = reject(phase, grid, &verdict)) == HALOTUNE_OK) continue;
    }
    if (status != HALOTUNE_OK) return status;
    const struct final_entry *winner = &phase->finals.entries[0];
    if (!grid[0]) text_printf(&phase->warnings, "not verified on a second grid: %s\n", verdict.reason);
    if ((status = build_winner(phase, winner, &trial)) != HALOTUNE_OK || !trial) return status;
    say_how_complete(phase->session);
    status = store_winner(phase, winner, trial, grid);
    trial_free(trial);
    if (status != HALOTUNE_OK) return status;
    report_winner(phase, winner, grid);
    return HALOTUNE_OK;
  }
  return HALOTUNE_OK;
}
