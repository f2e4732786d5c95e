/* draw.h: draws variants of all templates in a random order. */
#ifndef SEARCH_STRATEGY_DRAW_H
#define SEARCH_STRATEGY_DRAW_H

#include "tuner/search/variants/proposals.h"

/* Draw from each template's space. Within a template, all variants are equally likely. Templates take turns until they
 * have no more.
 *   most  variants of one template; LONG_MAX for all
 *   out   ended with proposals_free
 * Returns HALOTUNE_OK, HALOTUNE_MEMORY, or what space_is_walkable returns. */
halotune_status draw_variants(const struct search_space *space, long most, uint64_t seed, struct proposal_list *out);

/* Like draw_variants, but a template that estimates the work of its variants gives only one of each DRAW_GROUP that
 * are drawn: the one with the least work. So these variants are light, and differ in all that the estimate leaves out.
 * Any other template gives one of each DRAW_COST_GROUP: the one with the least cost (static_cost.h), which tells slow
 * variants, but not the fastest. A space with fewer variants than a group gives none. If some templates estimate work,
 * those that do not take part in every fourth turn alone: results come late, so that the first variants of a search are
 * proposed without any.
 *   most  light variants of one template with an estimate. For any other, DRAW_GROUP times as many are drawn */
enum { DRAW_GROUP = 32, DRAW_COST_GROUP = 2, DRAW_UNKNOWN_EVERY = 4 };
halotune_status draw_light(const struct search_space *space, long most, uint64_t seed, struct proposal_list *out);

#endif
