/* migrate_5.h: the step from version 4 to 5. Rows get identities as names, tell where they come from, and are all
 * trusted. */
#ifndef DB_STORE_MIGRATE_5_H
#define DB_STORE_MIGRATE_5_H

#include "db/store/migrate_copy.h"

/* Put the tables of version 4 aside. */
#define migrate_5_sql MIGRATE_SET_ASIDE_SQL

/* Copy the tables that were put aside into the tables of schema.sql, and drop them. Rows that were not trusted are left
 * out. Only imported bests tell their origin; all other rows get the origin "unknown". Identities (identity.h) are
 * computed from texts. A row that this program cannot read keeps its old name, and so does a variant whose source was
 * not kept.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status migrate_5(sqlite3 *connection);

#endif
