/* draw.h: variants of all templates in a random order. */
#ifndef SEARCH_STRATEGY_DRAW_H
#define SEARCH_STRATEGY_DRAW_H

#include "tuner/search/strategy/strategy.h"

/* Start with {0}, end with drawn_free. */
struct drawn_list {
  struct proposal *list;
  long count, capacity;
};

/* Draw from each template's space, each variant as likely as any other of its template.
 *   most  of one template; LONG_MAX for all
 *   out   in a random order, in which templates take turns until they have no more
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status draw_variants(const struct search_space *space, long most, uint64_t seed, struct drawn_list *out);

/* Add a variant that a database has, if today's template has these parameters, its rules keep them, and they are not
 * fixed to other values. Returns HALOTUNE_OK, also where it was not added, or HALOTUNE_MEMORY. */
halotune_status drawn_read(struct drawn_list *drawn, const struct search_space *space, int template_index,
                           const char *parameters);

/* Add a variant. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status drawn_add(struct drawn_list *drawn, const struct proposal *proposal);

void drawn_free(struct drawn_list *drawn);

#endif
