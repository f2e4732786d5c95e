/* take_rows.c: an aggregate function of SQL that calls a function of the caller for each row. It has no result. */
#include "db/store/take_rows.h"

#include "db/store/query.h"

/* The state of one statement. */
struct taking {
  row_taker *take;
  void *context;
  halotune_status status;
};

static void take_row(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  struct taking *taking = sqlite3_user_data(context);
  taking->status = taking->take(taking->context, values);
  if (taking->status != HALOTUNE_OK) sqlite3_result_error(context, "", 0); /* ends the statement */
}

static void end_rows(sqlite3_context *context) { (void)context; }

halotune_status take_rows(sqlite3 *connection, const char *sql, row_taker *take, void *context) {
  struct taking taking = {take, context, HALOTUNE_OK};
  sqlite3_stmt *query = NULL;
  int code = sqlite3_create_function(connection, "take", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, &taking, NULL, take_row,
                                     end_rows);
  if (code != SQLITE_OK) return query_fail(connection);
  halotune_status status = query_prepare(connection, sql, &query);
  if (status == HALOTUNE_OK) {
    code = sqlite3_step(query); /* one step reads all rows; an aggregate gives a row even for no rows */
    status = code == SQLITE_ROW || taking.status != HALOTUNE_OK ? taking.status : query_fail(connection);
  }
  sqlite3_finalize(query);
  sqlite3_create_function(connection, "take", -1, SQLITE_UTF8, NULL, NULL, NULL, NULL);
  return status;
}
