/* predicted.h: the variants that lookups would choose for the target, the fastest by prediction first. */
#ifndef SEARCH_HINTS_PREDICTED_H
#define SEARCH_HINTS_PREDICTED_H

#include "tuner/search/hints/hints.h"

enum { MOST_PREDICTED = 8 };

/* What lookups say. End with predicted_free. */
struct predicted {
  struct proposal_list list; /* at most MOST_PREDICTED, none twice */
  bool has_served;           /* the first of the list is what a lookup, which does not read --hints, serves today */
};

/* List what the library would choose for the target, with the same databases and the same ranking. The first one is
 * what it serves. The next configurations follow in the order of their predicted times; a few of their parameters were
 * changed where they did not fit. The first half is chosen without the database of --hints, which no lookup reads. A
 * database that cannot be read, or a GPU that none of them knows, gives an empty list. Stencils whose texts were not
 * read before the sources' end say nothing.
 *   out  ended with predicted_free, also after a failure
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status predicted_find(const struct hint_sources *sources, const struct hint_target *target,
                               const struct search_space *space, struct predicted *out);

/* Find the number of time steps a launch that the databases know as the best for the target's stencil and element type.
 * It is the number of the answer that a lookup of at most so many steps gets. The databases know a number only if a
 * problem of this stencil and type was measured on this grid or a near one, on this GPU or one of its architecture. The
 * database of --hints is asked if the others know none.
 *   target  its launch and cache modes, and the steps of its task, do not matter
 *   most    at least 2
 *   out     receives the number; 0 if the databases know none, or cannot be read
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status predicted_steps(const struct hint_sources *sources, const struct hint_target *target, int most,
                                int *out);

void predicted_free(struct predicted *predicted);

#endif
