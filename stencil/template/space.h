/* space.h: counts, visits and samples the configurations that a template's rules keep, without a list of them. */
#ifndef STENCIL_TEMPLATE_SPACE_H
#define STENCIL_TEMPLATE_SPACE_H

#include "stencil/template/template.h"

/* Counts of configurations are capped here. Doubles are exact up to this number, and sums over many templates do not
 * overflow. */
#define SPACE_MOST (1L << 53)

/* How many configurations the rules keep and remove. */
struct space_counts {
  double raw; /* the product of the numbers of values */
  long kept;  /* capped at SPACE_MOST, as `used` is */
  /* removed by each rule; a configuration that breaks several counts for the first */
  double removed[MAX_RULES];
  long used[MAX_PARAMETERS][MAX_VALUES]; /* number of kept configurations that have each value */
};

/* Called for each kept configuration, in order: the last parameter changes fastest. Return false to end the walk. */
typedef bool space_visit(void *context, const struct configuration *configuration);

/* Walk a template's space. A rule is tested as soon as the last parameter that it names has a value, so that it cuts
 * off the whole subtree. Memory does not grow with the space. If `visit` is NULL, parameters that no rule ties together
 * are walked separately, which counts millions of configurations in milliseconds.
 *   bindings  of the template, with its facts; the walk changes its parameters
 *   fixed     which parameters keep the value that `from` has; NULL for none
 *   visit     called for each kept configuration; NULL to count only
 *   counts    receives what was counted until the end of the walk; may be NULL */
void space_walk(struct bindings *bindings, const bool fixed[], const struct configuration *from, space_visit *visit,
                void *context, struct space_counts *counts);

/* Find the first rule about facts alone that fails. If there is one, the template does not apply to the stencil and the
 * space is empty. Returns NULL if there is none. */
const struct rule *space_refusal(const struct bindings *bindings);

/* Change a configuration into one that the rules keep. It changes as few values as possible. Among those choices it
 * takes the nearest values in the template's order, from the first parameter on; of two that are equally near, it takes
 * the earlier. A configuration that the rules keep already does not change.
 *   bindings  of the template, with its facts; its parameters are changed
 *   fixed     which parameters keep their values; NULL for none
 * Returns NULL on success. If the rules keep no configuration with the fixed values, it returns a broken rule and does
 * not change the configuration. */
const struct rule *space_nearest(struct bindings *bindings, const bool fixed[], struct configuration *configuration);

/* Draw `wanted` different configurations from the space, each with the same probability; all of them if there are no
 * more. It takes about as long as counting the space, and memory in proportion to `wanted`. In a space with more than
 * SPACE_MOST configurations, only the first SPACE_MOST can be drawn.
 *   seed  the same seed gives the same configurations
 *   out   receives a list from malloc in the order of the space, which the caller frees; NULL on failure and for an
 *         empty space
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status space_sample(struct bindings *bindings, const bool fixed[], const struct configuration *from,
                             long wanted, uint64_t seed, struct configuration **out, long *count);

#endif
