/* draw.h: draws variants of all templates in a random order. */
#ifndef SEARCH_STRATEGY_DRAW_H
#define SEARCH_STRATEGY_DRAW_H

#include "tuner/search/variants/proposals.h"

/* Draw from each template's space. Within a template, all variants are equally likely. Some templates estimate the work
 * of their variants. Then the one with the least work of every DRAW_GROUP drawn comes before all others of the
 * template, so that the first variants are light, and differ in all that the estimate leaves out. Templates take turns
 * until they have no more.
 *   most  variants of one template; LONG_MAX for all
 *   out   ended with proposals_free
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
enum { DRAW_GROUP = 32 };
halotune_status draw_variants(const struct search_space *space, long most, uint64_t seed, struct proposal_list *out);

#endif
