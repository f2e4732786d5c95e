/* effects.c: keeps means of logarithms by parameter and value. */
#include "tuner/search/strategy/effects.h"

static void effect_add(struct effect *effect, double log_time) {
  effect->sum += log_time;
  effect->count++;
}

void effects_add(struct effects *effects, const struct template *template, const struct configuration *configuration,
                 double log_time) {
  effect_add(&effects->all, log_time);
  for (int i = 0; i < template->parameter_count; i++) effect_add(&effects->of[i][configuration->choice[i]], log_time);
}

/* How far the mean of a value is from the mean of all. Some average variants are added to the value's, so that few
 * measurements do not move it far. */
static double value_effect(const struct effects *effects, int parameter, int value) {
  enum { AVERAGE_VARIANTS = 3 };
  const struct effect *effect = &effects->of[parameter][value];
  if (effects->all.count == 0) return 0;
  double mean = effects->all.sum / (double)effects->all.count;
  return (effect->sum - (double)effect->count * mean) / (double)(effect->count + AVERAGE_VARIANTS);
}

double effects_expect(const struct effects *effects, const struct template *template,
                      const struct configuration *configuration) {
  if (effects->all.count == 0) return 0;
  double expected = effects->all.sum / (double)effects->all.count;
  for (int i = 0; i < template->parameter_count; i++) expected += value_effect(effects, i, configuration->choice[i]);
  return expected;
}

double effects_change(const struct effects *effects, int parameter, int from, int to) {
  return value_effect(effects, parameter, to) - value_effect(effects, parameter, from);
}
