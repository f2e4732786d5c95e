/* export.c: writes tables as lists of objects, one row on each line. Ids count from 1. */
#include "db/exchange/export.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/json.h"
#include "db/exchange/base64.h"
#include "db/exchange/export_json.h"
#include "db/exchange/id_map.h"
#include "db/store/query.h"

struct writer {
  sqlite3 *connection;
  const struct tables *tables;
  struct id_maps ids;
  bool with_cubins;
  int tables_written; /* tables without rows are not written */
  struct text *out;
};

/* Whether a column is left out: the origin, because the importing program stores its own, and machine code that was not
 * asked for. */
static bool is_left_out(const struct writer *w, int table, const struct column *column) {
  return strcmp(column->name, "origin_id") == 0 ||
         (table == TABLE_BEST && !w->with_cubins && strcmp(column->name, "cubin") == 0);
}

static void add_samples(struct text *out, sqlite3_stmt *row, int at) {
  size_t count = (size_t)sqlite3_column_bytes(row, at) / sizeof(float);
  const char *bytes = sqlite3_column_blob(row, at);
  text_add(out, "[", 1);
  for (size_t i = 0; i < count; i++) {
    float sample;
    memcpy(&sample, bytes + i * sizeof sample, sizeof sample);
    if (i) text_add(out, ",", 1);
    json_write_float(out, sample);
  }
  text_add(out, "]", 1);
}

static halotune_status add_integer(struct writer *w, const struct table *table, const struct column *column,
                                   int64_t number) {
  if (column->refers_to >= 0) {
    number = id_map_find(&w->ids, column->refers_to, number);
    if (number == 0) return table_refer_fail(table, column);
  }
  text_printf(w->out, "%lld", (long long)number);
  return HALOTUNE_OK;
}

static halotune_status add_value(struct writer *w, const struct table *table, const struct column *column,
                                 sqlite3_stmt *row, int at) {
  struct text *out = w->out;
  switch (column->kind) {
  case COLUMN_INTEGER: return add_integer(w, table, column, sqlite3_column_int64(row, at));
  case COLUMN_REAL: json_write_number(out, sqlite3_column_double(row, at)); break;
  case COLUMN_TEXT: json_write_string(out, column_text(row, at)); break;
  case COLUMN_JSON: return export_json_add(out, column->name, column_text(row, at), true);
  case COLUMN_SAMPLES: add_samples(out, row, at); break;
  case COLUMN_BYTES:
    text_add(out, "\"", 1);
    base64_write(sqlite3_column_blob(row, at), (size_t)sqlite3_column_bytes(row, at), out);
    text_add(out, "\"", 1);
    break;
  }
  return HALOTUNE_OK;
}

/* Whether a row may and does refer to a row that is not in the document: a best can be chosen without its run. */
static bool is_loose(const struct writer *w, const struct column *column, sqlite3_stmt *row, int at) {
  return column->refers_to >= 0 && !column->must_be_given &&
         id_map_find(&w->ids, column->refers_to, sqlite3_column_int64(row, at)) == 0;
}

/* Members that are NULL are left out. */
static halotune_status add_row(struct writer *w, int number, int64_t id, sqlite3_stmt *row) {
  const struct table *table = &w->tables->list[number];
  const char *link = "";
  text_add(w->out, "{", 1);
  if (table->has_id) {
    text_printf(w->out, "\"id\":%lld", (long long)id);
    link = ",";
  }
  for (int i = 0; i < table->column_count; i++) {
    const struct column *column = &table->columns[i];
    if (sqlite3_column_type(row, i + 1) == SQLITE_NULL || is_left_out(w, number, column) ||
        is_loose(w, column, row, i + 1))
      continue;
    text_printf(w->out, "%s\"%s\":", link, column->name);
    const halotune_status status = add_value(w, table, column, row, i + 1);
    if (status != HALOTUNE_OK) return status;
    link = ",";
  }
  text_add(w->out, "}", 1);
  return table->has_id ? id_map_add(&w->ids, number, sqlite3_column_int64(row, 0), id) : HALOTUNE_OK;
}

static halotune_status add_table(struct writer *w, int number) {
  const struct table *table = &w->tables->list[number];
  struct text sql = {0};
  sqlite3_stmt *query = NULL;
  int64_t id = 0;
  int code = SQLITE_DONE;
  table_select(table, &sql);
  text_printf(&sql, " where rowid in (select id from chosen_%s) order by rowid", table->name);
  halotune_status status = text_ok(&sql) ? query_prepare(w->connection, text_string(&sql), &query) : fail_memory();
  while (status == HALOTUNE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
    if (id == 0) text_printf(w->out, "%s\n\"%s\": [", w->tables_written++ ? "," : "", table->name);
    text_printf(w->out, "%s\n", id ? "," : "");
    status = add_row(w, number, ++id, query);
  }
  if (id > 0) text_printf(w->out, "\n]");
  if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(w->connection);
  sqlite3_finalize(query);
  text_free(&sql);
  return status;
}

halotune_status store_export(struct store *store, const struct choice *choice, bool with_cubins, struct text *out) {
  struct writer w = {.connection = store_connection(store), .with_cubins = with_cubins, .out = out};
  struct tables *tables = malloc(sizeof *tables);
  if (!tables) return fail_memory();
  w.tables = tables;
  halotune_status status = query_script(w.connection, "begin"); /* all tables are of one moment */
  if (status == HALOTUNE_OK) {
    status = store_choose(store, choice);
    if (status == HALOTUNE_OK) status = tables_read(w.connection, tables);
    text_printf(out, "{\"format\": \"" EXPORT_FORMAT "\", \"version\": %d, \"tables\": {", EXPORT_VERSION);
    for (int i = 0; i < TABLE_COUNT && status == HALOTUNE_OK; i++) status = add_table(&w, i);
    text_printf(out, "\n}}\n");
    status = query_finish(w.connection, status);
  }
  if (status == HALOTUNE_OK && !text_ok(out)) status = fail_memory();
  id_maps_free(&w.ids);
  free(tables);
  return status;
}
