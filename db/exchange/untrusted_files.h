/* untrusted_files.h: keeps documents that were imported without trust. Each has a file of its own in a folder beside
 * the user's database. No lookup, search or report opens these files, so that they cannot change, hide or refute
 * trusted rows. */
#ifndef DB_EXCHANGE_UNTRUSTED_FILES_H
#define DB_EXCHANGE_UNTRUSTED_FILES_H

#include "base/identity/identity.h"
#include "db/store/store.h"

/* Keep a document or a database, as PATH.untrusted/NAME-IDENTITY.db. One that is there already stays.
 *   path      path of the user's database
 *   from      its rows
 *   name      its name, one printable line
 *   document  identity of a document's bytes; NULL for a database: it is named by all bytes of what is kept. So a
 *             database cannot take the place of one that has the same rows, but other statistics or definitions
 *   kept      receives the file's path, from malloc, for the caller to free; NULL on failure
 *   is_new    receives whether the file was not there before
 * Returns HALOTUNE_OK, HALOTUNE_DB, HALOTUNE_IO or HALOTUNE_MEMORY. */
halotune_status untrusted_keep(const char *path, struct store *from, const char *name, const struct identity *document,
                               char **kept, bool *is_new);

/* Call `visit` for each file that is kept beside a database, in the order of their names. If there is no folder, there
 * are no files. A folder or file that another user owns, or that others may write to, is left out: another user could
 * put many files there, or one that hides an import.
 *   until_thread_ms  by clock_thread_ms: the list of the files ends then; INFINITY: no limit
 * Returns HALOTUNE_OK; HALOTUNE_IO after the others were visited if something is left out, with the detail of the first
 * and what to do; HALOTUNE_MEMORY; or the first failure of `visit`, which ends the visits. */
halotune_status untrusted_each(const char *path, double until_thread_ms,
                               halotune_status (*visit)(void *context, const char *file), void *context);

#endif
