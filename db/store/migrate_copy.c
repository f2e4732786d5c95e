/* migrate_copy.c: asks SQLite for the names of columns. A name of the old table gets into a statement only if the new
 * table has it, too. */
#include "db/store/migrate_copy.h"

#include "base/text/text.h"
#include "db/store/query.h"

halotune_status migrate_copy_rows(sqlite3 *connection, const char *table, const char *more, const char *values) {
  struct text columns = {0}, old = {0}, sql = {0};
  sqlite3_stmt *query = NULL;
  int code = SQLITE_DONE;
  halotune_status status = query_prepare(
      connection, "select name from pragma_table_info(?1) where name in (select name from pragma_table_info(?2))",
      &query);
  text_printf(&old, "old_%s", table);
  if (status == HALOTUNE_OK && !text_ok(&old)) status = fail_memory();
  if (status == HALOTUNE_OK) {
    sqlite3_bind_text(query, 1, table, -1, SQLITE_STATIC);
    sqlite3_bind_text(query, 2, text_string(&old), -1, SQLITE_STATIC);
    while ((code = sqlite3_step(query)) == SQLITE_ROW)
      text_printf(&columns, "%s%s", columns.length > 0 ? ", " : "", column_text(query, 0));
    if (code != SQLITE_DONE) status = query_fail(connection);
  }
  sqlite3_finalize(query);
  text_printf(&sql, "insert into %s (%s", table, text_string(&columns));
  if (more) text_printf(&sql, ", %s", more);
  text_printf(&sql, ") select %s", text_string(&columns));
  if (more) text_printf(&sql, ", %s", values);
  text_printf(&sql, " from %s", text_string(&old));
  if (status == HALOTUNE_OK && (!text_ok(&columns) || !text_ok(&sql))) status = fail_memory();
  if (status == HALOTUNE_OK) status = query_script(connection, text_string(&sql));
  text_free(&sql);
  text_free(&old);
  text_free(&columns);
  return status;
}
