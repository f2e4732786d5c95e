/* take_rows.h: calls a function for each row of a large table from within SQLite. This takes a quarter less time than a
 * call of sqlite3_step for each row and of sqlite3_column for each column. */
#ifndef DB_STORE_TAKE_ROWS_H
#define DB_STORE_TAKE_ROWS_H

#include <sqlite3.h>

#include "base/fail.h"

/* Called for each row. `values` are the arguments of take(...), valid during the call. Any status but HALOTUNE_OK ends
 * the statement. */
typedef halotune_status row_taker(void *context, sqlite3_value **values);

/* Run "select take(column, ...) from ...", which may have conditions, and call `take` with each row, in an order of
 * SQLite's choice.
 * Returns HALOTUNE_OK; what `take` returned; HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status take_rows(sqlite3 *connection, const char *sql, row_taker *take, void *context);

#endif
