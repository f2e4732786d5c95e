/* import_open.c: opens a file once, finds its kind by its first bytes, and computes the identity of its content. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/locked_files.h"
#include "base/memory/array.h"
#include "base/system/pipe.h"
#include "db/exchange/import.h"
#include "db/exchange/signed_document.h"
#include "db/exchange/table.h"
#include "db/store/amounts.h"
#include "db/store/query.h"
#include "db/store/take_rows.h"

static const size_t most_bytes = (size_t)1 << 30;

/* Add an integer by its decimal digits. */
static void add_integer(struct identity_maker *maker, int64_t number) {
  char digits[24], *at = digits + sizeof digits;
  uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
  do {
    *--at = (char)('0' + left % 10);
    left /= 10;
  } while (left > 0);
  if (number < 0) *--at = '-';
  identity_add(maker, at, (size_t)(digits + sizeof digits - at));
}

static void add_value(struct identity_maker *maker, sqlite3_value *value) {
  const int type = sqlite3_value_type(value);
  const double number = type == SQLITE_FLOAT ? sqlite3_value_double(value) : 0;
  identity_add(maker, &type, sizeof type);
  if (type == SQLITE_FLOAT) identity_add(maker, &number, sizeof number);
  else if (type == SQLITE_INTEGER) add_integer(maker, sqlite3_value_int64(value));
  else identity_add(maker, sqlite3_value_blob(value), (size_t)sqlite3_value_bytes(value));
}

/* The rows of a table on their way into an identity. */
struct adding {
  struct identity_maker *maker;
  int count, origin; /* number of values in a row, and the one that is left out; -1: none */
};

static halotune_status add_row(void *context, sqlite3_value **values) {
  const struct adding *adding = context;
  for (int i = 0; i < adding->count; i++) {
    if (i != adding->origin) add_value(adding->maker, values[i]);
  }
  return HALOTUNE_OK;
}

/* Without an index, SQLite walks through a table by its rowid. */
static halotune_status add_rows(struct identity_maker *maker, sqlite3 *connection, const struct table *table) {
  const int origin = table_column(table, "origin_id");
  struct adding adding = {maker, table->column_count + 1, origin < 0 ? -1 : origin + 1};
  struct text sql = {0};
  text_printf(&sql, "select take(%s", table->has_id ? "id" : "0");
  identity_add_text(maker, table->name);
  for (int i = 0; i < table->column_count; i++) {
    text_printf(&sql, ", \"%s\"", table->columns[i].name); /* a name without quotes: see db/store/plain_definitions.h */
    identity_add_text(maker, table->columns[i].name);      /* the file decides the order of its columns */
  }
  text_printf(&sql, ") from %s not indexed", table->name);
  const halotune_status status =
      text_ok(&sql) ? take_rows(connection, text_string(&sql), add_row, &adding) : fail_memory();
  text_free(&sql);
  return status;
}

/* The origins of rows are left out, because a merge gives rows its own. But a merge asks whether the file says of a run
 * that its user measured it (merge.c), so that the answers count. */
static halotune_status add_measured_runs(struct identity_maker *maker, sqlite3 *connection) {
  static const char sql[] = "select take(r.id, o.name) from run r not indexed cross join origin o on o.id = r.origin_id"
                            " where o.kind = 'measured'";
  struct adding adding = {maker, 2, -1};
  identity_add_text(maker, "runs measured");
  return take_rows(connection, sql, add_row, &adding);
}

/* Every SQLite file begins with this text and its NUL. */
static const char database_mark[] = "SQLite format 3";

static bool is_database(const char *bytes, size_t length) {
  return length >= sizeof database_mark && memcmp(bytes, database_mark, sizeof database_mark) == 0;
}

/* The identity of all that a merge reads, as they lie in memory: the file may have other content by now. */
static halotune_status rows_identity(struct store *store, struct identity *out) {
  struct identity_maker maker;
  struct tables *tables = malloc(sizeof *tables);
  if (!tables) return fail_memory();
  identity_begin(&maker, "rows of a database");
  halotune_status status = tables_read(store_connection(store), tables);
  for (int i = 0; i < TABLE_COUNT && status == HALOTUNE_OK; i++)
    status = add_rows(&maker, store_connection(store), &tables->list[i]);
  if (status == HALOTUNE_OK) status = add_measured_runs(&maker, store_connection(store));
  *out = identity_end(&maker);
  free(tables);
  return status;
}

/* Find the signer of a document, and check the signature. */
static halotune_status read_signature(const char *text, size_t length, const char *path, struct imported *out) {
  struct document_signature signature = {.signed_bytes = 0};
  out->is_signed = document_signature_find(text, length, &signature);
  out->signer = signature.signer;
  if (!out->is_signed || document_signature_is_right(text, &signature)) return HALOTUNE_OK;
  return fail(HALOTUNE_PARSE,
              "%s: its signature is wrong: the document was changed after it was signed, or the signature is that of "
              "another one; get it again",
              path);
}

/* The identity of a database's pages. */
static halotune_status pages_identity(struct store *store, struct identity *out) {
  sqlite3_int64 bytes = 0;
  unsigned char *pages = sqlite3_serialize(store_connection(store), "main", &bytes, 0);
  if (!pages) return fail_memory();
  *out = identity_of("pages of a database", pages, (size_t)bytes);
  sqlite3_free(pages);
  return HALOTUNE_OK;
}

/* Open a database.
 *   before  what it had when it was opened first; NULL: this is the first time. The same pages were checked then, and
 *           have the same rows, which take longer to read. Other pages may have them, too: a journal may have been
 *           written back. The indexes of the file count nowhere */
static halotune_status database_open(const char *path, const struct imported *before, struct imported *out) {
  halotune_status status = store_open(path, STORE_IMPORT, &out->store);
  if (status == HALOTUNE_OK) status = store_hold(out->store);
  if (status == HALOTUNE_OK && store_has_file(out->store))
    status =
        fail(HALOTUNE_DB,
             "%s: it is larger than 1 GiB, and its sender could change it while it is read: import a document that "
             "'halotune db export' made of it",
             path);
  if (status != HALOTUNE_OK) return status;
  status = pages_identity(out->store, &out->pages);
  if (status != HALOTUNE_OK) return status;
  const bool is_same = before && identity_compare(before->pages, out->pages) == 0;
  if (!is_same) status = store_pages_check(out->store);
  if (status == HALOTUNE_OK) status = store_indexes_make(out->store);
  if (!is_same) return status == HALOTUNE_OK ? rows_identity(out->store, &out->document) : status;
  out->document = before->document;
  return status;
}

/* Read a document, and close `fd`. */
static halotune_status document_open(int fd, const char *path, struct imported *out) {
  char *text = NULL;
  size_t length = 0;
  halotune_status status = file_read_open(fd, path, most_bytes, &text, &length);
  if (status == HALOTUNE_OK && is_database(text, length))
    status =
        fail(HALOTUNE_PARSE,
             "%s: a database cannot be read from a pipe; name its file, or send 'halotune db export' through the pipe",
             path);
  if (status == HALOTUNE_OK) status = import_parse(text, length, path, &out->store);
  if (status == HALOTUNE_OK) status = read_signature(text, length, path, out);
  if (status == HALOTUNE_OK) out->document = identity_of("document", text, length);
  free(text);
  return status;
}

/* Lookups keep each parsed template and stencil. A stencil can take four hundred times as much memory as its text; the
 * check of the rows also counts what templates take. The templates of this Halotune have half a megabyte of text. */
static halotune_status check_amounts(const struct imported *in, const char *path) {
  static const struct amount most_amounts[] = {
      {"bytes in texts of templates",
       "(select sum(length(cast(yaml as blob)) + length(cast(cuda as blob))) from template)", 16 << 20},
      {"templates", "(select count(1) from template)", 4096},
      {"stencils", "(select count(1) from stencil)", 16384},
  };
  char detail[FAIL_TEXT_BYTES / 2];
  halotune_status status = amounts_check(store_connection(in->store), most_amounts, COUNT(most_amounts));
  if (status == HALOTUNE_OK) status = amounts_check_stencil_texts(store_connection(in->store), 2 << 20);
  if (status != HALOTUNE_DB) return status;
  snprintf(detail, sizeof detail, "%s", fail_text());
  return fail(status, "%s: %s", path, detail);
}

static halotune_status open_either(const char *path, const struct imported *before, struct imported *out) {
  char head[sizeof database_mark];
  struct stat facts;
  *out = (struct imported){.store = NULL};
  const int fd = pipe_open(path, O_RDONLY);
  if (fd < 0) return fail(errno == ENOENT ? HALOTUNE_NOT_FOUND : HALOTUNE_IO, "%s: %s", path, strerror(errno));
  out->is_once = fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode);
  /* A pipe is not read here, because its bytes could not be read again. */
  const ssize_t count = out->is_once ? 0 : pread(fd, head, sizeof head, 0);
  halotune_status status;
  if (count > 0 && is_database(head, (size_t)count)) {
    locked_files_close(fd);
    status = database_open(path, before, out);
  } else {
    out->is_document = true;
    status = document_open(fd, path, out);
  }
  if (status == HALOTUNE_OK) status = check_amounts(out, path);
  if (status == HALOTUNE_OK) return HALOTUNE_OK;
  store_close(out->store);
  out->store = NULL;
  return status;
}

halotune_status import_open(const char *path, struct imported *out) { return open_either(path, NULL, out); }

halotune_status import_open_again(const char *path, struct imported *file, bool *is_checked) {
  struct imported again;
  halotune_status status = open_either(path, file, &again);
  if (status != HALOTUNE_OK) return status;
  if (identity_compare(again.document, file->document) == 0) {
    *is_checked = file->is_document || identity_compare(again.pages, file->pages) == 0;
    file->store = again.store;
    return HALOTUNE_OK;
  }
  store_close(again.store);
  return fail(
      HALOTUNE_DB,
      "%s: the file was changed after it had been checked, by a tune perhaps; nothing was taken from it: run the command again",
      path);
}
