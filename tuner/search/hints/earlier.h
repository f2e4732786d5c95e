/* earlier.h: what earlier runs tried for the same problem. */
#ifndef SEARCH_HINTS_EARLIER_H
#define SEARCH_HINTS_EARLIER_H

#include "tuner/search/tune/session.h"
#include "tuner/search/variants/proposals.h"

enum earlier_choice {
  EARLIER_ALL,     /* every variant with a result */
  EARLIER_WINNERS, /* the winners of all runs, and the EARLIER_BEST fastest of the results */
};

enum { EARLIER_BEST = 8 };

/* List variants that earlier runs of the session's problem have results of, by the same driver and NVRTC, as far as
 * today's templates have them. out  ended with proposals_free Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status earlier_variants(struct session *session, enum earlier_choice choice, struct proposal_list *out);

/* How slow the GPU was beside now when the newest result of a variant was taken by an earlier run: by the time of the
 * default variant in that run, in its search or its finals. 1 where it has none, or an impossible one. variant     in
 * the store default_ms  of the default variant now */
double earlier_scale(const struct session *session, int64_t variant, double default_ms);

#endif
