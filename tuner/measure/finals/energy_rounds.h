/* energy_rounds.h: the energy of the finalists, for an objective that needs it, in rounds of its own after those of
 * time.
 *
 * In a round each finalist runs once, in a new random order, without a pause for ENERGY_LOOP_MS at least, between two
 * changes of the GPU's counter. NVML documents no period of the counter; 20 to 100 ms are usual. ENERGY_CHANGES
 * changes, over ENERGY_LOOP_MS, keep the error of both ends near 1 %. Before the first round nothing runs for as long,
 * to measure the power of the idle GPU. */
#ifndef MEASURE_FINALS_ENERGY_ROUNDS_H
#define MEASURE_FINALS_ENERGY_ROUNDS_H

#include "tuner/measure/finals/finals_parts.h"

/* Take all rounds, or as many as there is time for, which may be none. A finalist that goes wrong leaves. If the
 * counter does not change, or stops later, there are no rounds, and finals.lacks_energy is true. For OBJECTIVE_TIME
 * nothing is done. finals.energy_need_ms receives how much time the phase needs for one more round, if time ended them.
 * Returns HALOTUNE_OK, HALOTUNE_MEMORY, or the backend's status. */
halotune_status energy_rounds_run(struct finals_phase *phase);

/* The scores by which finalists are ranked, the lowest first: time, energy, or their product.
 *   adjusted_ms  their adjusted times
 *   scores       receives a number for each; NaN for those that left. Times where no energy is known */
void energy_rounds_scores(struct finals_phase *phase, const double *adjusted_ms, double *scores);

/* The upper end of the interval of the ratio of two finalists' scores.
 *   time_ratio  the ratio of their times */
double energy_rounds_ratio_high(struct finals_phase *phase, int player, int to, double time_ratio);

/* The energy of one application of a finalist in millijoules; NaN where it is not known. */
struct summary energy_rounds_energy(struct finals_phase *phase, int player);

#endif
