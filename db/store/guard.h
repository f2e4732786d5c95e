/* guard.h: keeps a hostile file from making its reader run other statements or read without end. */
#ifndef DB_STORE_GUARD_H
#define DB_STORE_GUARD_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"

/* Refuse a file that has more than tables and indexes, or tables and indexes that are not plain (plain_definitions.h).
 * A view, a trigger or a virtual table would run statements of the file's maker. A column, a check or an index can hold
 * an expression that SQLite computes. A file whose columns have other types than Halotune's, or whose texts are in
 * UTF-16, is refused, too. Only the header, names and definitions are read.
 * Returns HALOTUNE_OK; HALOTUNE_DB with the name of the first one. */
halotune_status guard_tables(sqlite3 *connection, const char *path);

/* The steps that SQLite may still take for a connection that reads, and the pages that it may read besides one for each
 * step. */
struct guard {
  sqlite3 *connection;
  int64_t steps_left, steps_limit, pages_before, pages_limit;
  int steps_a_call;                     /* the steps between two looks at these numbers */
  double until_thread_ms;               /* by clock_thread_ms; 0: no limit */
  bool (*is_over)(const void *context); /* NULL: nobody is asked */
  const void *is_over_context;
};

/* End the statements of a connection when they have taken more steps, or read more pages, than the size of the file
 * explains. A few pages that refer to each other can hold more rows than can ever be read, and many rows can share the
 * pages of one long text. `count(*)` walks through pages in one step, so
 * use count(1) for a whole table.
 *   file_bytes  of the database
 *   guard       {0} or one that was used before; lives as long as the connection
 * A statement that is ended fails with SQLITE_INTERRUPT. query_fail then says what to do. */
void guard_steps(sqlite3 *connection, int64_t file_bytes, struct guard *guard);

/* Let a guarded connection take so many steps from now on, read 2048 pages besides one for each step, and take 250 ms
 * of processor time, whatever the size of the file explains. A value of more than 1 MiB ends a statement, too: SQLite
 * reads all of a text to compare it. So does a statement of more than 16 KiB, or a definition in the file. guard_steps
 * takes all but the last back. */
void guard_glance(struct guard *guard, int64_t steps);

/* From now on, also end statements when `is_over` says so; NULL: nobody is asked. guard_steps and guard_glance leave it
 * as it is. */
void guard_ask(struct guard *guard, bool (*is_over)(const void *context), const void *context);

/* Whether who is asked says that it is over. Ask during work that takes no steps of SQLite's machine. */
bool guard_is_ended(const struct guard *guard);

/* Do not end statements any more. */
void guard_end(struct guard *guard);

/* Begin to count again, for a connection that stays open from one question to the next. */
void guard_renew(struct guard *guard);

#endif
