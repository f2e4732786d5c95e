/* final_phase.c: interleaved rounds of the best variants. */
#include "tuner/search/finals/final_phase.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/search/finals/final_store.h"
#include "tuner/search/finals/final_winner.h"
#include "tuner/search/finals/leave_copies.h"
#include "tuner/search/finals/second_grid.h"
#include "tuner/search/variants/evaluate.h"

enum {
  FIRST_ROOF_SLOT = FINALS_SLOTS,
  COMPILE_WAIT_MS = 20 /* how long a wait for a compile does not see that the run has to end */
};

/* A candidate is a variant of in->timed, by its index. */
struct final_phase {
  const struct final_inputs *in;
  struct final_candidate *candidates;
  struct trial **built; /* of each candidate: its trial if it is compiled, also after it was loaded; else NULL */
  struct roof roof;
  struct final_rounds rounds;
  struct second_ahead ahead;
};

static const struct template *template_of(const struct final_inputs *in, const struct proposal *proposal) {
  return in->space->templates[proposal->template_index];
}

/* Take one trial out of the pipeline and give it to its candidate, if one comes soon. */
static halotune_status take_built(struct final_phase *phase) {
  const struct timed_list *timed = phase->in->timed;
  struct trial *trial;
  halotune_status status = pipeline_take(phase->in->pipeline, COMPILE_WAIT_MS, &trial);
  if (status != HALOTUNE_OK || !trial) return status;
  for (long i = 0; i < timed->count; i++) {
    const struct proposal *proposal = &timed->list[i].proposal;
    if (phase->built[i] || !proposal_equals(phase->in->space, &trial->proposal, proposal)) continue;
    phase->built[i] = trial;
    return HALOTUNE_OK;
  }
  trial_free(trial);
  return HALOTUNE_OK;
}

/* Begin to compile the variants that will most likely enter: the fastest, the default and what a lookup serves.
 *   most   of the fastest
 *   begun  receives how many of the fastest were begun */
static halotune_status begin_fastest(struct final_phase *phase, const struct timed_variant *const *fastest, int most,
                                     int *begun) {
  const struct final_inputs *in = phase->in;
  const double most_ms = FINALS_ENTRY_RATIO * timed_best_ms(in->timed);
  halotune_status status = HALOTUNE_OK;
  *begun = 0;
  for (long i = 0; i < in->timed->count && status == HALOTUNE_OK; i++) {
    const struct timed_variant *timed = fastest[i];
    const bool is_fast = timed->outcome == OUTCOME_MEASURED && timed->median_ms / timed->scale <= most_ms;
    struct trial *trial;
    if (phase->built[timed - in->timed->list]) continue;
    if (!timed->is_default && !timed->is_served && (!is_fast || *begun >= most)) continue;
    while (status == HALOTUNE_OK && !pipeline_has_room(in->pipeline) && !schedule_is_stopped(in->schedule))
      status = take_built(phase);
    if (status != HALOTUNE_OK || schedule_is_stopped(in->schedule)) break;
    status = trial_begin(in->task, template_of(in, &timed->proposal), &timed->proposal, &in->task->grid, &trial);
    if (status != HALOTUNE_OK) break;
    *begun += is_fast;
    if (trial->is_over) phase->built[timed - in->timed->list] = trial;
    else status = pipeline_put(in->pipeline, trial, in->task);
  }
  return status;
}

/* Compile them, on all cores at once. The device then waits for none of them. Others take the places of copies. If the
 * run has to end, the compiles are dropped. */
static halotune_status build_ahead(struct final_phase *phase) {
  const struct final_inputs *in = phase->in;
  const struct timed_variant **fastest = timed_by_time(in->timed);
  halotune_status status = fastest ? HALOTUNE_OK : fail_memory();
  for (int places = FINALS_ENTRANTS, begun = 1; status == HALOTUNE_OK && places > 0 && begun > 0;) {
    status = begin_fastest(phase, fastest, places, &begun);
    while (status == HALOTUNE_OK && !pipeline_is_empty(in->pipeline) && !schedule_is_stopped(in->schedule))
      status = take_built(phase);
    if (status == HALOTUNE_OK) status = leave_copies(in->timed, fastest, phase->built, phase->candidates, &places);
  }
  free(fastest);
  pipeline_clear(in->pipeline);
  return status;
}

static halotune_status load_candidate(void *state, int candidate, int slot, struct verdict *verdict) {
  struct final_phase *phase = state;
  const struct final_inputs *in = phase->in;
  const struct proposal *proposal = &in->timed->list[candidate].proposal;
  struct trial **trial = &phase->built[candidate];
  halotune_status status = HALOTUNE_OK;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  const struct ending ending = schedule_ending(in->schedule);
  if (!*trial) status = pipeline_build(in->pipeline, in->task, template_of(in, proposal), proposal, &ending, trial);
  if (status != HALOTUNE_OK) return status;
  if ((*trial)->is_over) {
    verdict_say(verdict, (*trial)->result.outcome, (*trial)->reason);
    return HALOTUNE_OK;
  }
  status = trial_load(in->backend, slot, *trial, false, verdict);
  run_progress_show(in->progress, "finals");
  return status;
}

static halotune_status store_measured(void *state, int candidate, const struct measured *measured) {
  return final_store_measured(((const struct final_phase *)state)->in, candidate, measured);
}

static halotune_status tell_crew(void *state, const int *candidates, int count) {
  struct final_phase *phase = state;
  const struct final_inputs *in = phase->in;
  struct proposal *proposals = calloc((size_t)count + 1, sizeof *proposals);
  struct final_rounds *rounds = &phase->rounds;
  free(rounds->told);
  rounds->told = calloc((size_t)count + 1, sizeof *rounds->told);
  rounds->told_count = count;
  halotune_status status = proposals && rounds->told ? HALOTUNE_OK : fail_memory();
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
    rounds->told[i] = candidates[i];
    proposals[i] = in->timed->list[candidates[i]].proposal;
  }
  if (status == HALOTUNE_OK) status = in->crew->table->finals_begin(in->crew->state, proposals, count, in->seed);
  free(proposals);
  return status;
}

static halotune_status ask_crew(void *state, const double *adjusted_ms, double *weights) {
  const struct crew *crew = ((const struct final_phase *)state)->in->crew;
  return crew->table->finals_take(crew->state, adjusted_ms, weights);
}

static bool is_stopped(void *state) { return schedule_is_stopped(((const struct final_phase *)state)->in->schedule); }

static halotune_status make_candidates(struct final_phase *phase) {
  const struct timed_list *timed = phase->in->timed;
  const size_t room = (size_t)timed->count + 1;
  phase->candidates = calloc(room, sizeof *phase->candidates);
  phase->built = calloc(room, sizeof *phase->built);
  phase->rounds.trials = phase->built;
  if (!phase->candidates || !phase->built) return fail_memory();
  for (long i = 0; i < timed->count; i++) {
    const struct timed_variant *from = &timed->list[i];
    phase->candidates[i] = (struct final_candidate){.outcome = from->outcome,
                                                    .median_ms = from->median_ms,
                                                    .minimum_ms = from->minimum_ms,
                                                    .scale = from->scale,
                                                    .registers = from->registers,
                                                    .shared_bytes = from->shared_bytes,
                                                    .order = i,
                                                    .is_default = from->is_default,
                                                    .is_served = from->is_served,
                                                    .is_recalled = from->number == 0};
  }
  return HALOTUNE_OK;
}

/* Other processes may have begun to use the GPU since the backend was opened. Returns how many there are. */
static int look_for_others(const struct final_inputs *in, struct text *warnings) {
  const int others = backend_others(in->backend);
  if (others > 0)
    text_printf(warnings, "%d other process%s on the GPU when the finals began: times may be off\n", others,
                others == 1 ? " computed" : "es computed");
  return others;
}

static halotune_status run_rounds(struct final_phase *phase) {
  const struct final_inputs *in = phase->in;
  const struct finals_request request = {.backend = in->backend,
                                         .time = in->schedule->time,
                                         .seed = in->seed,
                                         .budget_ms = in->schedule->end_ms - schedule_now_ms(in->schedule),
                                         .objective = in->objective,
                                         .fills = in->fills && isfinite(in->schedule->end_ms),
                                         .scale = in->scale,
                                         .candidates = phase->candidates,
                                         .candidate_count = (int)in->timed->count,
                                         .roofs = phase->roof.slots,
                                         .roof_count = phase->roof.count,
                                         .load = load_candidate,
                                         .measured = store_measured,
                                         .chosen = in->crew ? tell_crew : NULL,
                                         .weigh = in->crew ? ask_crew : NULL,
                                         .is_stopped = is_stopped,
                                         .state = phase};
  return finals_run(&request, &phase->rounds.finals);
}

/* Take the times of the driver's copy and of the fastest kernel that copies. Without rounds, the copy has its time from
 * before the search. */
static void take_roofs(struct final_rounds *rounds, const struct roof *roof, double memcpy_ms) {
  for (int i = 0; i < roof->count; i++) {
    double *time_ms = roof->slots[i] == SLOT_MEMCPY ? &rounds->memcpy_ms : &rounds->copy_ms;
    *time_ms = fmin(*time_ms, rounds->finals.roofs_ms[i]);
  }
  if (isnan(rounds->memcpy_ms)) rounds->memcpy_ms = memcpy_ms;
}

static halotune_status unload_all(struct final_phase *phase) {
  struct backend_handle *backend = phase->in->backend;
  halotune_status status = HALOTUNE_OK;
  for (int slot = 0; slot < FINALS_SLOTS; slot++) {
    halotune_status unloaded = backend->table->unload(backend->state, slot);
    if (status == HALOTUNE_OK) status = unloaded;
  }
  halotune_status closed = roof_close(backend, &phase->roof);
  return status == HALOTUNE_OK ? closed : status;
}

/* Store the candidates that left the finals: they did not load any more, failed in a round, or were wrong at their
 * recheck. */
static halotune_status store_failures(const struct final_inputs *in, const struct finals *finals) {
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < finals->count && status == HALOTUNE_OK; i++) {
    const struct verdict *verdict = &finals->entries[i].verdict;
    if (verdict->outcome != OUTCOME_MEASURED)
      status = final_store_failed(in, finals->entries[i].candidate, verdict->outcome, verdict->reason);
  }
  return status;
}

static const char *shortage_text(const struct schedule *schedule) {
  return schedule->has_deadline ? "there was too little time before the deadline" : "the budget was too small";
}

static void warn_of_rounds(const struct final_inputs *in, struct final_rounds *rounds) {
  const struct finals *finals = &rounds->finals;
  if (finals->is_marked) text_printf(&rounds->warnings, "the GPU was slowed down during the final rounds\n");
  if (finals->is_scaled) text_printf(&rounds->warnings, "%s for all final rounds\n", shortage_text(in->schedule));
  if (finals->lacks_energy)
    text_printf(&rounds->warnings, "the GPU's counter of energy did not change: the finalists are ranked by time\n");
  else if (in->objective != OBJECTIVE_TIME && finals->energy_rounds == 0 && finals->energy_need_ms > 0)
    text_printf(&rounds->warnings,
                "%s for a round of energy: the finalists are ranked by time; a round needs a budget of about %.0f s\n",
                shortage_text(in->schedule), ceil(finals_run_budget_ms(finals->energy_need_ms) / 1e3));
  else if (in->objective != OBJECTIVE_TIME && finals->energy_rounds == 0 && finals->ranked > 0)
    text_printf(&rounds->warnings, "stopped before a round of energy ended: the finalists are ranked by time\n");
  else if (in->objective != OBJECTIVE_TIME && finals->energy_rounds > 0 && finals->energy_rounds < ENERGY_ROUNDS)
    text_printf(&rounds->warnings, "there was too little time for more than %d round%s of energy\n",
                finals->energy_rounds, finals->energy_rounds == 1 ? "" : "s");
  if (finals->is_unchecked)
    text_printf(&rounds->warnings, "no time was left to check the result of each final sample\n");
}

/* Say why no variant was ranked. */
static void explain_no_ranks(const struct finals *finals, struct text *reason) {
  text_printf(reason, "no finalist passed the final rounds");
  for (int i = 0; i < finals->count; i++) {
    const struct verdict *verdict = &finals->entries[i].verdict;
    if (verdict->outcome == OUTCOME_MEASURED) continue;
    text_printf(reason, "; the first that failed was %s: %s", outcome_name(verdict->outcome), verdict->reason);
    return;
  }
}

/* End the run without a winner. Its measurements and warnings are stored all the same. */
static halotune_status end_without_winner(const struct final_inputs *in, const struct final_rounds *rounds,
                                          const char *why, char reason[256]) {
  const struct run_end end = {.reason = why,
                              .empty_ms = rounds->finals.empty_ms,
                              .copy_ms = rounds->copy_ms,
                              .memcpy_ms = rounds->memcpy_ms,
                              .warnings = text_string(&rounds->warnings),
                              .idle_w = rounds->finals.idle_w};
  snprintf(reason, 256, "%s", why);
  return store_run_end(in->rows->store, in->rows->run, &end);
}

/* End the run before any round. */
static halotune_status end_early(const struct final_inputs *in, const char *why, char reason[256]) {
  snprintf(reason, 256, "%s", why);
  return run_rows_end(in->rows, why, in->memcpy_ms);
}

/* Store the result of the whole phase. */
static halotune_status end_phase(const struct final_inputs *in, const char *partial, struct final_rounds *rounds,
                                 struct final_winner *out, char reason[256]) {
  const bool was_ranked = rounds->finals.ranked > 0;
  struct text why = {0};
  warn_of_rounds(in, rounds);
  halotune_status status = store_failures(in, &rounds->finals);
  if (status == HALOTUNE_OK) status = winner_choose(in, partial, rounds, out);
  if (status == HALOTUNE_CANCELLED && schedule_is_stopped(in->schedule))
    return end_without_winner(in, rounds, schedule_stop_reason(in->schedule), reason);
  if (status != HALOTUNE_OK) return status;
  if (out->exists) {
    if (partial) snprintf(reason, 256, "%s", partial);
    return HALOTUNE_OK;
  }
  if (was_ranked) return end_without_winner(in, rounds, "none of the first finalists passed the last checks", reason);
  if (schedule_is_stopped(in->schedule))
    return end_without_winner(in, rounds, schedule_stop_reason(in->schedule), reason);
  explain_no_ranks(&rounds->finals, &why);
  status = end_without_winner(in, rounds, text_string(&why), reason);
  text_free(&why);
  return status;
}

static void phase_free(struct final_phase *phase) {
  for (long i = 0; i < phase->in->timed->count && phase->built; i++) trial_free(phase->built[i]);
  finals_free(&phase->rounds.finals);
  text_free(&phase->rounds.warnings);
  free(phase->candidates);
  free(phase->rounds.told);
  free(phase->built);
}

/* Run the rounds on the compiled candidates, and store the result. Rounds that are cancelled rank nobody. */
static halotune_status run_phase(struct final_phase *phase, const char *partial, struct final_winner *out,
                                 char reason[256]) {
  const struct final_inputs *in = phase->in;
  halotune_status status = roof_open(in->roof, FIRST_ROOF_SLOT, &phase->roof);
  if (status == HALOTUNE_OK) status = second_grid_begin(in, &phase->ahead);
  if (status == HALOTUNE_OK) out->other_processes = look_for_others(in, &phase->rounds.warnings);
  if (status == HALOTUNE_OK) status = schedule_settle(in->schedule, run_rounds(phase));
  if (status == HALOTUNE_OK) take_roofs(&phase->rounds, &phase->roof, in->memcpy_ms);
  halotune_status unloaded = unload_all(phase);
  if (status == HALOTUNE_OK) status = unloaded;
  second_grid_end(in, &phase->ahead);
  return status == HALOTUNE_OK ? end_phase(in, partial, &phase->rounds, out, reason) : status;
}

halotune_status final_phase_run(const struct final_inputs *in, const char *partial, struct final_winner *out,
                                char reason[256]) {
  struct final_phase phase = {.in = in, .rounds = {.copy_ms = NAN, .memcpy_ms = NAN}};
  if (schedule_is_stopped(in->schedule)) return end_early(in, schedule_stop_reason(in->schedule), reason);
  if (in->timed->count == 0) return end_early(in, "no correct variant has a time", reason);
  text_printf(&phase.rounds.warnings, "%s", in->rows->warnings);
  timed_sort(in->timed);
  halotune_status status = make_candidates(&phase);
  if (status == HALOTUNE_OK) status = build_ahead(&phase);
  const bool is_stopped = schedule_is_stopped(in->schedule);
  if (status == HALOTUNE_OK && is_stopped) status = end_early(in, schedule_stop_reason(in->schedule), reason);
  else if (status == HALOTUNE_OK) status = run_phase(&phase, partial, out, reason);
  if (status == HALOTUNE_CANCELLED && schedule_is_stopped(in->schedule)) /* a roof did not compile in time */
    status = end_early(in, schedule_stop_reason(in->schedule), reason);
  phase_free(&phase);
  return status;
}
