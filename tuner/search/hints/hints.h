/* hints.h: the variants that a search tries first: what databases know as winners, here or elsewhere. */
#ifndef SEARCH_HINTS_HINTS_H
#define SEARCH_HINTS_HINTS_H

#include "tuner/search/hints/hint_rows.h"
#include "tuner/search/tune/session.h"

enum {
  MOST_HINTS = 16,
  MOST_HINTS_OF_OTHERS = 8, /* of them, winners of other stencils of the same shape */
};

/* Find them: in the database that is written, and in those of tune_tools.hints; the nearest first (hint_rows.h), none
 * twice. Each is brought into today's space: parameters are read by name, those that are no more are passed over, those
 * that the winner lacks have their defaults, those that --set fixes their fixed values, and where rules leave it out it
 * becomes the nearest that they keep. One with a value that is no more, or of a template that is not searched, is
 * passed over; so are the default variant, and in a replay what was not recorded. session->hints receives them, and
 * session->space shows them to the strategy. Nothing is found with --no-hints or --rematch, nor for a strategy that
 * takes none.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status hints_find(struct session *session);

/* Read the winners that they are chosen from: of these databases, the nearest to a task first.
 *   task  the session's, or that of its roof
 *   out   ended with hint_rows_free, after a failure, too
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status hints_read(const struct session *session, const struct task *task, struct hint_rows *out);

/* The variant of a space that a row stands for, brought there as hints_find says. Returns false where there is none. */
bool hints_variant(const struct search_space *space, const struct hint_row *row, struct proposal *out);

/* Whether a variant is one of them. */
bool hints_have(const struct session *session, const struct proposal *proposal);

#endif
