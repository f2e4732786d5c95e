/* visited.h: the set of variants that a strategy has proposed. */
#ifndef SEARCH_STRATEGY_VISITED_H
#define SEARCH_STRATEGY_VISITED_H

#include "tuner/search/strategy/strategy.h"

/* Start with {0}, end with visited_free. */
struct visited {
  struct hash *slots; /* open addressing; {0, 0} is free */
  size_t capacity, count;
};

/* Add a variant. Returns false where it is there already, and where memory is out. */
bool visited_add(struct visited *visited, const struct search_space *space, const struct proposal *proposal);

/* Add those that the space has at all, where it is that of a recording; else none. */
void visited_add_recorded(struct visited *visited, const struct search_space *space);

bool visited_has(const struct visited *visited, const struct search_space *space, const struct proposal *proposal);

void visited_free(struct visited *visited);

#endif
