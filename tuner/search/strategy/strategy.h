/* strategy.h: which variants to try, and in what order.
 *
 * A strategy proposes variants faster than they are measured, since compilers run ahead; what was measured is told to
 * it in whatever order it comes. No variant is proposed twice. */
#ifndef SEARCH_STRATEGY_STRATEGY_H
#define SEARCH_STRATEGY_STRATEGY_H

#include "tuner/search/variants/search_space.h"

struct strategy {
  const char *name, *about;
  bool takes_hints; /* it begins with those of the space; else it knows of none */
  /* Begin. `space` must live as long as the state. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
  halotune_status (*open)(const struct search_space *space, uint64_t seed, void **state);
  /* The next variant to try.
   *   have  receives whether there is one
   * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
  halotune_status (*next)(void *state, struct proposal *out, bool *have);
  /* What came of one; any variant of the space, proposed or not.
   *   time_ms  INFINITY for one that failed
   * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
  halotune_status (*tell)(void *state, const struct proposal *proposal, double time_ms);
  void (*close)(void *state);
};

extern const struct strategy strategy_exhaustive, strategy_random, strategy_local;

/* The strategy of that name; NULL for an unknown one. */
const struct strategy *strategy_find(const char *name);

/* All of them, NULL at the end. */
extern const struct strategy *const strategies[];

#endif
