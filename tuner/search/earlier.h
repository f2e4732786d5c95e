/* earlier.h: what earlier runs tried for the same problem. */
#ifndef TUNER_SEARCH_EARLIER_H
#define TUNER_SEARCH_EARLIER_H

#include "tuner/search/draw.h"
#include "tuner/search/session.h"

enum earlier_choice {
  EARLIER_ALL,     /* every variant with a result */
  EARLIER_WINNERS, /* the winners of all runs, and the EARLIER_BEST fastest of the results */
};

enum { EARLIER_BEST = 8 };

/* List variants that earlier runs of the session's problem have results of, by the same driver and NVRTC, as far as today's templates
 * have them.
 *   out  ended with drawn_free
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status earlier_variants(struct session *session, enum earlier_choice choice, struct drawn_list *out);

#endif
