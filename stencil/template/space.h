/* space.h: counts, visits and samples the configurations that a template's rules keep, without a list of them. */
#ifndef STENCIL_TEMPLATE_SPACE_H
#define STENCIL_TEMPLATE_SPACE_H

#include "stencil/template/template.h"

/* Whether the last walk through the space of these bindings was whole, or was stopped by their limit. Returns
 * HALOTUNE_OK, or HALOTUNE_PARSE with the template's name if its steps ran out, so its result is incomplete. */
halotune_status space_is_walkable(const struct bindings *bindings);

/* How many configurations the rules keep and remove. */
struct space_counts {
  double raw; /* the product of the numbers of values */
  long kept;  /* capped at SPACE_MOST, as `used` is */
  /* removed by each rule; a configuration that breaks several counts for the first */
  double removed[MAX_RULES];
  long used[MAX_PARAMETERS][MAX_VALUES]; /* number of kept configurations that have each value */
};

/* Walk a template's space. A rule is tested as soon as the last parameter that it names has a value, so that it cuts
 * off the whole subtree. Memory does not grow with the space. If `visit` is NULL, parameters that no rule ties together
 * are walked separately, which counts millions of configurations in milliseconds.
 *   bindings  of the template, with its facts; the walk changes its parameters
 *   fixed     which parameters keep the value that `from` has; NULL for none
 *   visit     called for each kept configuration; NULL to count only
 *   counts    receives the counts up to the end of the walk; may be NULL */
void space_walk(struct bindings *bindings, const bool fixed[], const struct configuration *from, space_visit *visit,
                void *context, struct space_counts *counts);

/* Write a number of configurations: "4096", or "more than 9.0e15" where it is capped. */
enum { SPACE_COUNT_BYTES = 24 };
const char *space_count_text(long count, char text[SPACE_COUNT_BYTES]);

/* Find the first rule about facts alone that fails. If there is one, the template does not apply to the stencil and the
 * space is empty. Returns NULL if there is none. */
const struct rule *space_refusal(const struct bindings *bindings);

/* Change a configuration into one that the rules keep. It changes as few values as possible. Among those choices it
 * takes the nearest values in the template's order, from the first parameter on; of two that are equally near, it takes
 * the earlier. A configuration that the rules keep already does not change.
 *   bindings  of the template, with its facts; its parameters are changed
 *   fixed     which parameters keep their values; NULL for none
 * Returns NULL on success. If the rules keep no configuration with the fixed values, or if none was found in time, it
 * returns a broken rule and does not change the configuration. */
const struct rule *space_nearest(struct bindings *bindings, const bool fixed[], struct configuration *configuration);

/* Draw `wanted` different configurations from the space, each with the same probability; all of them if there are no
 * more. It takes at most about as long as counting the space, and far less for a small sample of a space that the
 * same bindings have counted. Memory is in proportion to `wanted`. In a space with more than
 * SPACE_MOST configurations, only the first SPACE_MOST can be drawn.
 *   seed  the same seed gives the same configurations
 *   out   receives a list from malloc in the order of the space, which the caller frees; NULL on failure, for an empty
 *         space, and if the walk was stopped
 * Returns HALOTUNE_OK, HALOTUNE_MEMORY, or HALOTUNE_PARSE as space_is_walkable. */
halotune_status space_sample(struct bindings *bindings, const bool fixed[], const struct configuration *from,
                             long wanted, uint64_t seed, struct configuration **out, long *count);

#endif
