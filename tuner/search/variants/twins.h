/* twins.h: variants with the machine code and the launch of another variant of the run, the original. Twins are not
 * measured. They share the original's result, also after the original was measured again. */
#ifndef SEARCH_VARIANTS_TWINS_H
#define SEARCH_VARIANTS_TWINS_H

#include "db/store/store.h"

struct twin {
  int64_t variant, original; /* rows in the store; equal if the twin has no row of its own */
  long number;               /* number of the original's result in this run */
};

/* Start with {0}, end with twins_free. */
struct twins {
  struct twin *list;
  int count, capacity;
};

/* Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status twins_add(struct twins *twins, const struct twin *twin);

/* The reason that is stored with a twin if its original has none. */
struct twin_reason {
  char text[64];
};
struct twin_reason twin_reason(long number);

/* Store an original's new result for its twins, too.
 *   again  the original's new result, as store_measured_again takes it
 *   count  receives how many twins there are
 * Returns HALOTUNE_OK or what store_measured_again returns. */
halotune_status twins_follow(const struct twins *twins, struct store *store, int64_t run, int64_t original,
                             const struct measurement *again, int *count);

void twins_free(struct twins *twins);

#endif
