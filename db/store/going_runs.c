/* going_runs.c: asks for each GPU with a run that has no end whether a process tunes on it. */
#include "db/store/going_runs.h"

#include "db/store/query.h"
#include "db/store/sql_parts.h"

#define SQL_UNENDED " run r join problem p on p.id = r.problem_id where r.state = 'running' and " SQL_IS_OWN("r")

static const char make_sql[] = "create temp table if not exists going_run (id integer primary key);"
                               " delete from going_run";
static const char devices_sql[] = "select id, uuid from device where id in (select p.device_id from" SQL_UNENDED ")";
static const char note_sql[] = "insert into going_run select r.id from" SQL_UNENDED " and p.device_id = ?1";

halotune_status going_runs_note(struct store *store, is_tuning *asks, long *count) {
  sqlite3 *connection = store_connection(store);
  sqlite3_stmt *devices = NULL;
  int code = SQLITE_DONE;
  int64_t number = 0;
  halotune_status status = query_script(connection, make_sql);
  if (status == HALOTUNE_OK && asks) status = query_prepare(connection, devices_sql, &devices);
  while (status == HALOTUNE_OK && devices && (code = sqlite3_step(devices)) == SQLITE_ROW) {
    if (!asks(store_path(store), column_text(devices, 1))) continue;
    status = query_with(connection, note_sql, sqlite3_column_int64(devices, 0), NULL);
  }
  if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(connection);
  sqlite3_finalize(devices);
  if (status == HALOTUNE_OK) status = query_number(connection, "select count(*) from going_run", &number);
  *count = (long)number;
  return status;
}
