/* final_phase.c: from variants with a time to interleaved rounds of the best of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tuner/search/finals/final_inputs.h"

enum { FIRST_ROOF_SLOT = FINALS_SLOTS, MOST_AHEAD = 2 * FINALS_ENTRANTS };

/* --- compiled ahead
 * ------------------------------------------------------------------------------------------------------- */

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
    if (phase->built[i] || memcmp(&trial->proposal, &session->timed.list[i].proposal, sizeof trial->proposal) != 0)
      continue;
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
    if (!timed->is_default && !(timed->outcome == OUTCOME_MEASURED && timed->median_ms / timed->scale <= most_ms))
      continue;
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

/* --- callbacks
 * ------------------------------------------------------------------------------------------------------------ */

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

/* The newest truth about a candidate and its twins goes into the store, also where an earlier run's result had served until
 * now. */
static halotune_status store_again(struct final_phase *phase, int candidate, struct measurement *again) {
  struct session *session = phase->session;
  struct timed_variant *timed = &session->timed.list[candidate];
  int twins = 0;
  again->at_s = (clock_ms() - session->start_ms) * 1e-3;
  halotune_status status = store_measured_again(session->tools->store, session->run_id, timed->variant, again);
  if (status == HALOTUNE_OK) {
    status = twins_follow(&session->twins, session->tools->store, session->run_id, timed->variant, again, &twins);
  }
  session->result->outcomes[timed->outcome] -= 1 + twins;
  session->result->outcomes[again->outcome] += 1 + twins;
  timed->outcome = again->outcome;
  return status;
}

/* A screened variant was measured fully after all. */
static halotune_status take_measured(void *state, int candidate, const struct measured *measured) {
  struct measurement again = measurement_none();
  again.outcome = measured->verdict.outcome;
  again.reason = measured->verdict.reason;
  again.timing = measured->timing;
  again.before = measured->before;
  again.after = measured->after;
  again.attempts = measured->attempts;
  again.is_marked = measured->is_marked;
  return store_again(state, candidate, &again);
}

halotune_status final_phase_failed(struct final_phase *phase, int candidate, enum outcome outcome, const char *reason) {
  struct measurement again = measurement_none();
  again.outcome = outcome;
  again.reason = reason;
  again.attempts = 0;
  return store_again(phase, candidate, &again);
}

/* Those that left: they did not load any more, went wrong among the samples, or were wrong after them. */
static halotune_status store_failures(struct final_phase *phase) {
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < phase->finals.count && status == HALOTUNE_OK; i++) {
    const struct final_entry *entry = &phase->finals.entries[i];
    if (entry->verdict.outcome != OUTCOME_MEASURED)
      status = final_phase_failed(phase, entry->candidate, entry->verdict.outcome, entry->verdict.reason);
  }
  return status;
}

static bool is_stopped(void *state) { return session_is_stopped(((const struct final_phase *)state)->session); }

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

/* Others may have come since the backend was opened. */
static void look_for_others(struct final_phase *phase) {
  const int others = backend_others(phase->session->tools->backend);
  phase->session->result->other_processes = others;
  if (others == 0) return;
  text_printf(&phase->warnings, "%d other process%s on the GPU when the finals began: times may be off\n", others,
              others == 1 ? " computed" : "es computed");
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

/* The first roof is the driver's copy, the others are kernels. */
static void take_roofs(struct final_phase *phase) {
  for (int i = 0; i < phase->roof.count; i++) {
    double *time_ms = phase->roof.slots[i] == SLOT_MEMCPY ? &phase->memcpy_ms : &phase->copy_ms;
    *time_ms = fmin(*time_ms, phase->finals.roofs_ms[i]);
  }
}

/* The run ends without a winner; what was measured and noticed on the way is stored all the same. */
static halotune_status end_without_winner(struct final_phase *phase, const char *reason) {
  struct session *session = phase->session;
  const struct run_end end = {.reason = reason,
                              .empty_ms = phase->finals.empty_ms,
                              .copy_ms = phase->copy_ms,
                              .memcpy_ms = phase->memcpy_ms,
                              .warnings = text_string(&phase->warnings)};
  snprintf(session->result->reason, sizeof session->result->reason, "%s", reason);
  return store_run_end(session->tools->store, session->run_id, &end);
}

/* What the whole phase came to, in the store. */
static halotune_status end_phase(struct final_phase *phase) {
  struct session *session = phase->session;
  const struct finals *finals = &phase->finals;
  if (finals->is_marked) text_printf(&phase->warnings, "the GPU was slowed down during the final rounds\n");
  if (finals->is_scaled)
    text_printf(&phase->warnings, "the %s was too short for the whole final phase\n",
                session->has_deadline ? "time before the deadline" : "budget");
  if (finals->is_unchecked)
    text_printf(&phase->warnings, "no time was left to look at the results of the final samples one by one\n");
  bool was_ranked = finals->ranked > 0;
  halotune_status status = store_failures(phase);
  if (status == HALOTUNE_OK) status = winner_choose(phase);
  if (status != HALOTUNE_OK || session->result->has_winner) return status;
  if (was_ranked) return end_without_winner(phase, "none of the first finalists was right on the second grid");
  if (session_is_stopped(session)) return session_end_early(session, session_stop_reason(session));
  struct text reason = {0};
  text_printf(&reason, "no finalist came through the final rounds");
  for (int i = 0; i < finals->count; i++) {
    const struct verdict *verdict = &finals->entries[i].verdict;
    if (verdict->outcome == OUTCOME_MEASURED) continue;
    text_printf(&reason, "; the first that failed was %s: %s", outcome_name(verdict->outcome), verdict->reason);
    break;
  }
  status = end_without_winner(phase, text_string(&reason));
  text_free(&reason);
  return status;
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
  struct final_phase phase = {.session = session, .copy_ms = NAN, .memcpy_ms = NAN};
  if (session_is_stopped(session)) return session_end_early(session, session_stop_reason(session));
  if (session->timed.count == 0) {
    session->result->is_exhausted = session->is_over;
    return session_end_early(session, "no variant was right and had a time");
  }
  text_printf(&phase.warnings, "%s", session->tools->backend->facts.warnings);
  timed_sort(&session->timed);
  halotune_status status = make_candidates(&phase);
  if (status == HALOTUNE_OK) status = build_ahead(&phase);
  if (status == HALOTUNE_OK) status = roof_open(session, FIRST_ROOF_SLOT, &phase.roof);
  if (status == HALOTUNE_OK) look_for_others(&phase);
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
