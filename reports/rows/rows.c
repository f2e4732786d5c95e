/* rows.c: runs queries, and turns their rows into JSON. */
#include "reports/rows/rows.h"

#include <string.h>

halotune_status rows_open(sqlite3 *db, const char *sql, const int64_t *ids, int count, sqlite3_stmt **out) {
  *out = NULL;
  halotune_status status = query_prepare(db, sql, out);
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
    if (sqlite3_bind_int64(*out, i + 1, ids[i]) != SQLITE_OK) status = query_fail(db);
  }
  if (status == HALOTUNE_OK) return HALOTUNE_OK;
  sqlite3_finalize(*out);
  *out = NULL;
  return status;
}

halotune_status rows_next(sqlite3_stmt *query, bool *has_row) {
  int code = sqlite3_step(query);
  *has_row = code == SQLITE_ROW;
  return code == SQLITE_ROW || code == SQLITE_DONE ? HALOTUNE_OK : query_fail(sqlite3_db_handle(query));
}

static json_t *column_json(sqlite3_stmt *query, int column) {
  bool is_flag = strncmp(sqlite3_column_name(query, column), "is_", 3) == 0;
  switch (sqlite3_column_type(query, column)) {
  case SQLITE_INTEGER:
    return is_flag ? json_boolean(sqlite3_column_int(query, column))
                   : json_integer(sqlite3_column_int64(query, column));
  case SQLITE_FLOAT: return number_json(sqlite3_column_double(query, column));
  case SQLITE_TEXT: return text_json(column_text(query, column));
  default: return json_null();
  }
}

static json_t *row_object(sqlite3_stmt *query) {
  json_t *row = json_object();
  for (int i = 0; i < sqlite3_column_count(query); i++)
    json_put(&row, sqlite3_column_name(query, i), column_json(query, i));
  return row;
}

halotune_status rows_json_completed(sqlite3 *db, const char *sql, const int64_t *ids, int count,
                                    halotune_status (*complete)(void *context, sqlite3_stmt *query, json_t **row),
                                    void *context, json_t **out) {
  sqlite3_stmt *query;
  json_t *list = json_array();
  bool has_row = false;
  halotune_status status = rows_open(db, sql, ids, count, &query);
  while (status == HALOTUNE_OK && (status = rows_next(query, &has_row)) == HALOTUNE_OK && has_row) {
    json_t *row = row_object(query);
    if (complete) status = complete(context, query, &row);
    json_add(&list, row);
  }
  sqlite3_finalize(query);
  if (status != HALOTUNE_OK) json_decref(list);
  *out = status == HALOTUNE_OK ? list : NULL;
  return status;
}

halotune_status rows_json(sqlite3 *db, const char *sql, const int64_t *ids, int count, json_t **out) {
  return rows_json_completed(db, sql, ids, count, NULL, NULL, out);
}

halotune_status row_json(sqlite3 *db, const char *sql, const int64_t *ids, int count, json_t **out) {
  sqlite3_stmt *query;
  bool has_row = false;
  *out = NULL;
  halotune_status status = rows_open(db, sql, ids, count, &query);
  if (status == HALOTUNE_OK && (status = rows_next(query, &has_row)) == HALOTUNE_OK) {
    *out = has_row ? row_object(query) : json_null();
  }
  sqlite3_finalize(query);
  return status;
}
