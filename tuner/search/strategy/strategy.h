/* strategy.h: which variants to try, and in what order.
 *
 * A strategy proposes variants faster than they are measured, since compilers run ahead; what was measured is told to
 * it in whatever order it comes. No variant is proposed twice. */
#ifndef SEARCH_STRATEGY_STRATEGY_H
#define SEARCH_STRATEGY_STRATEGY_H

#include "stencil/template/space.h"

struct proposal {
  int template_index; /* in the search space */
  struct configuration configuration;
};

/* Parameters of one template that keep their values. */
struct fixed_parameters {
  bool is_fixed[MAX_PARAMETERS];
  struct configuration values;
};

/* The spaces of all templates that apply to a problem. */
struct search_space {
  struct template *const *templates;
  struct bindings *bindings;            /* a template each, with the problem's facts */
  const struct fixed_parameters *fixed; /* a template each; NULL: nothing is fixed */
  int count;
  const struct proposal *only; /* the variants, where they are these alone; NULL: all that the rules keep */
  long only_count;
  const struct proposal *hints; /* variants to be tried first (starts.h), in this order, none twice; NULL for none */
  long hint_count;
};

/* What space_walk and its like take for a template; NULL where nothing is fixed. */
static inline const bool *space_fixed(const struct search_space *space, int index) {
  return space->fixed ? space->fixed[index].is_fixed : NULL;
}
static inline const struct configuration *space_values(const struct search_space *space, int index) {
  return space->fixed ? &space->fixed[index].values : NULL;
}

struct strategy {
  const char *name, *about;
  bool takes_hints; /* it begins with those of the space; else it knows of none */
  /* Begin. `space` must live as long as the state. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
  halotune_status (*open)(const struct search_space *space, uint64_t seed, void **state);
  /* The next variant to try. False where there is none left. */
  bool (*next)(void *state, struct proposal *out);
  /* What came of one; any variant of the space, proposed or not. time_ms: INFINITY for one that failed. */
  void (*tell)(void *state, const struct proposal *proposal, double time_ms);
  void (*close)(void *state);
};

extern const struct strategy strategy_exhaustive, strategy_random, strategy_local;

/* The strategy of that name; NULL for an unknown one. */
const struct strategy *strategy_find(const char *name);

/* All of them, NULL at the end. */
extern const struct strategy *const strategies[];

#endif
