/* strategies.c: the table of strategies. */
#include "tuner/search/strategy/strategy.h"

#include <string.h>

const struct strategy *const strategies[] = {&strategy_local, &strategy_model, &strategy_random, &strategy_exhaustive,
                                             NULL};

const struct strategy *strategy_find(const char *name) {
  for (int i = 0; strategies[i]; i++) {
    if (strcmp(strategies[i]->name, name) == 0) return strategies[i];
  }
  return NULL;
}
