/* earlier.h: what earlier runs tried for the same problem. */
#ifndef SEARCH_HINTS_EARLIER_H
#define SEARCH_HINTS_EARLIER_H

#include "db/store/store.h"
#include "tuner/search/variants/proposals.h"

enum earlier_choice {
  EARLIER_ALL,     /* every variant with a result */
  EARLIER_WINNERS, /* the winners of all runs, and the EARLIER_BEST fastest of the results */
};

enum { EARLIER_BEST = 8 };

/* List variants that earlier runs of a run's problem have results of, by the same driver and NVRTC, as far as today's
 * templates have them.
 *   run  in the store
 *   out  ended with proposals_free
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status earlier_variants(struct store *store, int64_t run, const struct search_space *space,
                                 enum earlier_choice choice, struct proposal_list *out);

/* How slow the GPU was beside now when an earlier run took the newest result of a variant: by the time of the default variant
 * in that run, in its search or its finals. 1 where it has none, or an impossible one.
 *   run, variant  in the store
 *   standard      the default variant
 *   default_ms    of the default variant now */
double earlier_scale(struct store *store, int64_t run, int64_t variant, const struct variant_key *standard,
                     double default_ms);

#endif
