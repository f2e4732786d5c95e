/* migrate.c: the list of steps, and the walk along it. A change of schema.sql adds a row here and a version in
 * schema.h. */
#include "db/migrate.h"

#include "base/text.h"
#include "db/query.h"

/* Version 1 is the first. */
const struct migration schema_migrations[] = {{0}};

static halotune_status take_step(sqlite3 *connection, const struct migration *steps, int from) {
  struct text mark = {0};
  for (int i = 0; steps[i].sql; i++) {
    if (steps[i].from != from) continue;
    text_printf(&mark, "pragma user_version = %d", from + 1); /* pragmas take no bound values */
    halotune_status status = text_ok(&mark) ? query_script(connection, steps[i].sql) : fail_memory();
    if (status == HALOTUNE_OK) status = query_script(connection, text_string(&mark));
    text_free(&mark);
    return status;
  }
  return fail(HALOTUNE_DB, "a database of version %d cannot be brought up to date by this Halotune", from);
}

halotune_status migrate(sqlite3 *connection, const struct migration *steps, int version) {
  int64_t found = 0;
  halotune_status status = query_script(connection, "begin immediate");
  if (status != HALOTUNE_OK) return status;
  status = query_number(connection, "pragma user_version", &found);
  for (int at = (int)found; at < version && status == HALOTUNE_OK; at++) {
    status = take_step(connection, steps, at);
  }
  return query_finish(connection, status);
}
