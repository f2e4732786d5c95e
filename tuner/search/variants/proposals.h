/* proposals.h: lists of proposals, and sets of variants that were proposed before. */
#ifndef SEARCH_VARIANTS_PROPOSALS_H
#define SEARCH_VARIANTS_PROPOSALS_H

#include "base/identity/hash.h"
#include "base/memory/set.h"
#include "tuner/search/variants/search_space.h"

/* Start with {0}, end with proposals_free. */
struct proposal_list {
  struct proposal *list;
  long count, capacity;
};

/* Whether a variant has the fixed values, and no rule excludes it. */
bool proposal_is_kept(const struct search_space *space, const struct proposal *proposal);

/* Add a proposal. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status proposals_add(struct proposal_list *proposals, const struct proposal *proposal);

/* Add a variant as a database has it. It is left out if today's template lacks a parameter, if a rule excludes it, or
 * if a parameter is fixed to another value.
 *   parameters  as the store has them
 * Returns HALOTUNE_OK, also if it was left out, or HALOTUNE_MEMORY. */
halotune_status proposals_read(struct proposal_list *proposals, const struct search_space *space, int template_index,
                               const char *parameters);

/* Whether a variant is in the list. */
bool proposals_have(const struct proposal_list *proposals, const struct search_space *space,
                    const struct proposal *proposal);

void proposals_free(struct proposal_list *proposals);

/* A set of variants. Start with {0}, end with visited_free. */
struct visited {
  struct set set; /* a set of the indices of `list` */
  struct hash *list;
  int count, capacity;
};

/* Add a variant.
 *   is_new  receives whether it was not there before; may be NULL
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status visited_add(struct visited *visited, const struct search_space *space, const struct proposal *proposal,
                            bool *is_new);

/* Add all variants of a space that is a list of variants. Of other spaces nothing is added. */
halotune_status visited_add_listed(struct visited *visited, const struct search_space *space);

bool visited_has(const struct visited *visited, const struct search_space *space, const struct proposal *proposal);

/* The number of a variant in the order of adding, from 0; -1 if it is not there. */
int visited_number(const struct visited *visited, const struct search_space *space, const struct proposal *proposal);

void visited_free(struct visited *visited);

#endif
