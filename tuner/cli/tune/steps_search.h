/* steps_search.h: which numbers of time steps a `halotune tune` tries, and how it shares its budget among them.
 *
 * Single steps get SINGLE of the budget. Then numbers of steps are scouted, each with SCOUT of the budget. Each is
 * about twice the one before, as long as the time a step falls. After that come numbers between the best and its
 * neighbours. A number that databases know as the best is among the scouts. The best number, which may be 1, gets the
 * rest of the budget. If the budget is too small for scouts, the known number alone gets all that single steps leave.
 * No clock decides: the same times give the same turns. */
#ifndef CLI_TUNE_STEPS_SEARCH_H
#define CLI_TUNE_STEPS_SEARCH_H

#include <stdbool.h>

enum { STEPS_MOST = 64 }; /* more are tried only if --steps names them */

/* Shares of the budget. */
#define STEPS_SINGLE_SHARE 0.40
#define STEPS_SCOUT_PERCENT 6
#define STEPS_SCOUT_SHARE (STEPS_SCOUT_PERCENT / 100.0)

/* The least budget in seconds of which SCOUT is a second: with less, no number is scouted. */
#define STEPS_LEAST_BUDGET_S 17
_Static_assert(STEPS_LEAST_BUDGET_S == (100 + STEPS_SCOUT_PERCENT - 1) / STEPS_SCOUT_PERCENT, "one second of it");

struct steps_search {
  int offered[STEPS_MOST], count; /* numbers of steps that templates offer, in ascending order, each at least 2 */
  double step_ms[STEPS_MOST];     /* time of a step for each of them; infinite without a winner, 0 before it is tried */
  double single_ms;               /* time of a single step; infinite without a winner, 0 before it is told */
  int known;                      /* the one of them that databases know as the best; 0: none */
  bool is_small;                  /* the budget is too small for scouts: `known` alone is tried */
  int scouted;                    /* how many were tried */
  bool is_over;
};

/* The next turn. */
struct steps_turn {
  int steps;
  double share;   /* its share of the budget */
  double earlier; /* the share that an earlier turn of this number took */
};

/* Find the next turn. Returns false if there is none; then, or after the last turn, the search is over. */
bool steps_search_next(struct steps_search *search, struct steps_turn *out);

/* Tell the time of a step of the winner; INFINITY without a winner. */
void steps_search_tell(struct steps_search *search, int steps, double step_ms);

#endif
