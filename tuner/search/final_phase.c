/* final_phase.c: from variants with a time to the winner in the store: interleaved rounds, the second grid, one row. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tuner/bench/finals.h"
#include "tuner/search/session.h"

enum { FIRST_ROOF_SLOT = FINALS_SLOTS, MOST_WINNERS_TRIED = 4, MOST_AHEAD = 2 * FINALS_ENTRANTS };

struct final_phase {
  struct session *session;
  struct final_candidate *candidates; /* as session->timed */
  struct trial **built;               /* a candidate each, compiled and not yet loaded; NULL: not yet compiled, or loaded */
  struct trial *loaded[FINALS_SLOTS]; /* by slot */
  struct roof roof;
  struct finals finals;
  double copy_ms, memcpy_ms; /* in the final rounds; NaN where there is none */
  struct text warnings;      /* a line each */
};

/* --- compiled ahead ------------------------------------------------------------------------------------------------------- */

static halotune_status begin_trial(struct session *session, const struct proposal *proposal, struct trial **out) {
  const struct template *template = session->space.templates[proposal->template_index];
  return trial_begin(session->task, template, proposal, &session->task->grid, out);
}

/* Take one trial out of the pipeline to its candidate. */
static halotune_status take_built(struct final_phase *phase) {
  struct session *session = phase->session;
  struct trial *trial;
  halotune_status status = pipeline_take(session->pipeline, -1, &trial);
  if (status != HALOTUNE_OK || !trial) return status;
  for (long i = 0; i < session->timed.count; i++) {
    if (phase->built[i] || memcmp(&trial->proposal, &session->timed.list[i].proposal, sizeof trial->proposal) != 0) continue;
    phase->built[i] = trial;
    return HALOTUNE_OK;
  }
  trial_free(trial);
  return HALOTUNE_OK;
}

/* Compile those that will most likely enter, on all cores at once, so that the device waits for none of them. */
static halotune_status build_ahead(struct final_phase *phase) {
  struct session *session = phase->session;
  double most_ms = FINALS_ENTRY_RATIO * timed_best_ms(&session->timed);
  halotune_status status = HALOTUNE_OK;
  int begun = 0;
  for (long i = 0; i < session->timed.count && begun < MOST_AHEAD && status == HALOTUNE_OK; i++) {
    const struct timed_variant *timed = &session->timed.list[i];
    struct trial *trial;
    if (session_is_stopped(session)) break;
    if (!timed->is_default && !(timed->outcome == OUTCOME_MEASURED && timed->median_ms / timed->scale <= most_ms)) continue;
    while (status == HALOTUNE_OK && !pipeline_has_room(session->pipeline)) status = take_built(phase);
    if (status == HALOTUNE_OK) status = begin_trial(session, &timed->proposal, &trial);
    if (status != HALOTUNE_OK) break;
    begun++;
    if (trial->is_over) phase->built[i] = trial;
    else status = pipeline_put(session->pipeline, trial, session->task);
  }
  while (status == HALOTUNE_OK && !pipeline_is_empty(session->pipeline)) status = take_built(phase);
  return status;
}

/* --- callbacks ------------------------------------------------------------------------------------------------------------ */

/* The trial of a candidate, compiled: the caller's. */
static halotune_status take_trial(struct final_phase *phase, int candidate, struct trial **out) {
  struct session *session = phase->session;
  const struct proposal *proposal = &session->timed.list[candidate].proposal;
  *out = phase->built[candidate];
  phase->built[candidate] = NULL;
  if (*out) return HALOTUNE_OK;
  return session_build(session, session->task, session->space.templates[proposal->template_index], proposal, out);
}

static halotune_status load(void *state, int candidate, int slot, struct verdict *verdict) {
  struct final_phase *phase = state;
  struct session *session = phase->session;
  struct trial *trial;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  halotune_status status = take_trial(phase, candidate, &trial);
  if (status != HALOTUNE_OK) return status;
  if (trial->is_over) {
    verdict->outcome = trial->result.outcome;
    snprintf(verdict->reason, sizeof verdict->reason, "%s", trial->reason);
    trial_free(trial);
    return HALOTUNE_OK;
  }
  status = session_load(session, slot, trial, false, verdict);
  trial_free(phase->loaded[slot]);
  phase->loaded[slot] = trial;
  session_show(session, "finals");
  return status;
}

/* A screened variant was measured fully after all. */
static halotune_status take_measured(void *state, int candidate, const struct measured *measured) {
  struct final_phase *phase = state;
  struct session *session = phase->session;
  const struct timed_variant *timed = &session->timed.list[candidate];
  return timed->number == 0 ? HALOTUNE_OK
                            : store_measured_again(session->tools->store, session->run_id, timed->variant, measured->verdict.outcome,
                                                   measured->verdict.reason, &measured->timing);
}

static bool is_stopped(void *state) {
  return session_is_stopped(((const struct final_phase *)state)->session);
}

/* --- what goes in --- */

static halotune_status make_candidates(struct final_phase *phase) {
  struct session *session = phase->session;
  size_t room = (size_t)session->timed.count + 1;
  phase->candidates = calloc(room, sizeof *phase->candidates);
  phase->built = calloc(room, sizeof *phase->built);
  if (!phase->candidates || !phase->built) return fail_memory();
  for (long i = 0; i < session->timed.count; i++) {
    const struct timed_variant *timed = &session->timed.list[i];
    phase->candidates[i] = (struct final_candidate){.outcome = timed->outcome,
                                                    .median_ms = timed->median_ms,
                                                    .minimum_ms = timed->minimum_ms,
                                                    .scale = timed->scale,
                                                    .registers = timed->registers,
                                                    .shared_bytes = timed->shared_bytes,
                                                    .order = i,
                                                    .slot = -1,
                                                    .is_default = timed->is_default};
  }
  return HALOTUNE_OK;
}

static halotune_status run_finals(struct final_phase *phase) {
  struct session *session = phase->session;
  struct finals_request request = {.backend = session->tools->backend,
                                   .seed = session->options->seed,
                                   .budget_ms = session->end_ms - clock_ms(),
                                   .scale = session->scale,
                                   .candidates = phase->candidates,
                                   .candidate_count = (int)session->timed.count,
                                   .first_slot = 0,
                                   .slot_count = FINALS_SLOTS,
                                   .roofs = phase->roof.slots,
                                   .roof_count = phase->roof.count,
                                   .load = load,
                                   .measured = take_measured,
                                   .is_stopped = is_stopped,
                                   .state = phase};
  return finals_run(&request, &phase->finals);
}

/* --- what comes out --- */

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

/* The first roof is the driver's copy, the others are kernels. */
static void take_roofs(struct final_phase *phase) {
  phase->copy_ms = phase->memcpy_ms = NAN;
  for (int i = 0; i < phase->roof.count; i++) {
    double *time_ms = phase->roof.slots[i] == SLOT_MEMCPY ? &phase->memcpy_ms : &phase->copy_ms;
    *time_ms = fmin(*time_ms, phase->finals.roofs_ms[i]);
  }
}

static struct run_end end_of(const struct final_phase *phase) {
  const struct finals *finals = &phase->finals;
  return (struct run_end){.is_complete = true,
                          .reason = "",
                          .empty_ms = finals->empty_ms,
                          .copy_ms = phase->copy_ms,
                          .memcpy_ms = phase->memcpy_ms,
                          .warnings = text_string(&phase->warnings)};
}

static void report_winner(struct final_phase *phase, const struct final_entry *entry) {
  struct session *session = phase->session;
  struct tune_result *result = session->result;
  const struct finals *finals = &phase->finals;
  const struct proposal *proposal = &session->timed.list[entry->candidate].proposal;
  const struct template *template = session->space.templates[proposal->template_index];
  size_t length = 0;
  snprintf(result->template_name, sizeof result->template_name, "%s", template->name);
  for (int i = 0; i < template->parameter_count && length < sizeof result->parameters; i++) {
    const struct parameter *parameter = &template->parameters[i];
    length += (size_t)snprintf(result->parameters + length, sizeof result->parameters - length, "%s%s=%s", i ? " " : "",
                               parameter->name, parameter->words[proposal->configuration.choice[i]]);
  }
  result->has_winner = true;
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
    result->ties += finals->entries[i].is_finalist && finals->entries[i].is_tie;
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
  struct finalist *finalists = list_finalists(phase, &count);
  if (!finalists) return fail_memory();
  halotune_status status = store_final(session->tools->store, session->run_id, finalists, count, &best, &end, &session->result->is_current);
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

/* The first by rank that is right on the second grid, too. */
static halotune_status choose_winner(struct final_phase *phase) {
  struct session *session = phase->session;
  for (int i = 0; i < phase->finals.ranked && i < MOST_WINNERS_TRIED; i++) {
    const struct final_entry *entry = &phase->finals.entries[i];
    struct verdict verdict;
    struct trial *trial;
    char grid[64] = "";
    halotune_status status = HALOTUNE_OK;
    verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
    session_show(session, "second grid");
    if (session->tools->backend->facts.is_recording) snprintf(verdict.reason, sizeof verdict.reason, "a recording runs nothing");
    else status = second_grid_check(session, &session->timed.list[entry->candidate].proposal, grid, &verdict);
    if (status != HALOTUNE_OK) return status;
    if (verdict.outcome != OUTCOME_MEASURED) {
      text_printf(&phase->warnings, "rank %d was %s on the grid %s: %s\n", entry->rank, outcome_name(verdict.outcome), grid, verdict.reason);
      continue;
    }
    if (!grid[0]) text_printf(&phase->warnings, "not verified on a second grid: %s\n", verdict.reason);
    if ((status = build_winner(phase, entry, &trial)) != HALOTUNE_OK) return status;
    status = store_winner(phase, entry, trial, grid);
    trial_free(trial);
    if (status != HALOTUNE_OK) return status;
    session->result->is_complete = true;
    report_winner(phase, entry);
    return HALOTUNE_OK;
  }
  return HALOTUNE_OK;
}

/* What the whole phase came to, in the store. */
static halotune_status end_phase(struct final_phase *phase) {
  struct session *session = phase->session;
  const struct finals *finals = &phase->finals;
  if (finals->is_marked) text_printf(&phase->warnings, "the GPU was slowed down during the final rounds\n");
  if (finals->is_scaled) text_printf(&phase->warnings, "the budget was too short for the whole final phase\n");
  halotune_status status = choose_winner(phase);
  if (status != HALOTUNE_OK || session->result->has_winner) return status;
  bool is_stopped_early = finals->ranked == 0 && session_is_stopped(session);
  return session_end_early(session, is_stopped_early ? session_stop_reason(session) : "no finalist was right on both grids");
}

static halotune_status unload_all(struct final_phase *phase) {
  struct backend_handle *backend = phase->session->tools->backend;
  halotune_status status = HALOTUNE_OK;
  for (int slot = 0; slot < FINALS_SLOTS; slot++) {
    halotune_status unloaded = backend->table->unload(backend->state, slot);
    if (status == HALOTUNE_OK) status = unloaded;
    trial_free(phase->loaded[slot]);
    phase->loaded[slot] = NULL;
  }
  roof_close(phase->session, &phase->roof);
  return status;
}

halotune_status session_finals(struct session *session) {
  struct final_phase phase = {.session = session};
  if (session_is_stopped(session)) return session_end_early(session, session_stop_reason(session));
  if (session->timed.count == 0) return session_end_early(session, "no variant was right and had a time");
  text_printf(&phase.warnings, "%s", session->tools->backend->facts.warnings);
  timed_sort(&session->timed);
  halotune_status status = make_candidates(&phase);
  if (status == HALOTUNE_OK) status = build_ahead(&phase);
  if (status == HALOTUNE_OK) status = roof_open(session, FIRST_ROOF_SLOT, &phase.roof);
  if (status == HALOTUNE_OK) status = run_finals(&phase);
  if (status == HALOTUNE_OK) take_roofs(&phase);
  halotune_status unloaded = unload_all(&phase);
  if (status == HALOTUNE_OK) status = unloaded;
  if (status == HALOTUNE_OK) status = end_phase(&phase);
  for (long i = 0; i < session->timed.count && phase.built; i++) trial_free(phase.built[i]);
  finals_free(&phase.finals);
  text_free(&phase.warnings);
  free(phase.candidates);
  free(phase.built);
  return status;
}
