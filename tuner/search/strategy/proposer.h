/* proposer.h: asks a strategy for variants and tells it results, in a thread of its own, so that compilers and device
 * need not wait while the strategy thinks. A few proposals are ready ahead. They do not know the newest results. */
#ifndef SEARCH_STRATEGY_PROPOSER_H
#define SEARCH_STRATEGY_PROPOSER_H

#include "tuner/search/strategy/strategy.h"

enum {
  PROPOSER_AHEAD = 4, /* proposals that are ready, at most; more of them would know too little */
  PROPOSER_WHY_BYTES = 256
};

enum proposer_answer {
  PROPOSER_HAS,      /* there is a proposal */
  PROPOSER_THINKING, /* there is none yet */
  PROPOSER_DRY       /* the strategy has none, and knows all results */
};

struct proposed {
  struct proposal proposal;
  char why[PROPOSER_WHY_BYTES]; /* see strategy.h; "" where there is nothing to say */
};

struct proposer;

/* Make a proposer. Its thread begins with the first question.
 *   strategy, state  must live as long. From the first question on, nobody else uses them and the bindings of the
 *                    state's space
 *   is_beside        whether it has a thread. Without one, each proposal knows all results that were told before
 *   out              ended with proposer_free; NULL on failure
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. Threads: one at a time calls these functions. */
halotune_status proposer_make(const struct strategy *strategy, void *state, bool is_beside, struct proposer **out);

/* Wait for the proposal that is made, and end the thread. Proposals that were not taken, and results that were not
 * told yet, are dropped. NULL is fine. */
void proposer_free(struct proposer *proposer);

/* Take the next proposal. Only a proposer without a thread waits for the strategy.
 *   out  set if the answer is PROPOSER_HAS
 * Returns HALOTUNE_OK, or what the strategy returned; then again each time. */
halotune_status proposer_next(struct proposer *proposer, struct proposed *out, enum proposer_answer *answer);

/* Wait while the strategy thinks and no proposal is ready, but not longer than `timeout_ms`. */
void proposer_wait(struct proposer *proposer, int timeout_ms);

/* Tell the strategy a result; see strategy.h. Its thread may pass it on later, before it asks for another proposal.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status proposer_tell(struct proposer *proposer, const struct proposal *proposal, double time_ms);

#endif
