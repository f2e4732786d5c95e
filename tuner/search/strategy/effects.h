/* effects.h: a plain model of how each value of each parameter changes the time. It ranks variants that have no time
 * yet. */
#ifndef SEARCH_STRATEGY_EFFECTS_H
#define SEARCH_STRATEGY_EFFECTS_H

#include "tuner/search/variants/search_space.h"

struct effect {
  double sum; /* the sum of logarithms of times */
  long count;
};

/* Of one template. Start with {0}. */
struct effects {
  struct effect all, of[MAX_PARAMETERS][MAX_VALUES];
};

void effects_add(struct effects *effects, const struct template *template, const struct configuration *configuration,
                 double log_time);

/* The expected logarithm of a variant's time: the mean of all, and for each parameter the deviation of the variants
 * with its value. A deviation that few measurements support is reduced. Interactions of parameters are ignored. 0 if
 * nothing was measured. */
double effects_expect(const struct effects *effects, const struct template *template,
                      const struct configuration *configuration);

/* How much the change of one parameter is expected to add to the logarithm of the time. */
double effects_change(const struct effects *effects, int parameter, int from, int to);

#endif
