/* effects.h: what each value of each parameter did to the time, so far: enough to try likely variants before unlikely
 * ones. */
#ifndef SEARCH_STRATEGY_EFFECTS_H
#define SEARCH_STRATEGY_EFFECTS_H

#include "tuner/search/variants/search_space.h"

struct effect {
  double sum; /* of the logarithms of times */
  long count;
};

/* Of one template. Start with {0}. */
struct effects {
  struct effect all, of[MAX_PARAMETERS][MAX_VALUES];
};

void effects_add(struct effects *effects, const struct template *template, const struct configuration *configuration,
                 double log_time);

/* The logarithm of the time that a model without interactions expects: the mean, and for each parameter how much the
 * variants with its value are off the mean; drawn towards none where few of them were measured. 0 where nothing was
 * measured. */
double effects_expect(const struct effects *effects, const struct template *template,
                      const struct configuration *configuration);

/* How much changing one parameter should add to the logarithm of the time. */
double effects_change(const struct effects *effects, int parameter, int from, int to);

#endif
