/* refresh.h: brings the template of stored variants up to date where another version of the template generates the same
 * code. */
#ifndef DB_EXCHANGE_REFRESH_H
#define DB_EXCHANGE_REFRESH_H

#include <stdbool.h>

#include "db/exchange/find_template.h"
#include "db/exchange/refresh_outcome.h"
#include "db/store/going_runs.h"

/* Variants of one template that met one outcome. */
struct refreshed {
  const char *template_name; /* valid during the call */
  enum refresh_outcome outcome;
  long variants;
};

/* Take each variant of a best, a finalist or a wrong result whose template is not the installed one, and generate it
 * with the installed template. If this gives a source of the same meaning and the same launch on all of its problems,
 * the variant becomes one of the installed template. Dates, times, sources and origins stay. A variant of the installed
 * template whose parameters stand in another order gets the order of the installed text.
 *   asks    tells which runs go on (db/store/going_runs.h), NULL: none; while any does, no row is removed
 *   is_dry  change nothing; a store that is open for reading is enough
 *   tell    called for each template and outcome that there is, in the order of names and outcomes
 * Each variant is one transaction: after a kill, the next call goes on.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status store_refresh(struct store *store, find_template *find, is_tuning *asks, bool is_dry,
                              void (*tell)(void *context, const struct refreshed *refreshed), void *context);

/* Put '?' in the place of what cannot be printed in the command lines of runs, as a tune does when it stores them. An
 * older Halotune stored them as they were, so that no other database takes the rows.
 *   count  receives how many runs have such a command line */
halotune_status store_refresh_commands(struct store *store, bool is_dry, int64_t *count);

#endif
