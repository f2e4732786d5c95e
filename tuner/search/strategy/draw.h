/* draw.h: variants of all templates in a random order. */
#ifndef SEARCH_STRATEGY_DRAW_H
#define SEARCH_STRATEGY_DRAW_H

#include "tuner/search/variants/proposals.h"

/* Draw from each template's space, each variant as likely as any other of its template.
 *   most  of one template; LONG_MAX for all
 *   out   ended with proposals_free; in a random order, in which templates take turns until they have no more
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status draw_variants(const struct search_space *space, long most, uint64_t seed, struct proposal_list *out);

#endif
