/* guard.c: looks through the definitions of a file, and counts steps of SQLite's machine. */
#include "db/store/guard.h"

#include <string.h>

#include "base/utf8.h"
#include "db/store/definitions.h"
#include "db/store/query.h"

halotune_status guard_tables(sqlite3 *connection, const char *path) {
  /* Only the text counts: type and root page are columns that a file can hold wrongly. */
  static const char sql[] = "select sql, name from sqlite_master where sql is not null";
  sqlite3_stmt *query = NULL;
  char name[128] = "";
  int code = SQLITE_DONE;
  halotune_status status = query_prepare(connection, sql, &query);
  while (status == HALOTUNE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
    const char *text = column_text(query, 0);
    if (definition_is_plain(text) && strlen(text) == (size_t)sqlite3_column_bytes(query, 0)) continue;
    printable_copy(name, sizeof name, column_text(query, 1));
    status =
        fail(HALOTUNE_DB,
             "%s: '%s' is a view, a trigger or computes something, and a tuning database has plain, strict tables and "
             "indexes only: this file is not read",
             path, name);
  }
  if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(connection);
  sqlite3_finalize(query);
  return status;
}

enum { STEPS_A_CALL = 1000 };

/* The pages that a connection has read so far, from the file or from its cache. */
static int64_t pages_read(sqlite3 *connection) {
  int hits = 0, misses = 0, most;
  sqlite3_db_status(connection, SQLITE_DBSTATUS_CACHE_HIT, &hits, &most, 0);
  sqlite3_db_status(connection, SQLITE_DBSTATUS_CACHE_MISS, &misses, &most, 0);
  return (int64_t)hits + misses;
}

static int count_steps(void *context) {
  struct guard *guard = context;
  guard->steps_left -= STEPS_A_CALL;
  const int64_t pages = pages_read(guard->connection) - guard->pages_before;
  return guard->steps_left < 0 || pages > guard->pages_limit + guard->steps_limit - guard->steps_left;
}

void guard_steps(sqlite3 *connection, int64_t file_bytes, struct guard *guard) {
  /* `db check` of a large database takes a tenth of a step for each byte, and reads fewer pages than it takes steps. */
  static const int64_t steps_always = 100000000, steps_a_byte = 100, pages_always = 65536, bytes_a_page = 512;
  guard->connection = connection;
  guard->steps_limit = steps_always + file_bytes * steps_a_byte;
  guard->pages_limit = pages_always + file_bytes / bytes_a_page;
  guard_renew(guard);
  sqlite3_progress_handler(connection, STEPS_A_CALL, count_steps, guard);
}

void guard_renew(struct guard *guard) {
  guard->steps_left = guard->steps_limit;
  guard->pages_before = pages_read(guard->connection);
}
