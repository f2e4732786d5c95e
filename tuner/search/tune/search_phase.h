/* search_phase.h: the first phase of a run: from proposals to variants with a time. */
#ifndef SEARCH_TUNE_SEARCH_PHASE_H
#define SEARCH_TUNE_SEARCH_PHASE_H

#include "tuner/search/tune/search_inputs.h"

/* Compile, verify and measure variants until the time, the number of variants or the best result ends the search. Each
 * result is in the store before the next variant runs.
 *   out  filled on success and on failure
 * Returns HALOTUNE_OK whatever the outcomes of the variants are; else what backend, compiler, strategy or store
 * return. */
halotune_status search_phase_run(const struct search_inputs *in, struct search_end *out);

#endif
