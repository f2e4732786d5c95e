/* finals_plan.h: how much of the final phase is done in the time that there is. */
#ifndef MEASURE_FINALS_FINALS_PLAN_H
#define MEASURE_FINALS_FINALS_PLAN_H

#include <stdbool.h>

#include "db/store/store.h"

/* How much is done if there is enough time, and the least that is done. */
enum {
  FINALS_ENTRANTS = 64,
  FINALS_ENTRANTS_LEAST = 16,
  FINALS_SLOTS = FINALS_ENTRANTS + 2, /* the default, and what a lookup serves, enter beside them */
  FINALS_ENTRY_ROUNDS = 5,
  FINALS_ENTRY_ROUNDS_LEAST = 3,
  FINALS_FINALISTS = 12,
  FINALS_FINALISTS_LEAST = 4,
  FINALS_ROUNDS = 20,
  FINALS_ROUNDS_MOST = 400, /* with the rest of the budget */
  FINALS_ROUNDS_LEAST = 8,  /* fewer than 6 rounds have no interval of 95 % */
  /* If an application of the best takes more than MEASURE_LONG_SAMPLE_MS: */
  FINALS_LONG_LEAST = 2,        /* the least entrants and finalists */
  FINALS_LONG_ROUNDS_LEAST = 3, /* the least final rounds; there is 1 entry round */
  FINALS_SAMPLE_US = 1000,      /* length of a sample; the least is MEASURE_SAMPLE_US */
  FINALS_BUDGET_LEAST_MS = 5000
};

/* The number of rounds of energy (energy_rounds.h), and how long each finalist runs in one of them. */
enum { ENERGY_LOOP_MS = 400, ENERGY_CHANGES = 4, ENERGY_ROUNDS = 6, ENERGY_FINALISTS = 6 };

/* The part of a run's budget that is kept for the finals. */
#define FINALS_BUDGET_PART 0.2

/* The part of the phase's time that rounds of energy may take. */
#define FINALS_ENERGY_PART 0.6

/* The time that a finalist takes in a round of energy.
 *   time_ms  time of one application; 0: not known, or nothing runs */
double finals_loop_ms(double time_ms);

/* The time that rounds of energy take; 0 for OBJECTIVE_TIME.
 *   best_ms  best time of one application; 0: not known yet */
double finals_energy_ms(enum objective objective, double best_ms);

/* The least budget of a run that keeps this much for finals with rounds of energy; see schedule_divide. */
double finals_run_budget_ms(double finals_ms);

/* The part of a run's budget that is kept for the finals: 20 %, at least FINALS_BUDGET_LEAST_MS. */
double finals_budget_ms(double run_budget_ms);

/* The time to keep for the finals, once the time of the best variant is known. That is the time of complete finals, if
 * it is less than 20 % of the budget. Else it is 20 % of the budget, or the time of the shortest finals if that is
 * more. All times are estimated generously.
 *   best_ms, default_ms  times of one application
 *   served_ms            time of what a lookup serves if that takes part although it is far behind; else 0
 *   load_ms              time to load a candidate
 *   available            candidates that may enter */
double finals_need_ms(double best_ms, double default_ms, double served_ms, double load_ms, int available,
                      double run_budget_ms);

/* The times that a plan is made from. */
struct finals_times {
  double best_ms, default_ms; /* times of one application; one application before each sample is not timed */
  double recheck_ms;          /* time to recheck one finalist; 0: not known yet */
  double look_ms;             /* time to check a sample's result, where copies do not restore the inputs; else 0 */
  double served_ms;           /* time of the variant that a lookup serves, if it is far behind; else 0 */
};

/* A variant that takes part although it may be far behind: the default, or what a lookup serves. */
struct finals_guest {
  bool is_rare; /* it runs only in `rounds` of the final rounds; else in all rounds */
  int rounds;
};

/* How much is done. */
struct finals_plan {
  double sample_ms;
  int entrants, entry_rounds, finalists, final_rounds;
  bool is_scaled;                       /* less is done than without a limit of time */
  bool checks;                          /* the result of each final sample is checked */
  struct finals_guest standard, served; /* standard: the default */
  int entry_rounds_least, final_rounds_least;
};

/* Plan the rounds. A guest is rare if it takes more than MEASURE_SCREEN_RATIO times the best, and would take more than
 * a quarter of the time in all rounds.
 *   available   candidates that may enter
 *   roof_count  slots that run in the final rounds beside them */
void finals_plan_make(const struct finals_times *times, double budget_ms, int available, int roof_count,
                      struct finals_plan *out);

#endif
