/* final_phase.h: the last phase of a run: from variants with a time to the winner in the store. */
#ifndef SEARCH_FINALS_FINAL_PHASE_H
#define SEARCH_FINALS_FINAL_PHASE_H

#include "tuner/search/finals/final_inputs.h"

/* Measure the best variants in interleaved rounds, and store the run's end with the winner if there is one.
 *   partial  why the search was not complete, so that the run counts as partial; NULL if it was complete
 *   out     receives the winner
 *   reason  receives why there is no winner, or why the run is partial; unchanged otherwise
 * Returns HALOTUNE_OK, also without a winner; else what backend, compiler or store return. */
halotune_status final_phase_run(const struct final_inputs *in, const char *partial, struct final_winner *out,
                                char reason[256]);

#endif
