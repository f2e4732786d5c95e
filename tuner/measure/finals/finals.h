/* finals.h: the final phase: who wins. Its times, and they alone, are stored as the winner's; see docs/measuring.md.
 *
 * 1. The best time of the search (each time over the scale of the anchor around it) decides who is looked at.
 * 2. Screened variants whose minimum is under 1.08 times that are measured fully.
 * 3. Those within 3 % of the best, FINALS_ENTRANTS at most, and the default are loaded, and run FINALS_ENTRY_ROUNDS
 *    interleaved rounds. A default that is far slower is in some of the final rounds only (finals_plan).
 * 4. The FINALS_FINALISTS fastest of these, and the default, run FINALS_ROUNDS more, and what the roof is measured
 *    with runs in the same rounds. These rounds alone rank them: what was lucky in the rounds that chose would keep
 *    its luck.
 *    Each sample begins with fields made anew, and its result is looked at, where there is time for that.
 * 5. All finalists are rechecked. What fails there, or at any time before, leaves; the others go on.
 * 6. The leader has the lowest adjusted time (rounds.h) over all rounds; it is named after the last one, so that it
 *    does not matter who led in between. A tie is a finalist whose ratio to the leader within the same round has an
 *    interval that ends at 1.005 or below. Among the leader and its ties the default wins if it is there, since
 *    nothing beats it; otherwise the fewest registers, then the least shared memory, then the order of parameters
 *    decides.
 *
 * Where time is short, less is done, in this order, each step to its least (finals_plan) before the next begins:
 * no looks at single samples, shorter samples, fewer entrants, fewer final rounds, fewer finalists, fewer entry rounds. */
#ifndef MEASURE_FINALS_FINALS_H
#define MEASURE_FINALS_FINALS_H

#include "base/clock.h"
#include "tuner/measure/finals/finals_plan.h"
#include "tuner/measure/sampling/measure.h"

enum { FINALS_ROOFS = 8 };

#define FINALS_ENTRY_RATIO 1.03

/* A variant that has a time from the search. */
struct final_candidate {
  enum outcome outcome; /* OUTCOME_MEASURED or OUTCOME_SCREENED; others are passed over */
  double median_ms, minimum_ms;
  double scale; /* anchor_scale() of it */
  int registers, shared_bytes;
  long order; /* place in the space: templates, then parameters */
  int slot;   /* where it is loaded and stays so, as the anchor's; -1: nowhere */
  bool is_default;
};

struct finals_request {
  struct backend_handle *backend;
  struct time_source time;
  uint64_t seed;    /* of the order within rounds */
  double budget_ms; /* of the phase: see finals_budget_ms */
  double scale;     /* of the anchor now: anchor_scale(anchor, 0) */
  const struct final_candidate *candidates;
  int candidate_count;
  int first_slot, slot_count; /* slots that may be loaded: FINALS_SLOTS is enough, fewer make fewer entrants */
  const int *roofs;           /* slots with what moves the roof's bytes: SLOT_MEMCPY, tuned copies that are loaded */
  int roof_count;             /* at most FINALS_ROOFS */

  /* Load a candidate into a slot, as backend.load. */
  halotune_status (*load)(void *state, int candidate, int slot, struct verdict *verdict);
  /* A screened candidate was measured fully; to be stored. `measured` lives for the call. May be NULL. */
  halotune_status (*measured)(void *state, int candidate, const struct measured *measured);
  /* Asked before each load and each round: whether to end at once, as after Ctrl-C. The finals then have a winner
   * only where FINALS_ROUNDS_LEAST final rounds are there. May be NULL. */
  bool (*is_stopped)(void *state);
  void *state;
};

/* One that ran in rounds. */
struct final_entry {
  int candidate;
  int rank;               /* from 1; 0 where it left */
  struct verdict verdict; /* what went wrong where it left */
  struct timing timing;   /* of the final rounds, or of the entry rounds where it came no further; samples: below */
  float *samples;
  int loaded;                           /* its place in the order of loading */
  int slot;                             /* where it was loaded */
  double entry_ms;                      /* its adjusted time of the entry rounds (rounds.h); NaN where it has none */
  double ratio, ratio_low, ratio_high;  /* to the winner in the same rounds; an interval that is not known is NaN */
  bool is_default, is_finalist, is_tie; /* is_tie: not told apart from the leader; the leader is one too */
};

/* The outcome. End with finals_free. */
struct finals {
  struct final_entry *entries; /* by rank, then those that left; the winner is the first */
  int count;                   /* of all entries */
  int ranked;                  /* of those with a rank; 0: there is no winner */

  int roof;                      /* of `roofs`, the fastest; -1: none */
  double roofs_ms[FINALS_ROOFS]; /* medians in the final rounds; NaN for those that failed */
  double roof_ms;                /* of the fastest; NaN without one */
  /* Roof over winner in the same round: 0.95 is 95 % of the roof. */
  double roof_ratio, roof_ratio_low, roof_ratio_high;

  double empty_ms, default_ms;      /* NaN where not measured */
  int entry_rounds, final_rounds;   /* that count */
  bool is_unchecked;                /* results of final samples were not looked at one by one, for want of time */
  bool is_scaled;                   /* less was done than without a limit of time */
  bool is_marked;                   /* too few rounds were without a slowdown, so that those with one count */
  struct gpu_reading before, after; /* of the final rounds */
  struct finals_phase *phase;       /* the times of all rounds; owns the entries and their samples */
};

/* Run the phase. Slots first_slot and up are loaded anew, and hold any candidate at the end.
 * Returns HALOTUNE_OK also where nobody is left or it was stopped early (finals.ranked is 0); the backend's or the
 * callbacks' status; HALOTUNE_MEMORY. In each case finals_free(out) is right. Threads: as the backend. */
halotune_status finals_run(const struct finals_request *request, struct finals *out);
void finals_free(struct finals *finals);

/* The winner (the first of the entries) turned out to be no good after all: it leaves as if it had failed in its
 * recheck, and the other finalists are ranked anew, with a leader, ties, a winner and ratios of their own.
 *   finals   of a finals_run whose request's candidates are still there; `ranked` is 0 where no finalist is left
 *   verdict  what is wrong with it
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status finals_reject(struct finals *finals, const struct verdict *verdict);

#endif
