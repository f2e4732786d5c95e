/* migrate_5.h: the step from version 4: rows are named by identities, say where they come from, and are all
 * trusted. */
#ifndef DB_STORE_MIGRATE_5_H
#define DB_STORE_MIGRATE_5_H

#include "db/store/migrate_copy.h"

/* Put the tables of version 4 aside. */
#define migrate_5_sql MIGRATE_SET_ASIDE_SQL

/* Make the tables of schema.sql of those that were put aside, and drop these. What was not trusted is left out. Where
 * rows come from is not known, but for bests that were imported. Identities (base/identity.h) are computed from texts:
 * a row that this program cannot read, or a variant whose source was not kept, keeps its old name.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status migrate_5(sqlite3 *connection);

#endif
