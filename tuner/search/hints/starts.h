/* starts.h: the variants that a search tries first. */
#ifndef SEARCH_HINTS_STARTS_H
#define SEARCH_HINTS_STARTS_H

#include "tuner/search/tune/session.h"

/* Find them: the hints, which have to be found before (hints.h), then the default variant of each template, or the
 * nearest to it that the rules keep. None is there twice, nor is session->first, nor in a replay what was not
 * recorded. session->starts receives them, and session->space shows them to a strategy that takes hints. A rematch
 * has none.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status starts_find(struct session *session);

#endif
