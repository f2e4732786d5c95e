/* rows.h: what queries answer: rows one by one, and as JSON objects. */
#ifndef REPORTS_ROWS_ROWS_H
#define REPORTS_ROWS_ROWS_H

#include "base/json.h"
#include "db/store/query.h"

/* Prepare a query and bind ids[0], ids[1], ... to ?1, ?2, ...
 *   out  the caller's to sqlite3_finalize; NULL on failure
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status rows_open(sqlite3 *db, const char *sql, const int64_t *ids, int count, sqlite3_stmt **out);

/* The next row: HALOTUNE_OK with *has_row, or HALOTUNE_DB. */
halotune_status rows_next(sqlite3_stmt *query, bool *has_row);

/* All rows as a list of objects. Members are named as the columns are; a column whose name begins with "is_" becomes true or
 * false, a blob null.
 *   out  a new reference; NULL when memory is out, and on failure
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status rows_json(sqlite3 *db, const char *sql, const int64_t *ids, int count, json_t **out);

/* The same with further members.
 *   complete  adds to the object of the row that `query` is at; the object is NULL when memory is out */
halotune_status rows_json_completed(sqlite3 *db, const char *sql, const int64_t *ids, int count,
                                    halotune_status (*complete)(void *context, sqlite3_stmt *query, json_t **row),
                                    void *context, json_t **out);

/* The first row as an object; null where there is none. As rows_json. */
halotune_status row_json(sqlite3 *db, const char *sql, const int64_t *ids, int count, json_t **out);

#endif
