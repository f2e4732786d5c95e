/* starts.h: the variants that a search tries first. */
#ifndef SEARCH_HINTS_STARTS_H
#define SEARCH_HINTS_STARTS_H

#include "tuner/search/variants/proposals.h"

/* List them: the hints (hints.h), then the default variant of each template, or the nearest to it that the rules keep. None is
 * listed twice. In a replay, variants that were not recorded are passed over.
 *   first  the variant that is tried before all others, and is not listed; NULL for none
 *   out    the variants are added to it
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status starts_find(const struct search_space *space, const struct proposal_list *hints,
                            const struct proposal *first, struct proposal_list *out);

#endif
