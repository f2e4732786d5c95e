/* space.h: all configurations of a template that its rules keep, one after the other, with no list of them. */
#ifndef STENCIL_TEMPLATE_SPACE_H
#define STENCIL_TEMPLATE_SPACE_H

#include "stencil/template/template.h"

/* Counts of configurations end here: so far they are exact, and sums over many templates do not overflow. */
#define SPACE_MOST (1L << 53)

/* What the rules leave of a product of values. */
struct space_counts {
  double raw;                            /* the product of the numbers of values */
  long kept;                             /* at most SPACE_MOST, as `used` */
  double removed[MAX_RULES];             /* by each rule; a configuration that several exclude counts for the first */
  long used[MAX_PARAMETERS][MAX_VALUES]; /* in how many kept configurations each value is */
};

/* Called for each configuration that is kept, in order: the last parameter changes fastest. False ends the walk. */
typedef bool space_visit(void *context, const struct configuration *configuration);

/* Walk a template's space. A rule is tried as soon as the last parameter that it names has a value, so that it cuts off
 * all that follows at once. Memory does not grow with the space. Where there is nothing to visit, parameters that no
 * rule ties to each other are not walked together: millions of configurations are counted in milliseconds.
 *   bindings  of the template, with its facts; its parameters are changed
 *   fixed     NULL, or which parameters keep the value that `from` has
 *   visit     NULL to count only
 *   counts    receives what was counted until the end of the walk; may be NULL */
void space_walk(struct bindings *bindings, const bool fixed[], const struct configuration *from, space_visit *visit,
                void *context, struct space_counts *counts);

/* The first rule about facts alone that fails: then the template does not apply to the stencil, and the space is empty.
 * NULL if none does. */
const struct rule *space_refusal(const struct bindings *bindings);

/* Make a configuration one that the rules keep: of those that change the fewest values, the one whose values, from the
 * first parameter on, are the nearest in the order of the template; of two as near the earlier. One that they keep
 * already stays as it is.
 *   bindings  of the template, with its facts; its parameters are changed
 *   fixed     NULL, or which parameters keep their values
 * Returns NULL; or a rule that is broken, where the rules keep none with these values, and the configuration is
 * unchanged. */
const struct rule *space_nearest(struct bindings *bindings, const bool fixed[], struct configuration *configuration);

/* Draw `wanted` configurations from the space, each as likely as any other, none twice; all where there are no more.
 * Takes about as long as counting the space, and memory for those that are wanted. Where there are more than
 * SPACE_MOST, only so many of them can be drawn.
 *   seed  the same one gives the same configurations
 *   out   receives a list from malloc in the order of the space, the caller's; NULL on failure and where there are none
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status space_sample(struct bindings *bindings, const bool fixed[], const struct configuration *from,
                             long wanted, uint64_t seed, struct configuration **out, long *count);

#endif
