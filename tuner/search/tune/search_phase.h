/* search_phase.h: the first phase of a run: from proposals to variants with a time. */
#ifndef SEARCH_TUNE_SEARCH_PHASE_H
#define SEARCH_TUNE_SEARCH_PHASE_H

#include "tuner/search/tune/search_inputs.h"

/* Compile, verify and measure variants until time, number or quality says that it is enough. Each result is in the
 * store before the next variant runs.
 *   out  filled on success and on failure
 * Returns HALOTUNE_OK whatever came of the variants; else what backend, compiler, strategy or store return. */
halotune_status search_phase_run(const struct search_inputs *in, struct search_end *out);

#endif
