/* finals.h: the final phase, which decides the winner. Only the times of this phase are stored as the winner's; see
 * docs/measuring.md.
 *
 * 1. Each time of the search is divided by the scale of the anchor around it. The best quotient decides who may enter.
 * 2. Screened variants whose minimum is below 1.08 times the best are measured fully.
 * 3. Variants within 3 % of the best, at most FINALS_ENTRANTS, and the default are loaded and run FINALS_ENTRY_ROUNDS
 *    interleaved rounds. A default that is far slower is only in some of the final rounds (finals_plan.h). What a
 *    lookup serves takes part whatever its time is, too.
 * 4. The FINALS_FINALISTS fastest of these, what a lookup serves among them, and the default run FINALS_ROUNDS more
 *    rounds. The kernels of the roof run in the same rounds. Only these rounds rank the finalists: good luck in the
 *    rounds that chose the finalists does not count. Each sample begins with fields made anew, and its result is
 *    checked, if there is time for that. Where the budget has time left, more rounds follow, at most FINALS_ROUNDS_MOST
 *    in all.
 * 5. If the objective is energy, or energy times time, rounds follow that measure energy (energy_rounds.h). They rank
 *    the finalists, of which there are ENERGY_FINALISTS at most.
 * 6. All finalists are rechecked. A variant that fails, here or earlier, leaves; the others go on. 7. The leader has
 * the lowest adjusted time (rounds.h) over all rounds, or the lowest score of the objective. It is known only after the
 * last round, so an earlier leader has no advantage. A finalist ties with the leader if the
 *    interval of its ratio to the leader within the same round ends at or below 1.005. tie_rule.h chooses the winner
 *    among the leader and its ties.
 *
 * If time is short, less is done, in this order: no checks of single samples, shorter samples, fewer entrants, fewer
 * final rounds, fewer finalists, fewer entry rounds. Each is reduced to its least before the next (finals_plan.h). */
#ifndef MEASURE_FINALS_FINALS_H
#define MEASURE_FINALS_FINALS_H

#include "base/system/clock.h"
#include "tuner/measure/finals/finals_plan.h"
#include "tuner/measure/sampling/measure.h"

enum { FINALS_ROOFS = 8 };

/* Variants enter whose time is at most so many times the best. */
#define FINALS_ENTRY_RATIO 1.03

/* A variant that has a time from the search. */
struct final_candidate {
  enum outcome outcome; /* OUTCOME_MEASURED or OUTCOME_SCREENED; others do not enter */
  double median_ms, minimum_ms;
  double scale; /* its anchor_scale() */
  int registers, shared_bytes;
  long order; /* place in the space: templates, then parameters */
  int slot;   /* the slot in which it stays loaded, as the anchor does; -1: none */
  bool is_default;
  bool is_served; /* what a lookup serves without this run */
};

struct finals_request {
  struct backend_handle *backend;
  struct time_source time;
  uint64_t seed;    /* seed of the order within rounds */
  double budget_ms; /* time of the phase (finals_budget_ms) */
  bool fills;       /* use the rest of the budget for more final rounds */
  enum objective objective;
  double scale; /* how slow the GPU is now: anchor_scale(anchor, 0) */
  const struct final_candidate *candidates;
  int candidate_count;
  int first_slot, slot_count; /* slots that may be loaded: FINALS_SLOTS are enough */
  const int *roofs;           /* loaded slots that copy the roof's bytes: SLOT_MEMCPY and tuned copies */
  int roof_count;             /* at most FINALS_ROOFS */

  /* Load a candidate into a slot, as backend.load. */
  halotune_status (*load)(void *state, int candidate, int slot, struct verdict *verdict);
  /* Tell the full measurement of a screened candidate. `measured` is valid during the call. NULL: nobody is told. */
  halotune_status (*measured)(void *state, int candidate, const struct measured *measured);
  /* Tell which candidates are the finalists, so that other GPUs may run their final rounds, too. NULL: there are no
   * others. */
  halotune_status (*chosen)(void *state, const int *candidates, int count);
  /* Tell the adjusted times of the same candidates here; NaN for one that left.
   *   weights  1 at first; receives for each finalist its mean time over all GPUs, over its time here, both in the same
   *            unit. The finalists are ranked by time here times weight. NULL: nothing ran on other GPUs */
  halotune_status (*weigh)(void *state, const double *adjusted_ms, double *weights);
  /* Whether to end at once, as after Ctrl-C. Called before each load and each round. The finals then have a winner only
   * if there are FINALS_ROUNDS_LEAST final rounds. NULL: never. */
  bool (*is_stopped)(void *state);
  void *state;
};

/* A candidate that entered. */
struct final_entry {
  int candidate;
  int rank;               /* from 1; 0 if it left */
  struct verdict verdict; /* why it left; OUTCOME_MEASURED if it did not */
  /* times of the final rounds, or of the entry rounds if it is no finalist. Its samples are `samples` */
  struct timing timing;
  float *samples;
  int loaded;      /* its place in the order of loading */
  int slot;        /* the slot in which it was loaded */
  double entry_ms; /* its adjusted time of the entry rounds (rounds.h); NaN if it has none */
  /* To the winner in the same rounds, times the weights of both. The interval is NaN if it is not known. */
  double ratio, ratio_low, ratio_high;
  double energy_mj, energy_low_mj, energy_high_mj; /* energy of one application; NaN where it was not measured */
  bool is_served;
  bool is_default, is_finalist, is_tie; /* is_tie: it ties with the leader, or is the leader */
};

/* The result. End with finals_free. */
struct finals {
  struct final_entry *entries; /* sorted by rank, followed by those that left; the first is the winner */
  int count;                   /* number of all entries */
  int ranked;                  /* number of entries with a rank; 0: there is no winner */

  int roof;                      /* the index of the fastest roof; -1: none */
  double roofs_ms[FINALS_ROOFS]; /* medians in the final rounds; NaN for roofs that failed */
  double roof_ms;                /* time of the fastest roof; NaN if there is none */
  /* The time of the roof over the winner's in the same round: 0.95 is 95 % of the roof. */
  double roof_ratio, roof_ratio_low, roof_ratio_high;

  double empty_ms, default_ms;    /* NaN if not measured */
  double idle_w;                  /* power of the GPU while nothing ran; NaN if not measured */
  int entry_rounds, final_rounds; /* numbers of rounds that count */
  int energy_rounds;              /* 0 for OBJECTIVE_TIME, or if there was no time for one. Time then ranks */
  double energy_need_ms; /* the time of the whole phase in which one more round of energy fits; 0: time was left */
  bool lacks_energy;     /* the objective needs energy, but the GPU's counter did not change. Time then ranks */
  bool is_unchecked;     /* there was no time to check the results of single final samples */
  bool is_scaled;        /* less was done than without a limit of time */
  bool is_marked;        /* too few rounds had no slowdown, so rounds with a slowdown count, too */
  struct gpu_reading before, after; /* readings around the final rounds */
  struct finals_phase *phase;       /* the times of all rounds; owns the entries and their samples */
};

/* Run the phase. Slots from first_slot on are loaded, and hold any candidates at the end. Returns HALOTUNE_OK, also if
 * no finalist is left or the phase was stopped early (finals.ranked is 0); the backend's or a callback's status; or
 * HALOTUNE_MEMORY. finals_free(out) is right in each case. Threads: as the backend. */
halotune_status finals_run(const struct finals_request *request, struct finals *out);
void finals_free(struct finals *finals);

/* The winner, which is the first entry, turned out to be wrong. It leaves as if it had failed in its recheck. The other
 * finalists are ranked anew, with a new leader, ties, winner and ratios.
 *   finals   of a finals_run whose request's candidates are still there; `ranked` is 0 if no finalist is left
 *   verdict  what is wrong with the winner
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status finals_reject(struct finals *finals, const struct verdict *verdict);

#endif
