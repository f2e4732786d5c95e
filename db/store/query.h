/* query.h: SQLite's calls with our errors; the table of SQL that the store prepares once; binding and reading of
 * values. */
#ifndef DB_STORE_QUERY_H
#define DB_STORE_QUERY_H

#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

/* Fail with HALOTUNE_DB. The detail has SQLite's text for the last call of a connection, the file's path and what to
 * do. */
halotune_status query_fail(sqlite3 *connection);

/* How long each statement waits for the locks of other programs. */
struct query_wait {
  int most_ms;
  double until_ms; /* by clock_ms: from then on, a statement waits 2 s at most; INFINITY: it makes no difference */
};

/* Let a connection wait. It does not wait where the file system has no locks (ENOLCK); query_fail says so then.
 *   wait  must live as long as the connection */
void query_set_wait(sqlite3 *connection, const struct query_wait *wait);

/* How long a connection of a store waits. A transaction takes milliseconds, unless the disk is slow. */
extern const struct query_wait query_usual_wait;

/* Get a path in a form that SQLite reads only as a path. It reads "file:a?mode=memory" as an address.
 * The caller frees it; NULL when memory is out. */
char *query_file_name(const char *path);

/* Copy all of a database into a file that is empty or does not exist. */
halotune_status query_copy_into(sqlite3 *connection, const char *path);

/* Add the SQL functions of Halotune:
 *   printable(TEXT)           the text as printable_name copies it. So a name from a database cannot begin a new line
 *                             when a program prints it. NULL stays NULL
 *   date_later(DATE, SECONDS) the date so many seconds later; what is no date stays as it is
 *   is_date(TEXT)             whether date_seconds reads it (date.h) */
halotune_status query_add_functions(sqlite3 *connection);

/* Run SQL that gives no rows. */
halotune_status query_script(sqlite3 *connection, const char *sql);

/* Prepare one statement, to be ended with sqlite3_finalize. */
halotune_status query_prepare(sqlite3 *connection, const char *sql, sqlite3_stmt **out);

/* Get the number in the first row and column; 0 if there is no row. */
halotune_status query_number(sqlite3 *connection, const char *sql, int64_t *out);

/* Run SQL with one place, ?1.
 *   found  receives the number in the first row and column, 0 without a row; may be NULL */
halotune_status query_with(sqlite3 *connection, const char *sql, int64_t place, int64_t *found);

/* Commit if `status` is HALOTUNE_OK, else roll back. Returns the first failure, with its detail. */
halotune_status query_finish(sqlite3 *connection, halotune_status status);

/* Called for each row of a statement. Any status but HALOTUNE_OK ends the statement. */
typedef halotune_status query_taker(void *context, sqlite3_stmt *row);

/* Call `take` for each row of a bound statement. The caller then resets or ends the statement.
 * Returns HALOTUNE_OK; what `take` returned; or HALOTUNE_DB. */
halotune_status query_each(sqlite3_stmt *query, query_taker *take, void *context);

/* The same for SQL without places. */
halotune_status query_rows(sqlite3 *connection, const char *sql, query_taker *take, void *context);

/* Run a bound statement to its end and make it ready for the next use.
 *   found  receives the number in the first row and column, 0 without a row; may be NULL */
halotune_status query_run(sqlite3_stmt *query, int64_t *found);

/* Bind a value to the next place of a statement; NaN and negative readings become NULL. Texts and bytes must live
 * until the statement is reset. */
struct binder {
  sqlite3_stmt *query;
  int at; /* places that are bound */
};

void bind_integer(struct binder *binder, int64_t number);
void bind_real(struct binder *binder, double number);     /* NULL where it is not finite */
void bind_reading(struct binder *binder, int64_t number); /* NULL where it is negative */
void bind_amount(struct binder *binder, double number);   /* NULL where it is negative or not finite */
void bind_text(struct binder *binder, const char *text);  /* NULL stands for "" */
void bind_name(struct binder *binder, const char *text);  /* NULL where it is "" */
void bind_bytes(struct binder *binder, const void *bytes, size_t length);

/* Read a column of the present row. NULL gives NaN (real), -1 (reading, amount) or "". */
double column_real(sqlite3_stmt *query, int column);
int64_t column_reading(sqlite3_stmt *query, int column);
double column_amount(sqlite3_stmt *query, int column);
const char *column_text(sqlite3_stmt *query, int column);

/* The same for a value that an SQL function receives. Inlined: opening a database calls them for each row. */
static inline double value_real(sqlite3_value *value) {
  return sqlite3_value_type(value) == SQLITE_NULL ? (double)NAN : sqlite3_value_double(value);
}
static inline const char *value_text(sqlite3_value *value) {
  const char *text = (const char *)sqlite3_value_text(value);
  return text ? text : "";
}

#endif
