/* check.h: checks whether a database is undamaged, and whether its rows make sense. */
#ifndef DB_STORE_CHECK_H
#define DB_STORE_CHECK_H

#include "base/text/text.h"
#include "db/store/store.h"

/* Check a whole database: SQLite's own integrity check, references, ids, and tables that do not belong there. Then the
 * rows: stencils, templates, parameters, launches, coefficients and dates must be readable. Stencils, templates and the
 * source of each best must have their hashes. The number of samples must be what the row says. The launch of each best
 * must be the one that its template gives.
 *   problem  called with a sentence for each defect; `context` is passed on
 *   found    receives the number of defects
 * Returns HALOTUNE_OK even if there are defects; HALOTUNE_DB or HALOTUNE_MEMORY if the check itself could not go on. */
halotune_status store_check(struct store *store, void (*problem)(void *context, const char *text), void *context,
                            long *found);

/* As store_check, but keep only the first defect.
 *   first  receives its sentence, and stays as it is if there is no defect */
halotune_status store_check_first(struct store *store, struct text *first, long *found);

/* Look for dates that lie in the future. A merge takes such rows, because decisions ignore future dates.
 * Arguments and results as in store_check. */
halotune_status store_check_future(struct store *store, void (*problem)(void *context, const char *text), void *context,
                                   long *found);

/* Look for bests whose source was left out, and which this program does not generate any more. A merge takes such rows:
 * lookups of another version may generate them. Arguments and results as in store_check. */
halotune_status store_check_left_out(struct store *store, void (*problem)(void *context, const char *text),
                                     void *context, long *found);

/* Look whether the templates take too much memory when they are parsed: lookups keep them. Returns HALOTUNE_OK;
 * HALOTUNE_DB if they do. */
halotune_status store_check_size(struct store *store);

#endif
