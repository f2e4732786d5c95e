/* prior.h: what a search expects before it has measured anything: by measurements of other problems, else by the work
 * that templates estimate, else by what should cost time (static_cost.h). */
#ifndef SEARCH_STRATEGY_PRIOR_H
#define SEARCH_STRATEGY_PRIOR_H

#include "base/memory/set.h"
#include "tuner/search/strategy/coordinates.h"
#include "tuner/search/variants/proposals.h"

struct prior;

/* What is expected of a variant. */
struct expectation {
  double log_time; /* logarithm of its time over the best time; at most PRIOR_MOST_LOG_TIME */
  double chance;   /* the probability that it works */
  /* where it was measured: index in known_variants.sources; -1: nowhere, so its neighbours predict it */
  int source;
};

/* A cap: the difference between bad and very bad variants does not help to find the best. */
#define PRIOR_MOST_LOG_TIME 1.0

/* Learn from space->known. Of very many variants, a few hundred are used for learning: the best, and a sample of the
 * others. The known time of each variant is still its prediction. Where too little is known, the estimates of
 * templates (access_work) or else costs (static_cost.h) rank the variants of one template.
 *   drawn  variants of the space, of which the one with the least work counts as the best
 *   out    ended with prior_free; NULL if too little is known, and the estimates do not differ
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status prior_make(const struct search_space *space, const struct coordinates *coordinates,
                           const struct proposal_list *drawn, struct prior **out);
void prior_free(struct prior *prior);

/* What is expected of a variant of the space.
 *   at  its coordinates */
struct expectation prior_expect(struct prior *prior, const struct proposal *proposal, const double at[]);

/* Whether measurements of other problems are known. */
bool prior_is_measured(const struct prior *prior);

/* The known variants that worked, the fastest first.
 *   number  from 0
 * Returns NULL if there are no more. */
const struct known_variant *prior_fastest(const struct prior *prior, long number);

#endif
