/* table.c: takes columns from SQLite's own description of its tables. Keys and special columns come from short
 * lists. */
#include "db/exchange/table.h"

#include <stdio.h>
#include <string.h>

#include "base/memory/array.h"
#include "db/store/columns.h"
#include "db/store/query.h"

#define AS_NAME(name, text) text,
const char *const table_names[TABLE_COUNT] = {TABLE_LIST(AS_NAME)};
#undef AS_NAME

/* The columns that make rows of two databases the same row. Each name has a space before and after it. */
static const char *const keys[TABLE_COUNT] = {
    [TABLE_DEVICE] = " uuid ",
    [TABLE_STENCIL] = " hash name ",
    [TABLE_TEXT] = " stencil_id hash ",
    [TABLE_TEMPLATE] = " hash ",
    [TABLE_PROBLEM] = " device_id stencil_id dtype nx ny nz launch cache is_reproducible steps ",
    [TABLE_VARIANT] = " source_hash template_id stencil_id parameters ",
    [TABLE_RUN] = " problem_id started host command seed ",
    [TABLE_MEASUREMENT] = " run_id variant_id ",
    [TABLE_FINALIST] = " run_id variant_id ",
    [TABLE_BEST] = " problem_id variant_id date ",
    [TABLE_PREDICTION] = " device_id coefficient ",
};

#define AS_WORD(column, kind, member) #column " "
/* Columns in which two rows with the same key may differ, each name between spaces: facts that a driver or an export
 * may report differently, columns that concern one database only, and columns that merge.c compares itself. Texts of
 * templates with the same identity may differ. varying_rows.h decides between GPUs and between templates. */
static const char *const varying[TABLE_COUNT] = {
    [TABLE_DEVICE] = " clock_khz memory_clock_khz memory_bytes ",
    [TABLE_TEMPLATE] = " yaml cuda ",
    [TABLE_RUN] = " state ended outcomes " RUN_END_COLUMNS(AS_WORD),
    [TABLE_BEST] = " run_id is_current source cubin ",
    [TABLE_PREDICTION] = " value ",
};
#undef AS_WORD

/* Columns whose content has a form that their SQL type does not tell. */
static const struct {
  enum table_name table;
  const char *column;
  enum column_kind kind;
} special[] = {
    {TABLE_VARIANT, "parameters", COLUMN_JSON},     {TABLE_BEST, "launch", COLUMN_JSON},
    {TABLE_BEST, "coefficients", COLUMN_JSON},      {TABLE_RUN, "outcomes", COLUMN_JSON},
    {TABLE_MEASUREMENT, "samples", COLUMN_SAMPLES}, {TABLE_FINALIST, "samples", COLUMN_SAMPLES},
};

static enum column_kind kind_of(int table, const char *name, const char *type) {
  for (size_t i = 0; i < COUNT(special); i++) {
    if ((int)special[i].table == table && strcmp(special[i].column, name) == 0) return special[i].kind;
  }
  if (sqlite3_stricmp(type, "integer") == 0) return COLUMN_INTEGER;
  if (sqlite3_stricmp(type, "real") == 0) return COLUMN_REAL;
  return sqlite3_stricmp(type, "blob") == 0 ? COLUMN_BYTES : COLUMN_TEXT;
}

int table_column(const struct table *table, const char *name) {
  for (int i = 0; i < table->column_count; i++) {
    if (strcmp(table->columns[i].name, name) == 0) return i;
  }
  return -1;
}

halotune_status table_refer_fail(const struct table *table, const struct column *column) {
  return fail(HALOTUNE_DB, "a row of %s refers to a row of %s that does not exist; see 'halotune db check'",
              table->name, table_names[column->refers_to]);
}

static bool is_in(const char *words, const char *name) {
  char word[48];
  snprintf(word, sizeof word, " %s ", name);
  return words && strstr(words, word) != NULL;
}

/* Columns of the row: name, type, whether NULL is refused, whether there is a default. */
static halotune_status add_column(struct tables *tables, int number, sqlite3_stmt *row) {
  struct table *table = &tables->list[number];
  const char *name = column_text(row, 0);
  if (strcmp(name, "id") == 0) {
    table->has_id = true;
    return HALOTUNE_OK;
  }
  if (table->column_count == MAX_COLUMNS || strlen(name) >= sizeof table->columns->name) {
    return fail(HALOTUNE_DB, "this Halotune does not know the table %s", table->name);
  }
  struct column *column = &table->columns[table->column_count++];
  snprintf(column->name, sizeof column->name, "%s", name);
  column->kind = kind_of(number, name, column_text(row, 1));
  column->refers_to = -1;
  column->is_key = is_in(keys[number], name);
  column->is_compared = !column->is_key && !is_in(varying[number], name) && strcmp(name, "origin_id") != 0;
  column->must_be_given = sqlite3_column_int(row, 2) && !sqlite3_column_int(row, 3);
  return HALOTUNE_OK;
}

/* Columns of the row: column, the table that it refers to. */
static halotune_status add_reference(struct tables *tables, int number, sqlite3_stmt *row) {
  struct table *table = &tables->list[number];
  int column = table_column(table, column_text(row, 0));
  for (int i = 0; i < number && column >= 0; i++) {
    if (strcmp(table_names[i], column_text(row, 1)) == 0) table->columns[column].refers_to = i;
  }
  return HALOTUNE_OK;
}

/* Calls `add` for each row that `sql` gives for each table. */
static halotune_status describe_tables(sqlite3 *connection, const char *sql, struct tables *out,
                                       halotune_status (*add)(struct tables *tables, int number, sqlite3_stmt *row)) {
  sqlite3_stmt *query = NULL;
  halotune_status status = query_prepare(connection, sql, &query);
  for (int i = 0; i < TABLE_COUNT && status == HALOTUNE_OK; i++) {
    int code;
    sqlite3_bind_text(query, 1, table_names[i], -1, SQLITE_STATIC);
    while ((code = sqlite3_step(query)) == SQLITE_ROW && status == HALOTUNE_OK) status = add(out, i, query);
    if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(connection);
    sqlite3_reset(query);
  }
  sqlite3_finalize(query);
  return status;
}

halotune_status tables_read(sqlite3 *connection, struct tables *out) {
  memset(out, 0, sizeof *out);
  for (int i = 0; i < TABLE_COUNT; i++) out->list[i].name = table_names[i];
  halotune_status status = describe_tables(
      connection, "select name, type, \"notnull\", dflt_value is not null from pragma_table_info(?1) order by cid", out,
      add_column);
  if (status != HALOTUNE_OK) return status;
  return describe_tables(connection, "select \"from\", \"table\" from pragma_foreign_key_list(?1)", out, add_reference);
}

/* Names of columns come from the file, and may be words of SQL. They hold no quotes (db/store/plain_definitions.h). */
static void add_names(const struct table *table, struct text *sql) {
  for (int i = 0; i < table->column_count; i++) text_printf(sql, "%s\"%s\"", i ? ", " : "", table->columns[i].name);
}

void table_select(const struct table *table, struct text *sql) {
  text_printf(sql, "select %s, ", table->has_id ? "id" : "0");
  add_names(table, sql);
  text_printf(sql, " from %s", table->name);
}

void table_insert(const struct table *table, struct text *sql) {
  text_printf(sql, "insert into %s (%s, ", table->name, table->has_id ? "id" : "rowid");
  add_names(table, sql);
  text_printf(sql, ") values (?1");
  for (int i = 0; i < table->column_count; i++) text_printf(sql, ", ?%d", i + 2);
  text_printf(sql, ")");
}

void table_find(const struct table *table, struct text *sql) {
  const char *link = "where";
  text_printf(sql, "select rowid, ");
  add_names(table, sql);
  text_printf(sql, " from %s", table->name);
  for (int i = 0; i < table->column_count; i++) {
    if (!table->columns[i].is_key) continue;
    text_printf(sql, " %s \"%s\" = ?%d", link, table->columns[i].name, i + 2);
    link = "and";
  }
}
