/* finals_enter.c: makes the times of the search comparable, measures promising screened variants fully, and loads the
 * fastest. */
#include <math.h>

#include "tuner/measure/finals/finals_parts.h"

/* Shares of the phase's time: for full measurements; and for these and loading together. */
#define FULL_PART 0.25
#define LOAD_PART 0.35

static double now_ms(const struct finals_phase *phase) { return time_now_ms(&phase->request.time); }

static const struct final_candidate *candidate_of(const struct finals_phase *phase, int candidate) {
  return &phase->request.candidates[candidate];
}

static void find_best(struct finals_phase *phase) {
  phase->best_ms = INFINITY;
  for (int i = 0; i < phase->request.candidate_count; i++)
    phase->best_ms = fmin(phase->best_ms, phase->contestants[i].time_ms);
}

/* The next screened candidate to measure: the one with the lowest minimum below the limit that was not tried yet; -1
 * for none. */
static int next_screened(const struct finals_phase *phase) {
  int best = -1;
  double best_ms = MEASURE_CHANCE_RATIO * phase->best_ms;
  for (int i = 0; i < phase->request.candidate_count; i++) {
    const struct final_candidate *candidate = candidate_of(phase, i);
    if (candidate->outcome != OUTCOME_SCREENED || phase->contestants[i].is_tried) continue;
    if (candidate->minimum_ms / candidate->scale >= best_ms) continue;
    best = i;
    best_ms = candidate->minimum_ms / candidate->scale;
  }
  return best;
}

static halotune_status measure_fully(struct finals_phase *phase, int candidate) {
  const struct finals_request *request = &phase->request;
  const struct measure_request how = {.slot = 0}; /* finals_load begins with this slot again */
  struct contestant *contestant = &phase->contestants[candidate];
  struct measured measured = {.verdict = {.outcome = OUTCOME_MEASURED}};
  halotune_status st = request->load(request->state, candidate, how.slot, &measured.verdict);
  if (st == HALOTUNE_OK && measured.verdict.outcome == OUTCOME_MEASURED) {
    st = measure_slot(request->backend, &how, &measured);
  }
  if (st == HALOTUNE_OK && measured.verdict.outcome == OUTCOME_MEASURED) {
    contestant->median_ms = measured.timing.median_ms;
    contestant->time_ms = measured.timing.median_ms / request->scale;
  } else if (st == HALOTUNE_OK) {
    contestant->median_ms = NAN;
  }
  if (st == HALOTUNE_OK && request->measured) st = request->measured(request->state, candidate, &measured);
  measured_free(&measured);
  return st;
}

/* Whether a candidate may enter by its time. The variant that a lookup serves enters if noise could let it win. */
static bool may_enter(const struct finals_phase *phase, int candidate) {
  const double ratio = candidate_of(phase, candidate)->is_served ? MEASURE_SCREEN_RATIO : FINALS_ENTRY_RATIO;
  return phase->contestants[candidate].time_ms <= ratio * phase->best_ms;
}

/* The time by which candidates are sorted. The variant that a lookup serves comes first. */
static double order_ms(const struct finals_phase *phase, int candidate) {
  return candidate_of(phase, candidate)->is_served ? 0 : phase->contestants[candidate].time_ms;
}

/* Sort the candidates that may enter, by insertion. Equal times keep the candidates' order. */
static void sort_by_time(struct finals_phase *phase) {
  phase->by_time_count = 0;
  for (int i = 0; i < phase->request.candidate_count; i++) {
    const double time_ms = order_ms(phase, i);
    if (!may_enter(phase, i)) continue;
    int at = phase->by_time_count++;
    for (; at > 0 && order_ms(phase, phase->by_time[at - 1]) > time_ms; at--)
      phase->by_time[at] = phase->by_time[at - 1];
    phase->by_time[at] = i;
  }
}

/* Find the variant that a lookup serves, if it is too slow for the finals. */
static void find_far(struct finals_phase *phase) {
  phase->far = -1;
  for (int i = 0; i < phase->request.candidate_count; i++) {
    if (candidate_of(phase, i)->is_served && phase->contestants[i].median_ms > 0 && !may_enter(phase, i))
      phase->far = i;
  }
}

halotune_status finals_enter(struct finals_phase *phase) {
  const struct finals_request *request = &phase->request;
  for (int i = 0; i < request->candidate_count; i++) {
    const struct final_candidate *candidate = candidate_of(phase, i);
    const bool is_measured = candidate->outcome == OUTCOME_MEASURED && candidate->median_ms > 0;
    phase->contestants[i] = (struct contestant){
        .time_ms = is_measured ? candidate->median_ms / candidate->scale : INFINITY, .median_ms = candidate->median_ms};
  }
  find_best(phase);
  halotune_status st = HALOTUNE_OK;
  int candidate;
  while (st == HALOTUNE_OK && (candidate = next_screened(phase)) >= 0) {
    if (finals_stopped(request) || now_ms(phase) - phase->begin_ms > FULL_PART * request->budget_ms) {
      phase->out->is_scaled = true;
      break;
    }
    phase->contestants[candidate].is_tried = true;
    st = measure_fully(phase, candidate);
    find_best(phase);
  }
  sort_by_time(phase);
  find_far(phase);
  return st;
}

/* A stored time can be false. A sample of as many launches as a far too short time asks for would exceed the budget. So
 * time the loaded variant again if a launch takes longer than clocks explain. */
static halotune_status check_recalled(struct finals_phase *phase, int candidate, int slot, struct verdict *verdict) {
  static const double most = 2; /* a change of clocks explains no other ratio */
  struct contestant *contestant = &phase->contestants[candidate];
  const double sample_ms = phase->plan.sample_ms;
  int batch = batch_of(contestant->median_ms, sample_ms);
  double time_ms;
  if (batch == 1) return HALOTUNE_OK;
  halotune_status st = measure_batch(phase->request.backend, slot, 0, &batch, &time_ms, verdict);
  if (st != HALOTUNE_OK || verdict->outcome != OUTCOME_MEASURED) return st;
  if (time_ms <= most * contestant->median_ms) return HALOTUNE_OK;
  st = measure_batch(phase->request.backend, slot, sample_ms, &batch, &time_ms, verdict);
  if (st == HALOTUNE_OK && verdict->outcome == OUTCOME_MEASURED) contestant->median_ms = time_ms;
  return st;
}

/* Load a candidate and add an entry for it, also if loading fails.
 *   used_slots  counts the slots that are in use */
static halotune_status add_entry(struct finals_phase *phase, int candidate, int *used_slots) {
  const struct final_candidate *from = candidate_of(phase, candidate);
  struct final_entry *entry = &phase->out->entries[phase->out->count];
  const int slot = *used_slots;
  *entry = (struct final_entry){.candidate = candidate,
                                .verdict = {.outcome = OUTCOME_MEASURED},
                                .slot = slot,
                                .is_default = from->is_default,
                                .is_served = from->is_served,
                                .entry_ms = NAN,
                                .ratio = NAN,
                                .ratio_low = NAN,
                                .ratio_high = NAN,
                                .energy_mj = NAN,
                                .energy_low_mj = NAN,
                                .energy_high_mj = NAN};
  phase->out->count++;
  halotune_status st = phase->request.load(phase->request.state, candidate, slot, &entry->verdict);
  if (st != HALOTUNE_OK || entry->verdict.outcome != OUTCOME_MEASURED) return st;
  ++*used_slots;
  return from->is_recalled ? check_recalled(phase, candidate, slot, &entry->verdict) : HALOTUNE_OK;
}

halotune_status finals_load(struct finals_phase *phase) {
  const struct finals_request *request = &phase->request;
  int used_slots = 0, entrants = 0;
  halotune_status st = HALOTUNE_OK;
  /* The default comes first. It takes part whatever its time is, even if its second measurement only screened it. */
  for (int i = 0; i < request->candidate_count && st == HALOTUNE_OK; i++) {
    if (candidate_of(phase, i)->is_default && phase->contestants[i].median_ms > 0)
      st = add_entry(phase, i, &used_slots);
  }
  if (phase->far >= 0 && !candidate_of(phase, phase->far)->is_default && st == HALOTUNE_OK)
    st = add_entry(phase, phase->far, &used_slots);
  for (int i = 0; i < phase->by_time_count && entrants < phase->plan.entrants && st == HALOTUNE_OK; i++) {
    if (finals_stopped(request)) break;
    const int candidate = phase->by_time[i];
    const bool is_late = now_ms(phase) - phase->begin_ms > LOAD_PART * request->budget_ms;
    if (candidate_of(phase, candidate)->is_default) continue;
    if (used_slots == FINALS_SLOTS || (is_late && entrants >= FINALS_ENTRANTS_LEAST)) {
      phase->out->is_scaled = true;
      break;
    }
    st = add_entry(phase, candidate, &used_slots);
    entrants += phase->out->entries[phase->out->count - 1].verdict.outcome == OUTCOME_MEASURED;
  }
  return st;
}
