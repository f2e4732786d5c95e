/* guard.c: looks through the definitions of a file, and counts steps of SQLite's machine. */
#include "db/store/guard.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/system/clock.h"
#include "base/text/utf8.h"
#include "db/store/plain_definitions.h"
#include "db/store/query.h"
#include "db/store/schema.h"

/* Refuse a column of a table that has another type than Halotune gave it: a text in place of a number would be compared
 * as a text. Refuse a table without its key: a row whose id is NULL is in no join, so that no check and no list would
 * show it.
 *   columns  a query for names, types and places in the key */
static halotune_status guard_types(sqlite3_stmt *columns, const char *table, const char *path) {
  char type[SCHEMA_WORD_BYTES], name[128] = "";
  const struct schema_columns own = schema_columns(table);
  const bool has_id = schema_column_type(&own, "id", type);
  int code;
  sqlite3_bind_text(columns, 1, table, -1, SQLITE_TRANSIENT);
  while ((code = sqlite3_step(columns)) == SQLITE_ROW) {
    const bool is_id = sqlite3_stricmp(column_text(columns, 0), "id") == 0,
               is_key = sqlite3_column_int(columns, 2) != 0;
    if (has_id && is_id != is_key) {
      sqlite3_reset(columns);
      return fail(HALOTUNE_DB, "%s: the key of the table %s is not its column id alone: this file is not read", path,
                  table);
    }
    if (!schema_column_type(&own, column_text(columns, 0), type)) continue;
    if (sqlite3_stricmp(column_text(columns, 1), type) == 0) continue;
    printable_name(name, sizeof name, column_text(columns, 0));
    sqlite3_reset(columns);
    return fail(HALOTUNE_DB, "%s: the column %s.%s has another type than %s: this file is not read", path, table, name,
                type);
  }
  sqlite3_reset(columns);
  return code == SQLITE_DONE ? HALOTUNE_OK : query_fail(sqlite3_db_handle(columns));
}

static halotune_status guard_columns(sqlite3 *connection, const char *path) {
  sqlite3_stmt *columns = NULL;
  char table[SCHEMA_WORD_BYTES];
  halotune_status status = query_prepare(connection, "select name, type, pk from pragma_table_info(?1)", &columns);
  for (int i = 0; status == HALOTUNE_OK && schema_table(i, table); i++) status = guard_types(columns, table, path);
  sqlite3_finalize(columns);
  return status;
}

/* Refuse a database whose texts are in UTF-16: their bytes are hashed and compared as those of UTF-8. SQLite fixes the
 * encoding when a file is made, and .dump leaves out both marks. */
static halotune_status guard_encoding(sqlite3 *connection, const char *path) {
  sqlite3_stmt *query = NULL;
  int64_t application = 0, version = 0;
  halotune_status status = query_number(connection, "pragma application_id", &application);
  if (status == HALOTUNE_OK) status = query_number(connection, "pragma user_version", &version);
  if (status == HALOTUNE_OK) status = query_prepare(connection, "pragma encoding", &query);
  if (status == HALOTUNE_OK && sqlite3_step(query) != SQLITE_ROW) status = query_fail(connection);
  if (status == HALOTUNE_OK && strcmp(column_text(query, 0), "UTF-8") != 0) {
    status = fail(HALOTUNE_DB,
                  "%s: its texts are in UTF-16, and those of a tuning database are in UTF-8: this file is not read; "
                  "if it is your file, write a new one from it: (echo 'pragma application_id = %lld; "
                  "pragma user_version = %lld;'; sqlite3 FILE .dump) | sqlite3 NEW",
                  path, (long long)application, (long long)version);
  }
  sqlite3_finalize(query);
  return status;
}

/* Refuse a definition, and say how to remove it by the name that the file gives it. The message never tells the user to
 * remove Halotune's own tables. */
static halotune_status fail_definition(const char *path, const char *type, const char *own_name) {
  static const char *const types[] = {"table", "index", "view", "trigger"};
  char name[128], remedy[192] = "";
  printable_name(name, sizeof name, own_name);
  const bool is_harmless = !strpbrk(name, "\"'`$\\"); /* who copies the remedy executes the name, maybe in a shell */
  for (size_t i = 0; i < COUNT(types) && is_harmless; i++) {
    if (strcmp(type, types[i]) == 0 && !schema_has_table(own_name, strlen(own_name)))
      snprintf(remedy, sizeof remedy, "; if it is your file, remove it with sqlite3: drop %s \"%s\"", type, name);
  }
  return fail(HALOTUNE_DB,
              "%s: '%s' is a view, a trigger or computes something, and a tuning database has plain, strict tables and "
              "indexes only: this file is not read%s",
              path, name, remedy);
}

halotune_status guard_tables(sqlite3 *connection, const char *path) {
  /* The text counts: a hostile file can hold a wrong type or root page. Halotune and SQLite write these two types. */
  static const char sql[] = "select sql, name, type from sqlite_master where sql is not null";
  sqlite3_stmt *query = NULL;
  int code = SQLITE_DONE;
  halotune_status status = guard_encoding(connection, path);
  if (status == HALOTUNE_OK) status = query_prepare(connection, sql, &query);
  while (status == HALOTUNE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
    const char *text = column_text(query, 0);
    const bool is_usual = strcmp(column_text(query, 2), "table") == 0 || strcmp(column_text(query, 2), "index") == 0;
    if (is_usual && definition_is_plain(text) && strlen(text) == (size_t)sqlite3_column_bytes(query, 0)) continue;
    status = fail_definition(path, column_text(query, 2), column_text(query, 1));
  }
  if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(connection);
  sqlite3_finalize(query);
  return status == HALOTUNE_OK ? guard_columns(connection, path) : status;
}

/* A glance is looked at more often, because a single step can read a long text. */
enum { STEPS_A_CALL = 1000, GLANCE_STEPS_A_CALL = 10 };

/* The pages that a connection has read so far, from the file or from its cache. */
static int64_t pages_read(sqlite3 *connection) {
  int hits = 0, misses = 0, most;
  sqlite3_db_status(connection, SQLITE_DBSTATUS_CACHE_HIT, &hits, &most, 0);
  sqlite3_db_status(connection, SQLITE_DBSTATUS_CACHE_MISS, &misses, &most, 0);
  return (int64_t)hits + misses;
}

/* SQLite reads long texts past its cache, where no counter sees it, so that a glance has a limit of time as well. */
static bool is_late(const struct guard *guard) {
  return guard->until_thread_ms > 0 && clock_thread_ms() > guard->until_thread_ms;
}

bool guard_is_ended(const struct guard *guard) { return guard->is_over && guard->is_over(guard->is_over_context); }

static int count_steps(void *context) {
  struct guard *guard = context;
  guard->steps_left -= guard->steps_a_call;
  const int64_t pages = pages_read(guard->connection) - guard->pages_before;
  return guard->steps_left < 0 || pages > guard->pages_limit + guard->steps_limit - guard->steps_left ||
         is_late(guard) || guard_is_ended(guard);
}

void guard_steps(sqlite3 *connection, int64_t file_bytes, struct guard *guard) {
  /* `db check` of a large database takes a tenth of a step for each byte, and reads fewer pages than it takes steps. */
  static const int64_t steps_always = 100000000, steps_a_byte = 100, pages_always = 65536, bytes_a_page = 512;
  sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, INT_MAX); /* as SQLite was built */
  guard->connection = connection;
  guard->steps_a_call = STEPS_A_CALL;
  guard->until_thread_ms = 0;
  guard->steps_limit = steps_always + file_bytes * steps_a_byte;
  guard->pages_limit = pages_always + file_bytes / bytes_a_page;
  guard_renew(guard);
  sqlite3_progress_handler(connection, STEPS_A_CALL, count_steps, guard);
}

void guard_end(struct guard *guard) { sqlite3_progress_handler(guard->connection, 0, NULL, NULL); }

void guard_ask(struct guard *guard, bool (*is_over)(const void *context), const void *context) {
  guard->is_over = is_over;
  guard->is_over_context = context;
}

void guard_renew(struct guard *guard) {
  guard->steps_left = guard->steps_limit;
  guard->pages_before = pages_read(guard->connection);
}

void guard_glance(struct guard *guard, int64_t steps) {
  enum { MOST_BYTES = 1 << 20, MOST_DEFINITION_BYTES = 1 << 14, MOST_PAGES = 2048, MOST_MS = 250 };
  sqlite3_limit(guard->connection, SQLITE_LIMIT_LENGTH, MOST_BYTES);
  sqlite3_limit(guard->connection, SQLITE_LIMIT_SQL_LENGTH, MOST_DEFINITION_BYTES);
  guard->steps_a_call = GLANCE_STEPS_A_CALL;
  guard->until_thread_ms = clock_thread_ms() + MOST_MS;
  guard->steps_limit = steps;
  guard->pages_limit = MOST_PAGES;
  guard_renew(guard);
  sqlite3_progress_handler(guard->connection, GLANCE_STEPS_A_CALL, count_steps, guard);
}
