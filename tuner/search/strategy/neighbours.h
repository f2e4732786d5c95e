/* neighbours.h: the variants that differ from another one in one parameter, or in two if rules tie these two. */
#ifndef SEARCH_STRATEGY_NEIGHBOURS_H
#define SEARCH_STRATEGY_NEIGHBOURS_H

#include "tuner/search/variants/search_space.h"

/* Visit the neighbours of a variant. If the rules do not allow a change of one parameter, each change of a second one
 * is tried with it, and the first two variants that the rules allow are visited.
 *   bindings  of the template; their parameters are changed
 *   fixed     which parameters keep their values; NULL: none */
void neighbours_visit(struct bindings *bindings, const bool fixed[], const struct configuration *centre,
                      void (*visit)(void *context, const struct configuration *neighbour), void *context);

#endif
