/* finals_request.h: what the final phase (finals.h) is asked, and its result. */
#ifndef MEASURE_FINALS_FINALS_REQUEST_H
#define MEASURE_FINALS_FINALS_REQUEST_H

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
  bool is_default;
  bool is_served;   /* what a lookup serves without this run */
  bool is_recalled; /* its time is that of an earlier run */
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
  const int *roofs; /* loaded slots that copy the roof's bytes: SLOT_MEMCPY and tuned copies from FINALS_SLOTS on */
  int roof_count;   /* at most FINALS_ROOFS */

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
  /* times of the final rounds, or of the entry rounds if it is not a finalist. Its samples are `samples` */
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

#endif
