/* database.h: opens the database for commands that show measurements. */
#ifndef CLI_OPTIONS_DATABASE_H
#define CLI_OPTIONS_DATABASE_H

#include "db/store/store.h"

/* Open the named database for reading, or the user's own. If the user's own is missing or empty, say so on stderr and
 * open the one that comes with Halotune.
 *   named   NULL for the user's own
 *   reader  begins that message: "the report shows"
 *   out  the caller owns it, and ends it with store_close; NULL on failure
 * Returns HALOTUNE_OK or the errors of store_open. */
halotune_status database_open(const char *named, const char *reader, struct store **out);

/* Open the database that comes with Halotune.
 *   out  the caller owns it; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND if there is none that is safe to use; or the errors of store_open. */
halotune_status database_open_starter(struct store **out);

#endif
