/* choose_steps.h: chooses how many time steps a launch advances: the number with the least time for a step. */
#ifndef LIBRARY_LOOKUP_CHOOSE_STEPS_H
#define LIBRARY_LOOKUP_CHOOSE_STEPS_H

#include "library/lookup/choose.h"

/* Choose a configuration like `choose`, among launches of 1 to `most` steps. If a configuration was measured for
 * exactly this problem and number of steps, and fits, it is the candidate for that number. The least expected time of a
 * step wins, with the error of each time added to it; of equal ones the one with fewer steps. A launch of several steps
 * is chosen only if one was measured.
 *   question  receives the number of steps
 * Returns HALOTUNE_OK; or what `choose` returns for one step if nothing fits. */
halotune_status choose_steps(struct question *question, int most, struct answer *out);

/* Choose the best configuration for launches of exactly so many steps. For several steps, only measured configurations
 * are taken.
 *   question  receives the number of steps
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND, which has a detail only for one step; or another status of `choose`. */
halotune_status choose_of_steps(struct question *question, int steps, struct answer *out);

#endif
