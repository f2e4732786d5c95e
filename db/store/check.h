/* check.h: whether a database is whole, and whether its rows mean something. */
#ifndef DB_STORE_CHECK_H
#define DB_STORE_CHECK_H

#include "db/store/store.h"

/* Check a whole database: SQLite's own integrity check, references, and tables that do not belong there. Then the rows:
 * stencils, templates, parameters, launches, coefficients and dates must be readable. Stencils, templates and the
 * source of each best must have their hashes. Samples must be as many as the row says. The launch of each best must be
 * that which its template gives.
 *   problem  called for each thing that is wrong, with a sentence; `context` is passed on
 *   found    receives how many there were
 * Returns HALOTUNE_OK also where something is wrong; HALOTUNE_DB or HALOTUNE_MEMORY where the check itself could not
 * go on. */
halotune_status store_check(struct store *store, void (*problem)(void *context, const char *text), void *context,
                            long *found);

/* Look for dates that lie in the future. A merge takes them: they decide nothing.
 * Arguments and results as in store_check. */
halotune_status store_check_future(struct store *store, void (*problem)(void *context, const char *text), void *context,
                                   long *found);

#endif
