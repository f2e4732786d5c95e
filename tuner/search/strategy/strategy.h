/* strategy.h: which variants to try, and in what order.
 *
 * A strategy proposes variants before the results of earlier ones are known, because compilers run ahead of the device.
 * Results are told in the order in which they come. No variant is proposed twice. */
#ifndef SEARCH_STRATEGY_STRATEGY_H
#define SEARCH_STRATEGY_STRATEGY_H

#include "tuner/search/variants/search_space.h"

struct strategy {
  const char *name, *about;
  bool takes_hints; /* it begins with the hints of the space; else it ignores them */
  bool takes_known; /* it learns from the known variants of the space */
  bool ends_early;  /* it may end before all variants were proposed, and says so in its remark */
  /* Begin a search. `space` must live as long as the state. Returns HALOTUNE_OK or what draw_variants returns. */
  halotune_status (*open)(const struct search_space *space, uint64_t seed, void **state);
  /* The next variant to try.
   *   have  receives whether there is one
   * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
  halotune_status (*next)(void *state, struct proposal *out, bool *have);
  /* Tell the result of a variant of the space, which need not have been proposed. Each variant is told once. Where a
   * doubtful result is measured again, the strategy keeps the first one: the finals get the new one.
   *   time_ms  INFINITY if it failed
   * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
  halotune_status (*tell)(void *state, const struct proposal *proposal, double time_ms);
  /* Why the last variant was proposed, and what is expected of it. NULL: there is nothing to say. */
  const char *(*why)(const void *state);
  /* What a user should know of the search: for example that it ended early, or changed to another strategy. "" for
   * nothing. NULL: there is never a remark. */
  const char *(*remark)(const void *state);
  void (*close)(void *state);
};

extern const struct strategy strategy_exhaustive, strategy_random, strategy_local, strategy_model;

/* Find a strategy by its name. Returns NULL if there is none. */
const struct strategy *strategy_find(const char *name);

/* All strategies, with NULL at the end. */
extern const struct strategy *const strategies[];

#endif
