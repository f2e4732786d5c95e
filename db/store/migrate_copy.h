/* migrate_copy.h: makes tables again from schema.sql, and copies the rows of the old tables into them. */
#ifndef DB_STORE_MIGRATE_COPY_H
#define DB_STORE_MIGRATE_COPY_H

#include <sqlite3.h>

#include "base/fail.h"

/* SQL that puts aside the tables of version 4, as old_device, old_stencil and so on, and drops their indexes. Version 5
 * has one more table and one more index, which its step puts aside itself. */
#define MIGRATE_SET_ASIDE_SQL                                                                                   \
  "drop index if exists stencil_by_name; drop index if exists run_by_problem;"                                  \
  " drop index if exists measurement_by_variant; drop index if exists measurement_wrong;"                       \
  " drop index if exists best_current; drop index if exists best_by_problem; drop index if exists best_served;" \
  " alter table device rename to old_device; alter table stencil rename to old_stencil;"                        \
  " alter table template rename to old_template; alter table problem rename to old_problem;"                    \
  " alter table variant rename to old_variant; alter table run rename to old_run;"                              \
  " alter table measurement rename to old_measurement; alter table finalist rename to old_finalist;"            \
  " alter table best rename to old_best"

/* The same for the tables of version 5 and later versions, without `prediction`; and SQL that drops all of these. */
#define MIGRATE_SET_ASIDE_6_SQL                                                                            \
  MIGRATE_SET_ASIDE_SQL                                                                                    \
  "; drop index if exists best_by_text; alter table origin rename to old_origin; alter table stencil_text" \
  " rename to old_stencil_text"
#define MIGRATE_DROP_6_SQL                                                                        \
  "drop table old_best; drop table old_finalist; drop table old_measurement; drop table old_run;" \
  " drop table old_variant; drop table old_problem; drop table old_template;"                     \
  " drop table old_stencil_text; drop table old_stencil; drop table old_device; drop table old_origin"

/* Copy all rows of old_TABLE to TABLE. Columns are found by name: one that only the old table has is left out, and one
 * that only the new table has gets its default.
 *   table   of schema.sql
 *   more    columns that only the new table has, as SQL: "a, b"; NULL if all of these get their defaults
 *   values  SQL for their values, over the columns of the old table
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status migrate_copy_rows(sqlite3 *connection, const char *table, const char *more, const char *values);

#endif
