/* neighbours.h: the variants next to another one: those that differ in one parameter, or in two where rules tie these.
 */
#ifndef SEARCH_STRATEGY_NEIGHBOURS_H
#define SEARCH_STRATEGY_NEIGHBOURS_H

#include "tuner/search/variants/search_space.h"

/* Visit them. A change of one parameter that the rules do not allow by itself is tried with each change of one more,
 * and the first two that they do allow are visited. bindings  of the template; its parameters are changed fixed NULL,
 * or which parameters keep their values */
void neighbours_visit(struct bindings *bindings, const bool fixed[], const struct configuration *centre,
                      void (*visit)(void *context, const struct configuration *neighbour), void *context);

#endif
