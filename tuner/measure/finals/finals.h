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
 *    rounds that chose the finalists does not count. Each sample begins with new fields, and its result is
 *    checked, if there is time for that. Where the budget has time left, more rounds follow, at most FINALS_ROUNDS_MOST
 *    in all.
 * 5. If the objective is energy, or energy times time, rounds follow that measure energy (energy_rounds.h). They rank
 *    the finalists, of which there are ENERGY_FINALISTS at most.
 * 6. All finalists are rechecked. A variant that fails, here or earlier, leaves; the others go on.
 * 7. The leader has the lowest adjusted time (rounds.h) over all rounds, or the lowest score of the objective. It is
 *    known only after the last round, so an earlier leader has no advantage. A finalist ties with the leader if the
 *    interval of its ratio to the leader within the same round ends at or below 1.005. tie_rule.h chooses the winner
 *    among the leader and its ties.
 *
 * If time is short, less is done, in this order: no checks of single samples, shorter samples, fewer entrants, fewer
 * final rounds, fewer finalists, fewer entry rounds. Each is reduced to its least before the next (finals_plan.h). */
#ifndef MEASURE_FINALS_FINALS_H
#define MEASURE_FINALS_FINALS_H

#include "tuner/measure/finals/finals_request.h"

/* Run the phase. The first FINALS_SLOTS slots are loaded, and hold any candidates at the end. Returns HALOTUNE_OK, also
 * if no finalist is left or the phase was stopped early (finals.ranked is 0); the backend's or a callback's status; or
 * HALOTUNE_MEMORY. finals_free(out) is right in each case. Threads: as the backend. */
halotune_status finals_run(const struct finals_request *request, struct finals *out);
void finals_free(struct finals *finals);

/* The winner, which is the first entry, turned out to be wrong. It leaves as if it had failed in its recheck. The other
 * finalists are ranked again, with a new leader, ties, winner and ratios.
 *   finals   of a finals_run whose request's candidates are still there; `ranked` is 0 if no finalist is left
 *   verdict  what is wrong with the winner
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status finals_reject(struct finals *finals, const struct verdict *verdict);

#endif
