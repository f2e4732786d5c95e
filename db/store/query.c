/* query.c: SQLite's calls with our errors. */
#include "db/store/query.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/files/held_path.h"
#include "base/system/clock.h"
#include "base/text/date.h"
#include "base/text/utf8.h"
#include "db/store/filesystem.h"

/* Whether the user limits the size of files. SQLite tells a write beyond the limit as any other error of a disk. */
static bool is_file_size_limited(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* What to do about an error, as the end of a sentence. */
static const char *advice_for(int code) {
  switch (code & 0xff) {
  case SQLITE_NOTADB:
    return "; this is not a tuning database: name another file, or take a document of 'halotune db export' with 'halotune db import'";
  case SQLITE_CORRUPT:
    return "; the file is damaged: move it away, and restore a backup or import what 'halotune db export' can still read";
  case SQLITE_INTERRUPT:
    return "; reading takes far longer than the size of the file explains: the file is damaged, or was made so that reading it never ends";
  case SQLITE_IOERR:
    return is_file_size_limited() ? "; files of this program may not grow beyond a limit: raise it with ulimit -f" : "";
  case SQLITE_FULL: return "; this result was not stored: make room on the disk";
  case SQLITE_BUSY:
  case SQLITE_LOCKED: return "; another program is writing to the database: try again later";
  case SQLITE_PROTOCOL:
    return "; another program keeps the database locked: try again later. Every user who can read the file and the one with -shm behind its name can do that: chmod go-r on both ends it";
  case SQLITE_READONLY:
  case SQLITE_PERM:
  case SQLITE_CANTOPEN: return "; check the permissions of the file and of its folder, or name another file";
  default: return "";
  }
}

const struct query_wait query_usual_wait = {30000, INFINITY};

/* A statement of this thread that waits for a lock. */
static _Thread_local struct {
  double since_ms;
  bool has_no_locks; /* its file system has no locks, which SQLite reports as a lock of another program */
} waiting;

static const int late_most_ms = 2000; /* see struct query_wait */

/* SQLite calls this when it did not get a lock; errno is still that of the attempt. */
static int wait_for_lock(void *context, int attempts) {
  const int cause = errno;
  const struct query_wait *wait = context;
  const double now_ms = clock_ms();
  if (attempts == 0) waiting.since_ms = now_ms;
  waiting.has_no_locks = cause == ENOLCK;
  const int most_ms = now_ms > wait->until_ms && wait->most_ms > late_most_ms ? late_most_ms : wait->most_ms;
  if (waiting.has_no_locks || now_ms - waiting.since_ms > most_ms) return 0;
  usleep(1000 * (attempts < 25 ? (unsigned)attempts + 1 : 25));
  errno = 0;
  return 1;
}

void query_set_wait(sqlite3 *connection, const struct query_wait *wait) {
  sqlite3_busy_handler(connection, wait_for_lock, (void *)(uintptr_t)wait);
}

/* What is wrong with the locks of a file system, if that is why a statement failed; or NULL. */
static const char *locks_flaw(sqlite3 *connection) {
  const int code = sqlite3_extended_errcode(connection);
  const bool has_no_locks = waiting.has_no_locks;
  waiting.has_no_locks = false;
  if (code == SQLITE_BUSY) return has_no_locks ? strerror(ENOLCK) : NULL;
  if (code == SQLITE_IOERR_LOCK || code == SQLITE_IOERR_RDLOCK || code == SQLITE_IOERR_CHECKRESERVEDLOCK)
    return strerror(sqlite3_system_errno(connection));
  return NULL;
}

halotune_status query_fail(sqlite3 *connection) {
  const char *file = connection ? sqlite3_db_filename(connection, "main") : NULL;
  char path[PATH_MAX] = "database";
  int code = sqlite3_errcode(connection);
  if (code == SQLITE_NOMEM) return fail_memory();
  const char *flaw = connection ? locks_flaw(connection) : NULL;
  if (file && *file) held_path_readable(file, path);
  if (flaw) return file_locks_fail(path, flaw);
  return fail(HALOTUNE_DB, "%s: %s%s", path, sqlite3_errmsg(connection), advice_for(code));
}

char *query_file_name(const char *path) {
  char *name;
  return asprintf(&name, "%s%s", *path == '/' ? "" : "./", path) < 0 ? NULL : name;
}

halotune_status query_copy_into(sqlite3 *connection, const char *path) {
  char *name = query_file_name(path), *sql = name ? sqlite3_mprintf("vacuum into %Q", name) : NULL;
  const halotune_status status = sql ? query_script(connection, sql) : fail_memory();
  sqlite3_free(sql);
  free(name);
  return status;
}

static void sql_printable(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  const char *text = (const char *)sqlite3_value_text(values[0]);
  if (!text || is_printable_line(text)) {
    sqlite3_result_value(context, values[0]);
    return;
  }
  const size_t bytes = strlen(text) + 1; /* the copy is not longer */
  char *copy = malloc(bytes);
  if (!copy) {
    sqlite3_result_error_nomem(context);
    return;
  }
  printable_name(copy, bytes, text);
  sqlite3_result_text(context, copy, -1, free);
}

static void sql_date_later(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  char later[DATE_TEXT_BYTES];
  const char *date = (const char *)sqlite3_value_text(values[0]);
  if (date && date_later(date, sqlite3_value_double(values[1]), later))
    sqlite3_result_text(context, later, -1, SQLITE_TRANSIENT);
  else sqlite3_result_value(context, values[0]);
}

static void sql_is_date(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  const char *date = (const char *)sqlite3_value_text(values[0]);
  sqlite3_result_int(context, date && !isnan(date_seconds(date)));
}

halotune_status query_add_functions(sqlite3 *connection) {
  const int how = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
  int code = sqlite3_create_function_v2(connection, "printable", 1, how, NULL, sql_printable, NULL, NULL, NULL);
  if (code == SQLITE_OK)
    code = sqlite3_create_function_v2(connection, "date_later", 2, how, NULL, sql_date_later, NULL, NULL, NULL);
  if (code == SQLITE_OK)
    code = sqlite3_create_function_v2(connection, "is_date", 1, how, NULL, sql_is_date, NULL, NULL, NULL);
  return code == SQLITE_OK ? HALOTUNE_OK : query_fail(connection);
}

halotune_status query_script(sqlite3 *connection, const char *sql) {
  return sqlite3_exec(connection, sql, NULL, NULL, NULL) == SQLITE_OK ? HALOTUNE_OK : query_fail(connection);
}

halotune_status query_prepare(sqlite3 *connection, const char *sql, sqlite3_stmt **out) {
  int code = sqlite3_prepare_v3(connection, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
  return code == SQLITE_OK ? HALOTUNE_OK : query_fail(connection);
}

halotune_status query_with(sqlite3 *connection, const char *sql, int64_t place, int64_t *found) {
  sqlite3_stmt *query = NULL;
  if (found) *found = 0;
  halotune_status status = query_prepare(connection, sql, &query);
  if (status == HALOTUNE_OK && sqlite3_bind_parameter_count(query) > 0) sqlite3_bind_int64(query, 1, place);
  if (status == HALOTUNE_OK) status = query_run(query, found);
  sqlite3_finalize(query);
  return status;
}

halotune_status query_number(sqlite3 *connection, const char *sql, int64_t *out) {
  return query_with(connection, sql, 0, out);
}

halotune_status query_finish(sqlite3 *connection, halotune_status status) {
  if (status == HALOTUNE_OK) status = query_script(connection, "commit");
  /* After some errors SQLite has already rolled back. */
  if (status != HALOTUNE_OK && !sqlite3_get_autocommit(connection)) {
    sqlite3_exec(connection, "rollback", NULL, NULL, NULL);
  }
  return status;
}

halotune_status query_run(sqlite3_stmt *query, int64_t *found) {
  int code = sqlite3_step(query);
  if (found) *found = code == SQLITE_ROW ? sqlite3_column_int64(query, 0) : 0;
  while (code == SQLITE_ROW) code = sqlite3_step(query);
  halotune_status status = code == SQLITE_DONE ? HALOTUNE_OK : query_fail(sqlite3_db_handle(query));
  sqlite3_reset(query);
  sqlite3_clear_bindings(query);
  return status;
}

halotune_status query_each(sqlite3_stmt *query, query_taker *take, void *context) {
  halotune_status status = HALOTUNE_OK;
  int code = SQLITE_DONE;
  while (status == HALOTUNE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) status = take(context, query);
  return status == HALOTUNE_OK && code != SQLITE_DONE ? query_fail(sqlite3_db_handle(query)) : status;
}

halotune_status query_rows(sqlite3 *connection, const char *sql, query_taker *take, void *context) {
  sqlite3_stmt *query = NULL;
  halotune_status status = query_prepare(connection, sql, &query);
  if (status == HALOTUNE_OK) status = query_each(query, take, context);
  sqlite3_finalize(query);
  return status;
}

/* A bind that fails leaves NULL, which the columns refuse. */
void bind_integer(struct binder *binder, int64_t number) { sqlite3_bind_int64(binder->query, ++binder->at, number); }

void bind_real(struct binder *binder, double number) {
  if (isfinite(number)) sqlite3_bind_double(binder->query, ++binder->at, number);
  else sqlite3_bind_null(binder->query, ++binder->at);
}

void bind_reading(struct binder *binder, int64_t number) {
  if (number >= 0) sqlite3_bind_int64(binder->query, ++binder->at, number);
  else sqlite3_bind_null(binder->query, ++binder->at);
}

void bind_amount(struct binder *binder, double number) { bind_real(binder, number >= 0 ? number : (double)NAN); }

void bind_text(struct binder *binder, const char *text) {
  sqlite3_bind_text(binder->query, ++binder->at, text ? text : "", -1, SQLITE_STATIC);
}

void bind_name(struct binder *binder, const char *text) {
  if (*text) sqlite3_bind_text(binder->query, ++binder->at, text, -1, SQLITE_TRANSIENT); /* it may be short-lived */
  else sqlite3_bind_null(binder->query, ++binder->at);
}

void bind_bytes(struct binder *binder, const void *bytes, size_t length) {
  sqlite3_bind_blob64(binder->query, ++binder->at, length > 0 ? bytes : "", length, SQLITE_STATIC);
}

double column_real(sqlite3_stmt *query, int column) {
  return sqlite3_column_type(query, column) == SQLITE_NULL ? NAN : sqlite3_column_double(query, column);
}

int64_t column_reading(sqlite3_stmt *query, int column) {
  return sqlite3_column_type(query, column) == SQLITE_NULL ? -1 : sqlite3_column_int64(query, column);
}

double column_amount(sqlite3_stmt *query, int column) {
  return sqlite3_column_type(query, column) == SQLITE_NULL ? -1 : sqlite3_column_double(query, column);
}

const char *column_text(sqlite3_stmt *query, int column) {
  const char *text = (const char *)sqlite3_column_text(query, column);
  return text ? text : "";
}
