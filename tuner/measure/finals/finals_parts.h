/* finals_parts.h: the state of the final phase, which its files share. */
#ifndef MEASURE_FINALS_FINALS_PARTS_H
#define MEASURE_FINALS_FINALS_PARTS_H

#include "base/memory/arena.h"
#include "tuner/measure/finals/finals_request.h"
#include "tuner/measure/finals/rounds.h"

/* What is known of a candidate. */
struct contestant {
  double time_ms; /* time over the anchor's scale; INFINITY where it cannot enter */
  /* as measured, used to find the batch; from the warm-up if it was screened; NaN if it failed since */
  double median_ms;
  bool is_tried; /* it was screened, and has been measured fully since */
};

/* The state of the phase. `out->entries` are in the order of loading until finals_result sorts them. Player i of the
 * entry rounds is entry i. */
struct finals_phase {
  struct finals_request request;
  struct finals *out;
  struct arena arena; /* the arrays, the entries and their samples */
  struct finals_plan plan;
  double begin_ms, end_ms, energy_end_ms; /* of the rounds of time, and of those of energy */
  double load_ms;                         /* time to load one entrant */
  struct contestant *contestants;         /* one for each candidate */
  double best_ms;                         /* the best of their times */
  int *by_time;                           /* candidates that may enter: what a lookup serves, then the fastest first */
  int by_time_count;
  int far; /* the candidate that a lookup serves, where it is too slow to enter by its time; -1: none */
  struct rounds entry, final;
  /* see energy_rounds.h. Only finalists are in it; its `times_ms` are millijoules of one application */
  struct rounds energy;
  int *finalists;  /* the entries that are players of the final rounds; the roofs are the players after them */
  double *weights; /* one for each finalist, from request.weigh; NULL before it was asked */
  int finalist_count;
};

/* Whether an entry is what a lookup serves, and is too slow to enter by its time. It takes part nevertheless, to tell
 * by how much the new winner is better. */
static inline bool finals_is_far(const struct finals_phase *phase, const struct final_entry *entry) {
  return entry->candidate == phase->far && !entry->is_default;
}

/* The plan for an entry that takes part whatever its time is; NULL for others. */
static inline const struct finals_guest *finals_guest_of(const struct finals_phase *phase,
                                                         const struct final_entry *entry) {
  if (entry->is_default) return &phase->plan.standard;
  return finals_is_far(phase, entry) ? &phase->plan.served : NULL;
}

static inline bool finals_stopped(const struct finals_request *request) {
  return request->is_stopped && request->is_stopped(request->state);
}

/* Find the candidates that may enter: steps 1 and 2 of finals.h. In finals_enter.c. */
halotune_status finals_enter(struct finals_phase *phase);
/* Load them: step 3. In finals_enter.c. */
halotune_status finals_load(struct finals_phase *phase);

/* Step 7: find the winner, fill the entries' figures, and sort the entries. At least one finalist must be left. In
 * finals_result.c. */
halotune_status finals_result(struct finals_phase *phase);

#endif
