/* steps_search.h: which numbers of time steps a `halotune tune` tries, and how it shares its budget among them.
 *
 * Single steps get a quarter of the budget. Then numbers of steps are scouted. Each is about twice the one before, as
 * long as the time a step falls. After that come numbers between the best and its neighbours. Numbers above the best
 * count only if its winner's template offers them: another template was slower already. A number that databases know
 * as the best is among the scouts. The best number, which may be 1, gets the rest of the budget. A scout takes 6 % of
 * the budget, but at least 3 s: kernels of several steps compile for up to 2 s, and a scout without a result of them
 * finds no good number. So a small budget has fewer scouts. If the largest number that was tried is the best, and a
 * step takes less than 0.75 of the time that it takes with the number before, a small budget has none between them,
 * because more time for the best number gains more there. If the budget is too small for any scout, the known number
 * alone gets all that single steps leave.
 * No clock decides: the same times give the same turns. */
#ifndef CLI_TUNE_STEPS_SEARCH_H
#define CLI_TUNE_STEPS_SEARCH_H

#include <stdbool.h>

enum { STEPS_MOST = 64 }; /* more are tried only if --steps names them */

/* The least budget in seconds with which numbers are scouted: it has two scouts. */
#define STEPS_LEAST_BUDGET_S 17

/* The least share of the budget that a scout takes. */
#define STEPS_SCOUT_SHARE 0.06

/* How a budget is shared. */
struct steps_shares {
  double single, scout; /* shares of the budget */
  int scouts;           /* numbers that are scouted at most */
};

struct steps_search {
  int offered[STEPS_MOST], count; /* numbers of steps that templates offer, in ascending order, each at least 2 */
  double step_ms[STEPS_MOST];     /* time of a step for each of them; infinite without a winner, 0 before it is tried */
  int most[STEPS_MOST];           /* the largest number that the winner's template offers; 0: not known */
  double single_ms;               /* time of a single step; infinite without a winner, 0 before it is told */
  int known;                      /* the one of them that databases know as the best; 0: none */
  bool is_small;                  /* the budget is too small for scouts: `known` alone is tried */
  struct steps_shares shares;
  int scouted; /* how many were tried */
  bool is_over;
};

/* The next turn. */
struct steps_turn {
  int steps;
  double share;   /* its share of the budget */
  double earlier; /* the share that an earlier turn of this number took */
  bool is_scout;  /* its result only decides where the search goes on */
};

/* Share a budget.
 *   budget_s  INFINITY: only the number of variants is limited
 *   is_small  it is too small for scouts */
struct steps_shares steps_shares_of(double budget_s, bool is_small);

/* Find the next turn. Returns false if there is none; then, or after the last turn, the search is over. */
bool steps_search_next(struct steps_search *search, struct steps_turn *out);

/* Tell the result of a number of steps.
 *   step_ms  the time of a step of the winner; INFINITY without a winner
 *   most     the largest number that the winner's template offers; 0: not known */
void steps_search_tell(struct steps_search *search, int steps, double step_ms, int most);

#endif
