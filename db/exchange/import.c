/* import.c: each row of the document is one insert, its members checked against the table's columns. */
#include "db/exchange/import.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/file.h"
#include "base/text/json.h"
#include "base/text/utf8.h"
#include "db/exchange/base64.h"
#include "db/exchange/export.h"
#include "db/exchange/signed_document.h"
#include "db/exchange/table.h"
#include "db/store/guard.h"
#include "db/store/query.h"
#include "db/store/rename_templates.h"

struct reader {
  const char *name;
  sqlite3 *connection;
  const struct tables *tables;
  const struct table *table; /* the table that is being read */
  size_t number;             /* the row's number, from 1 */
  sqlite3_stmt *insert;
  struct text sql; /* of `insert`: rows with the same members share it */
};

#define read_fail(r, format, ...) \
  fail(HALOTUNE_PARSE, "%s: %s, row %zu: " format, (r)->name, (r)->table->name, (r)->number, __VA_ARGS__)

static halotune_status bind_samples(const struct reader *r, const struct column *column, const json_t *value,
                                    int place) {
  size_t count = json_array_size(value);
  float *samples = malloc((count + 1) * sizeof *samples);
  if (!samples) return fail_memory();
  for (size_t i = 0; i < count; i++) {
    const json_t *item = json_array_get(value, i);
    samples[i] = (float)(json_is_number(item) ? json_number_value(item) : (double)NAN);
    if (isfinite(samples[i])) continue;
    free(samples);
    return read_fail(r, "'%s' holds a value that is not a finite number", column->name);
  }
  sqlite3_bind_blob64(r->insert, place, samples, count * sizeof *samples, free);
  return HALOTUNE_OK;
}

static halotune_status bind_base64(const struct reader *r, const struct column *column, const char *value, int place) {
  struct text bytes = {0};
  halotune_status status = base64_read(value, &bytes) ? HALOTUNE_OK : read_fail(r, "'%s' is not base64", column->name);
  if (!text_ok(&bytes)) status = fail_memory();
  if (status == HALOTUNE_OK) sqlite3_bind_blob64(r->insert, place, text_string(&bytes), bytes.length, SQLITE_TRANSIENT);
  text_free(&bytes);
  return status;
}

static halotune_status bind_json(const struct reader *r, const json_t *value, int place) {
  struct text text = {0};
  halotune_status status = json_write(&text, value, JSON_IN_LINE) ? HALOTUNE_OK : fail_memory();
  if (status == HALOTUNE_OK) sqlite3_bind_text(r->insert, place, text_string(&text), -1, SQLITE_TRANSIENT);
  text_free(&text);
  return status;
}

static bool is_of_kind(const struct column *column, const json_t *value) {
  switch (column->kind) {
  case COLUMN_INTEGER: return json_is_integer(value);
  case COLUMN_REAL: return json_is_number(value);
  case COLUMN_TEXT:
  case COLUMN_BYTES: return json_is_string(value);
  case COLUMN_SAMPLES: return json_is_array(value);
  case COLUMN_JSON: return json_is_array(value) || json_is_object(value);
  }
  return false;
}

static halotune_status bind_member(const struct reader *r, int column_number, json_t *value) {
  const struct column *column = &r->table->columns[column_number];
  int place = column_number + 2;
  if (!is_of_kind(column, value)) return read_fail(r, "the value of '%s' has the wrong type", column->name);
  switch (column->kind) {
  case COLUMN_INTEGER: sqlite3_bind_int64(r->insert, place, json_integer_value(value)); break;
  case COLUMN_REAL: sqlite3_bind_double(r->insert, place, json_number_value(value)); break;
  case COLUMN_TEXT: sqlite3_bind_text(r->insert, place, json_string_value(value), -1, SQLITE_STATIC); break;
  case COLUMN_JSON: return bind_json(r, value, place);
  case COLUMN_SAMPLES: return bind_samples(r, column, value, place);
  case COLUMN_BYTES: return bind_base64(r, column, json_string_value(value), place);
  }
  return HALOTUNE_OK;
}

/* The origin of all rows of a document, until they are merged or kept. */
enum { DOCUMENT_ORIGIN = 1 };
static const char origin_sql[] =
    "insert into origin (id, kind, name, date) values (1, 'imported', '', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))";

/* Columns that no document has, because the importing program decides them. */
static bool is_of_one_database(const char *column) {
  return strcmp(column, "is_trusted") == 0 || strcmp(column, "origin_id") == 0;
}

/* Bind the columns that documents may leave out although the table has no default for them. */
static void bind_omissions(const struct reader *r) {
  int trusted = table_column(r->table, "is_trusted"), cubin = table_column(r->table, "cubin"), /* version 4 */
      origin = table_column(r->table, "origin_id");
  if (trusted >= 0 && r->table->columns[trusted].must_be_given) sqlite3_bind_int(r->insert, trusted + 2, 1);
  if (origin >= 0) sqlite3_bind_int(r->insert, origin + 2, DOCUMENT_ORIGIN);
  if (cubin >= 0) sqlite3_bind_zeroblob(r->insert, cubin + 2, 0);
}

/* Check that no required member is missing. */
static halotune_status check_members(const struct reader *r, const json_t *row) {
  for (int i = 0; i < r->table->column_count; i++) {
    const struct column *column = &r->table->columns[i];
    bool may_be_missing =
        !column->must_be_given || is_of_one_database(column->name) || strcmp(column->name, "cubin") == 0;
    if (!may_be_missing && !json_object_get(row, column->name)) return read_fail(r, "'%s' is missing", column->name);
  }
  return HALOTUNE_OK;
}

static halotune_status bind_row(const struct reader *r, json_t *row) {
  const char *key;
  json_t *value;
  json_object_foreach(row, key, value) {
    int column = table_column(r->table, key);
    halotune_status status = HALOTUNE_OK;
    if (strcmp(key, "id") == 0 && r->table->has_id && json_is_integer(value)) {
      sqlite3_bind_int64(r->insert, 1, json_integer_value(value));
    } else if (column < 0 || is_of_one_database(key)) {
      status = read_fail(r, "'%s' is not allowed here", key);
    } else {
      status = bind_member(r, column, value);
    }
    if (status != HALOTUNE_OK) return status;
  }
  return HALOTUNE_OK;
}

/* Make the statement for a row's members, unless the row before had the same. Leave missing members with a default out:
 * an insert of NULL would not take the default. */
static halotune_status prepare_insert(struct reader *r, const json_t *row) {
  struct text sql = {0}, places = {0};
  text_printf(&sql, "insert into %s (%s", r->table->name, r->table->has_id ? "id" : "rowid");
  text_printf(&places, "?1");
  for (int i = 0; i < r->table->column_count; i++) {
    const struct column *column = &r->table->columns[i];
    if (!json_object_get(row, column->name) && !column->must_be_given) continue;
    text_printf(&sql, ", %s", column->name);
    text_printf(&places, ", ?%d", i + 2);
  }
  text_printf(&sql, ") values (%s)", text_string(&places));
  const bool ok = text_ok(&sql) && text_ok(&places);
  const bool is_same = ok && r->insert && strcmp(text_string(&sql), text_string(&r->sql)) == 0;
  halotune_status status = ok ? HALOTUNE_OK : fail_memory();
  if (is_same) {
    sqlite3_clear_bindings(r->insert);
  } else if (ok) {
    sqlite3_finalize(r->insert);
    r->insert = NULL;
    status = query_prepare(r->connection, text_string(&sql), &r->insert);
  }
  text_free(&places);
  text_free(&r->sql);
  r->sql = sql;
  return status;
}

static halotune_status read_row(struct reader *r, json_t *row) {
  if (!json_is_object(row)) return read_fail(r, "expected %s", "an object");
  halotune_status status = check_members(r, row);
  if (status == HALOTUNE_OK) status = prepare_insert(r, row);
  if (status == HALOTUNE_OK) {
    bind_omissions(r);
    status = bind_row(r, row);
  }
  if (status == HALOTUNE_OK && sqlite3_step(r->insert) != SQLITE_DONE) {
    bool memory = sqlite3_errcode(r->connection) == SQLITE_NOMEM;
    status = memory ? fail_memory() : read_fail(r, "%s", sqlite3_errmsg(r->connection));
  }
  if (r->insert) sqlite3_reset(r->insert);
  return status;
}

static halotune_status read_table(struct reader *r, const json_t *rows) {
  size_t i;
  json_t *row;
  halotune_status status = HALOTUNE_OK;
  if (!rows) return HALOTUNE_OK;
  r->number = 0;
  if (!json_is_array(rows)) return fail(HALOTUNE_PARSE, "%s: '%s' is not a list of rows", r->name, r->table->name);
  for (i = 0; i < json_array_size(rows) && status == HALOTUNE_OK; i++) {
    row = json_array_get(rows, i);
    r->number = i + 1;
    status = read_row(r, row);
  }
  return status;
}

static halotune_status read_tables(struct reader *r, json_t *tables) {
  const char *key;
  json_t *rows;
  halotune_status status = HALOTUNE_OK;
  json_object_foreach(tables, key, rows) {
    bool known = false;
    for (int i = 0; i < TABLE_COUNT; i++) known = known || strcmp(key, table_names[i]) == 0;
    if (!known) return fail(HALOTUNE_PARSE, "%s: this Halotune has no table '%s'", r->name, key);
  }
  for (int i = 0; i < TABLE_COUNT && status == HALOTUNE_OK; i++) {
    r->table = &r->tables->list[i];
    status = read_table(r, json_object_get(tables, table_names[i]));
  }
  return status;
}

/* Check the members of the document itself. Members of a signature may stand only where document_signature_find looks
 * for them. */
static halotune_status check_head_members(json_t *document, bool is_signed, const char *name) {
  const char *key;
  json_t *value;
  if (!json_is_object(json_object_get(document, "tables")))
    return fail(HALOTUNE_PARSE, "%s: the member 'tables' is missing", name);
  json_object_foreach(document, key, value) {
    const bool is_signature = strcmp(key, DOCUMENT_SIGNER) == 0 || strcmp(key, DOCUMENT_SIGNATURE) == 0;
    if (is_signature && !is_signed)
      return fail(
          HALOTUNE_PARSE,
          "%s: its signature is not at its end, where 'halotune db export --sign' writes it: the document was changed "
          "after it was signed; get the document again",
          name);
    if (!is_signature && strcmp(key, "format") != 0 && strcmp(key, "version") != 0 && strcmp(key, "tables") != 0)
      return fail(HALOTUNE_PARSE, "%s: this Halotune knows no member '%s' of a document", name, key);
  }
  return HALOTUNE_OK;
}

static halotune_status check_head(const json_t *document, const char *name, int *out) {
  const char *format = json_string_value(json_object_get(document, "format"));
  const json_t *version = json_object_get(document, "version");
  if (!format || strcmp(format, EXPORT_FORMAT) != 0) {
    return fail(
        HALOTUNE_PARSE,
        "%s: this is neither a tuning database nor a document of 'halotune db export' (--format t4 and csv are for other "
        "programs, and are not imported)",
        name);
  }
  const json_int_t number = json_is_integer(version) ? json_integer_value(version) : 0;
  *out = (int)number;
  if (number >= 1 && number <= EXPORT_VERSION) return HALOTUNE_OK;
  return fail(HALOTUNE_PARSE, "%s: this Halotune reads versions 1 to %d of the format", name, EXPORT_VERSION);
}

/* Messages repeat words of the document, which may hold control characters and line ends. None shows a picture. */
static halotune_status fail_printably(void) {
  char text[FAIL_TEXT_BYTES];
  printable_name(text, sizeof text, fail_text());
  return fail(HALOTUNE_PARSE, "%s", text);
}

/* Migrate the tables of a document of version 1, as a reader migrates an old file. The bests are chosen again, and the
 * work for this grows with the number of problems times that of wrong variants. */
static halotune_status migrate_document(struct store *store, const char *name, size_t length) {
  struct guard guard = {0};
  struct fail_kept detail;
  guard_steps(store_connection(store), (int64_t)length, &guard);
  const halotune_status status = store_bring_up_to_date(store);
  guard_end(&guard);
  if (status == HALOTUNE_OK) return HALOTUNE_OK;
  fail_keep(&detail);
  return fail(status, "%s: %s", name, detail.text);
}

halotune_status import_parse(const char *text, size_t length, const char *name, struct store **out) {
  json_t *document = NULL;
  struct store *store = NULL;
  struct document_signature signature;
  int version = 0;
  *out = NULL;
  struct tables *tables = malloc(sizeof *tables);
  if (!tables) return fail_memory();
  halotune_status status = json_read(text, length, name, &document);
  if (status == HALOTUNE_OK) status = check_head(document, name, &version);
  if (status == HALOTUNE_OK)
    status = check_head_members(document, document_signature_find(text, length, &signature), name);
  if (status == HALOTUNE_OK) status = version == 1 ? store_open_memory_4(&store) : store_open_memory(&store);
  if (status == HALOTUNE_OK && version > 1) status = query_script(store_connection(store), origin_sql);
  if (status == HALOTUNE_OK) status = tables_read(store_connection(store), tables);
  if (status == HALOTUNE_OK) status = query_script(store_connection(store), "begin");
  if (status == HALOTUNE_OK) {
    struct reader r = {.name = name, .connection = store_connection(store), .tables = tables};
    status = read_tables(&r, json_object_get(document, "tables"));
    sqlite3_finalize(r.insert);
    text_free(&r.sql);
    if (status == HALOTUNE_OK && version > 1) status = templates_rename(r.connection);
    status = query_finish(r.connection, status);
    if (status == HALOTUNE_OK && version == 1) status = migrate_document(store, name, length);
  }
  if (status == HALOTUNE_PARSE) status = fail_printably();
  if (status == HALOTUNE_OK) *out = store;
  else store_close(store);
  json_decref(document);
  free(tables);
  return status;
}
