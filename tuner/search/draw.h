/* draw.h: variants of all templates in a random order. */
#ifndef TUNER_SEARCH_DRAW_H
#define TUNER_SEARCH_DRAW_H

#include "tuner/search/strategy.h"

/* Start with {0}, end with drawn_free. */
struct drawn_list {
  struct proposal *list;
  long count;
};

/* Draw from each template's space, each variant as likely as any other of its template.
 *   most  of one template; LONG_MAX for all
 *   out   in a random order, in which templates take turns until they have no more
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status draw_variants(const struct search_space *space, long most, uint64_t seed, struct drawn_list *out);

void drawn_free(struct drawn_list *drawn);

#endif
