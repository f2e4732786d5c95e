/* check.h: whether a database is whole, and whether its rows mean something. */
#ifndef DB_STORE_CHECK_H
#define DB_STORE_CHECK_H

#include "db/store/store.h"

/* Look at all of a database: SQLite's own integrity check, references, tables that do not belong there, and what rows
 * mean: stencils and templates are read and hashed, parameters read in their template, launches and coefficients
 * read, samples counted, dates read, the source of each best hashed, and its launch compared with what its template
 * gives.
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
