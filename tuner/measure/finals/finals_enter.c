/* finals_enter.c: who runs in the final rounds: times of the search made comparable, screened variants measured
 * fully, the fastest loaded. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "tuner/measure/finals/finals_parts.h"

/* Parts of the phase's time that may be spent on these. */
#define FULL_PART 0.25
#define LOAD_PART 0.35

static double now_ms(const struct finals_phase *phase) { return time_now_ms(&phase->request.time); }

static const struct final_candidate *candidate_of(const struct finals_phase *phase, int candidate) {
  return &phase->request.candidates[candidate];
}

static void find_best(struct finals_phase *phase) {
  phase->best_ms = INFINITY;
  for (int i = 0; i < phase->request.candidate_count; i++) phase->best_ms = fmin(phase->best_ms, phase->times_ms[i]);
}

/* The screened candidate with the lowest minimum under the limit that has not been tried; -1 for none. */
static int next_screened(const struct finals_phase *phase, const bool *is_tried) {
  int best = -1;
  double best_ms = MEASURE_CHANCE_RATIO * phase->best_ms;
  for (int i = 0; i < phase->request.candidate_count; i++) {
    const struct final_candidate *candidate = candidate_of(phase, i);
    if (candidate->outcome != OUTCOME_SCREENED || is_tried[i]) continue;
    if (candidate->minimum_ms / candidate->scale >= best_ms) continue;
    best = i;
    best_ms = candidate->minimum_ms / candidate->scale;
  }
  return best;
}

static halotune_status measure_fully(struct finals_phase *phase, int candidate) {
  const struct finals_request *request = &phase->request;
  const int own = candidate_of(phase, candidate)->slot, slot = own >= 0 ? own : request->first_slot;
  const struct measure_request how = {.slot = slot, .is_full = true};
  struct measured measured = {.verdict = {.outcome = OUTCOME_MEASURED}};
  halotune_status st = HALOTUNE_OK;
  if (own < 0) st = request->load(request->state, candidate, slot, &measured.verdict);
  if (st == HALOTUNE_OK && measured.verdict.outcome == OUTCOME_MEASURED) {
    st = measure_slot(request->backend, &how, &measured);
  }
  if (st == HALOTUNE_OK && measured.verdict.outcome == OUTCOME_MEASURED) {
    phase->medians_ms[candidate] = measured.timing.median_ms;
    phase->times_ms[candidate] = measured.timing.median_ms / request->scale;
  } else if (st == HALOTUNE_OK) {
    phase->medians_ms[candidate] = NAN;
  }
  if (st == HALOTUNE_OK && request->measured) st = request->measured(request->state, candidate, &measured);
  measured_free(&measured);
  return st;
}

/* Candidates that may enter, by insertion; equal times in the candidates' order. */
static void sort_by_time(struct finals_phase *phase) {
  phase->by_time_count = 0;
  for (int i = 0; i < phase->request.candidate_count; i++) {
    if (!(phase->times_ms[i] <= FINALS_ENTRY_RATIO * phase->best_ms)) continue;
    int at = phase->by_time_count++;
    for (; at > 0 && phase->times_ms[phase->by_time[at - 1]] > phase->times_ms[i]; at--) {
      phase->by_time[at] = phase->by_time[at - 1];
    }
    phase->by_time[at] = i;
  }
}

halotune_status finals_enter(struct finals_phase *phase) {
  const struct finals_request *request = &phase->request;
  for (int i = 0; i < request->candidate_count; i++) {
    const struct final_candidate *candidate = candidate_of(phase, i);
    const bool is_measured = candidate->outcome == OUTCOME_MEASURED && candidate->median_ms > 0;
    phase->medians_ms[i] = candidate->median_ms;
    phase->times_ms[i] = is_measured ? candidate->median_ms / candidate->scale : INFINITY;
  }
  find_best(phase);
  bool *is_tried = calloc((size_t)request->candidate_count + 1, sizeof *is_tried);
  if (!is_tried) return fail_memory();
  halotune_status st = HALOTUNE_OK;
  int candidate;
  while (st == HALOTUNE_OK && (candidate = next_screened(phase, is_tried)) >= 0) {
    if (finals_stopped(request) || now_ms(phase) - phase->begin_ms > FULL_PART * request->budget_ms) {
      phase->out->is_scaled = true;
      break;
    }
    is_tried[candidate] = true;
    st = measure_fully(phase, candidate);
    find_best(phase);
  }
  free(is_tried);
  sort_by_time(phase);
  return st;
}

/* Add an entry, loaded or failed. `used_slots` counts the slots that were given away. */
static halotune_status add(struct finals_phase *phase, int candidate, int *used_slots) {
  const struct final_candidate *from = candidate_of(phase, candidate);
  struct final_entry *entry = &phase->out->entries[phase->out->count];
  const int slot = from->slot >= 0 ? from->slot : phase->request.first_slot + *used_slots;
  *entry = (struct final_entry){.candidate = candidate,
                                .verdict = {.outcome = OUTCOME_MEASURED},
                                .is_default = from->is_default,
                                .ratio = NAN,
                                .ratio_low = NAN,
                                .ratio_high = NAN};
  phase->slots[phase->out->count++] = slot;
  if (from->slot >= 0) return HALOTUNE_OK;
  halotune_status st = phase->request.load(phase->request.state, candidate, slot, &entry->verdict);
  if (st == HALOTUNE_OK && entry->verdict.outcome == OUTCOME_MEASURED) ++*used_slots;
  return st;
}

halotune_status finals_load(struct finals_phase *phase) {
  const struct finals_request *request = &phase->request;
  int used_slots = 0, entrants = 0;
  halotune_status st = HALOTUNE_OK;
  /* The default first: it takes part whatever its time, also where it was measured again beside a faster one, and
   * screened. */
  for (int i = 0; i < request->candidate_count && st == HALOTUNE_OK; i++) {
    if (candidate_of(phase, i)->is_default && phase->medians_ms[i] > 0) st = add(phase, i, &used_slots);
  }
  for (int i = 0; i < phase->by_time_count && entrants < phase->plan.entrants && st == HALOTUNE_OK; i++) {
    if (finals_stopped(request)) break;
    const int candidate = phase->by_time[i];
    const bool is_late = now_ms(phase) - phase->begin_ms > LOAD_PART * request->budget_ms;
    if (candidate_of(phase, candidate)->is_default) continue;
    if (used_slots == request->slot_count || (is_late && entrants >= FINALS_ENTRANTS_LEAST)) {
      phase->out->is_scaled = true;
      break;
    }
    st = add(phase, candidate, &used_slots);
    entrants += phase->out->entries[phase->out->count - 1].verdict.outcome == OUTCOME_MEASURED;
  }
  return st;
}
