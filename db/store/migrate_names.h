/* migrate_names.h: the step from version 4 to 5 that SQL alone cannot do: rows are named by identities. */
#ifndef DB_STORE_MIGRATE_NAMES_H
#define DB_STORE_MIGRATE_NAMES_H

#include <sqlite3.h>

#include "base/fail.h"

/* Compute the identities (base/identity.h) of stencils, templates and variants from their texts, and put them in the place of the
 * hashes of version 4. A row that this program cannot read, or a variant whose source was not kept, keeps its old name.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status migrate_names(sqlite3 *connection);

#endif
