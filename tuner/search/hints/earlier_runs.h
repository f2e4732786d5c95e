/* earlier_runs.h: what earlier runs tried for the same problem. */
#ifndef SEARCH_HINTS_EARLIER_RUNS_H
#define SEARCH_HINTS_EARLIER_RUNS_H

#include "db/store/store.h"
#include "tuner/search/variants/proposals.h"

enum earlier_choice {
  EARLIER_ALL,     /* every variant with a result */
  EARLIER_WINNERS, /* the winners of all runs, and the EARLIER_BEST fastest variants */
};

enum { EARLIER_BEST = 8 };

/* List variants that have results in earlier runs of this user for the same problem, driver and NVRTC. Variants that
 * today's templates lack are left out.
 *   run  this run, in the store
 *   out  ended with proposals_free
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status earlier_variants(struct store *store, int64_t run, const struct search_space *space,
                                 enum earlier_choice choice, struct proposal_list *out);

/* How slow the GPU was during the newest earlier result of a variant, relative to now. The default variant's time in
 * that run tells it.
 *   run, variant  in the store
 *   standard      the default variant
 *   default_ms    of the default variant now
 *   out           receives 1 if the default variant has no time there, or if no clock explains the ratio
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status earlier_scale(struct store *store, int64_t run, int64_t variant, const struct variant_key *standard,
                              double default_ms, double *out);

#endif
