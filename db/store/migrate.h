/* migrate.h: brings databases of older versions up to date, step by step. */
#ifndef DB_STORE_MIGRATE_H
#define DB_STORE_MIGRATE_H

#include <sqlite3.h>

#include "base/fail.h"

/* One step: it makes a database of version `from` one of version `to`. A list of steps ends with {0}. */
struct migration {
  int from, to;
  const char *sql;
  halotune_status (*finish)(sqlite3 *connection); /* what SQL alone cannot do; called after the SQL; NULL: nothing */
};

/* Take all steps from the version that the database has (user_version) to `version`, in one transaction: after a
 * failure the database is as it was.
 *   steps  in any order; none goes beyond `version`
 * Returns HALOTUNE_OK, also if there is nothing to do; HALOTUNE_DB if a step is missing or fails. */
halotune_status migrate(sqlite3 *connection, const struct migration *steps, int version);

/* The steps of this program's schema. */
extern const struct migration schema_migrations[];

#endif
