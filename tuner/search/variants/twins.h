/* twins.h: variants that have the machine code and the launch of another variant of the run. They are not measured: their
 * results are those of the other one, the original, also after the original was measured again. */
#ifndef SEARCH_VARIANTS_TWINS_H
#define SEARCH_VARIANTS_TWINS_H

#include "db/store/store.h"

struct twin {
  int64_t variant, original; /* in the store; the same where both have one source */
  long number;               /* of the original's result in this run */
};

/* Start with {0}, end with twins_free. */
struct twins {
  struct twin *list;
  int count, capacity;
};

/* Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status twins_add(struct twins *twins, const struct twin *twin);

/* What is said of a twin whose original has nothing to say. */
struct twin_reason {
  char text[64];
};
struct twin_reason twin_reason(long number);

/* An original was looked at once more: store the same of its twins.
 *   again  what store_measured_again got, or would get, for the original
 *   count  receives how many twins it has
 * Returns HALOTUNE_OK or what store_measured_again returns. */
halotune_status twins_follow(const struct twins *twins, struct store *store, int64_t run, int64_t original,
                             const struct measurement *again, int *count);

void twins_free(struct twins *twins);

#endif
