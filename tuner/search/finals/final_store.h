/* final_store.h: stores what the finals find out about a variant that has a time from the search. */
#ifndef SEARCH_FINALS_FINAL_STORE_H
#define SEARCH_FINALS_FINAL_STORE_H

#include "tuner/measure/sampling/measure.h"
#include "tuner/search/finals/final_inputs.h"

/* A screened variant was measured fully. Store the new result for the variant and its twins; count it.
 *   candidate  its index in `in->timed`
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status final_store_measured(const struct final_inputs *in, int candidate, const struct measured *measured);

/* A variant failed. Store that as the newest result of the variant and its twins; count it.
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status final_store_failed(const struct final_inputs *in, int candidate, enum outcome outcome,
                                   const char *reason);

#endif
