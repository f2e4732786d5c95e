/* rows.h: the rows of queries, one by one and as JSON objects. */
#ifndef REPORTS_ROWS_ROWS_H
#define REPORTS_ROWS_ROWS_H

#include "base/text/json.h"
#include "db/store/query.h"

/* Prepare a query and bind ids[0], ids[1], ... to ?1, ?2, ...
 *   out  the caller finalises it with sqlite3_finalize; NULL on failure
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status rows_open(sqlite3 *db, const char *sql, const int64_t *ids, int count, sqlite3_stmt **out);

/* Step to the next row. Returns HALOTUNE_OK, with *has_row set, or HALOTUNE_DB. */
halotune_status rows_next(sqlite3_stmt *query, bool *has_row);

/* Make a list of all rows as objects. Members have the names of the columns. A column whose name begins with "is_"
 * becomes true or false, a blob null.
 *   out  a new reference; NULL when memory is out, and on failure
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status rows_json(sqlite3 *db, const char *sql, const int64_t *ids, int count, json_t **out);

/* Like rows_json, with additional members.
 *   complete  adds to the object of the row at which `query` is; the object is NULL when memory is out */
halotune_status rows_json_completed(sqlite3 *db, const char *sql, const int64_t *ids, int count,
                                    halotune_status (*complete)(void *context, sqlite3_stmt *query, json_t **row),
                                    void *context, json_t **out);

/* Make an object of the first row; null if there is none. See rows_json. */
halotune_status row_json(sqlite3 *db, const char *sql, const int64_t *ids, int count, json_t **out);

#endif
