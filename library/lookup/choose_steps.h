/* choose_steps.h: how many time steps a launch is to advance: the number with the least time a step. */
#ifndef LIBRARY_LOOKUP_CHOOSE_STEPS_H
#define LIBRARY_LOOKUP_CHOOSE_STEPS_H

#include "library/lookup/choose.h"

/* Choose a configuration like `choose`, among launches of 1 to `most` steps. Where one was measured for exactly this
 * problem and number of steps, and fits, it stands for that number. What counts is the expected time over the number of
 * steps; of equal times that of fewer steps. A launch of several steps is chosen only if one was measured.
 *   question  receives the number of steps
 * Returns HALOTUNE_OK; or what `choose` returns for one step if nothing fits. */
halotune_status choose_steps(struct question *question, int most, struct answer *out);

/* Choose the best configuration of launches of exactly so many steps. Launches of several steps have none that was not
 * measured.
 *   question  receives the number of steps
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND, which has a detail only for one step; or another status of `choose`. */
halotune_status choose_of_steps(struct question *question, int steps, struct answer *out);

#endif
