/* migrate_5.h: the step from version 4 to 5: rows are named by identities, say where they come from, and are all
 * trusted. */
#ifndef DB_STORE_MIGRATE_5_H
#define DB_STORE_MIGRATE_5_H

#include <sqlite3.h>

#include "base/fail.h"

/* Put the tables of version 4 aside. */
#define migrate_5_sql                                                                                           \
  "drop index if exists stencil_by_name; drop index if exists run_by_problem;"                                  \
  " drop index if exists measurement_by_variant; drop index if exists measurement_wrong;"                       \
  " drop index if exists best_current; drop index if exists best_by_problem; drop index if exists best_served;" \
  " alter table device rename to old_device; alter table stencil rename to old_stencil;"                        \
  " alter table template rename to old_template; alter table problem rename to old_problem;"                    \
  " alter table variant rename to old_variant; alter table run rename to old_run;"                              \
  " alter table measurement rename to old_measurement; alter table finalist rename to old_finalist;"            \
  " alter table best rename to old_best"

/* Make the tables of version 5 of those that were put aside, and drop these. What was not trusted is left out. Where
 * rows come from is not known, but for bests that were imported. Identities (base/identity.h) are computed from texts:
 * a row that this program cannot read, or a variant whose source was not kept, keeps its old name.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status migrate_5(sqlite3 *connection);

#endif
