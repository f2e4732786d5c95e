/* migrate_6.h: the step from version 5 to 6: a problem has a number of time steps. */
#ifndef DB_STORE_MIGRATE_6_H
#define DB_STORE_MIGRATE_6_H

#include "db/store/migrate_copy.h"

/* Put the tables of version 5 aside. */
#define migrate_6_sql                                                                                      \
  MIGRATE_SET_ASIDE_SQL                                                                                    \
  "; drop index if exists best_by_text; alter table origin rename to old_origin; alter table stencil_text" \
  " rename to old_stencil_text"

/* Make the tables of schema.sql of those that were put aside, and drop these. Some files of version 5 have columns of
 * version 6 already: they keep the values. Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status migrate_6(sqlite3 *connection);

#endif
