/* store_copy.c: copies pages into memory, then rows into new tables. An index that the file lacks, or one that it has
 * besides, thus changes the time of no question. */
#include "db/store/store_copy.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/array.h"
#include "db/store/amounts.h"
#include "db/store/migrate_copy.h"
#include "db/store/schema.h"
#include "db/store/store_parts.h"

/* What no question needs. It is most of a file. Some builds of SQLite overwrite what is left out with zeros. Nothing is
 * kept for a rollback: after a failure nobody uses the copy. */
static const char leave_out_sql[] =
    "pragma journal_mode = off; pragma secure_delete = off;"
    " update best set source = '', cubin = x'', launch = '', coefficients = ''; update finalist set samples = x'';"
    " update measurement set samples = null, reason = '', why = null;"
    " update origin set name = id, document = '';"
    " update template set yaml = '', cuda = '';"
    " update run set command = '', host = '', reason = '', warnings = '', outcomes = null";

static const long long most_bytes = 3LL << 28; /* of the copy; readers need memory of their own */

static halotune_status copy_rows(sqlite3 *connection) {
  /* in an order in which each refers to those before it */
  static const char *const tables[] = {"origin",  "device", "stencil",     "stencil_text", "template", "problem",
                                       "variant", "run",    "measurement", "finalist",     "best",     "prediction"};
  halotune_status status =
      query_script(connection, MIGRATE_SET_ASIDE_6_SQL "; alter table prediction rename to old_prediction");
  if (status == HALOTUNE_OK) status = query_script(connection, schema_sql);
  for (size_t i = 0; i < COUNT(tables) && status == HALOTUNE_OK; i++)
    status = migrate_copy_rows(connection, tables[i], NULL, NULL);
  if (status == HALOTUNE_OK) status = query_script(connection, "drop table old_prediction; " MIGRATE_DROP_6_SQL);
  return status;
}

/* Give the caller's template to all variants of templates of its name. A variant that another version of the template
 * has with the same source stays with that version. */
static halotune_status take_template(sqlite3 *connection, const struct template *template) {
  static const char *const statements[] = {
      "update template set hash = ?2, common_hash = ?3, yaml = ?4, cuda = ?5"
      " where id = (select min(id) from template where name = ?1)",
      "update or ignore variant set template_id = (select min(id) from template where name = ?1)"
      " where template_id in (select id from template where name = ?1)"};
  char hash[IDENTITY_HEX_BYTES], common[IDENTITY_HEX_BYTES];
  halotune_status status = HALOTUNE_OK;
  identity_hex(template->hash, hash);
  identity_hex(template->common_hash, common);
  const char *const values[] = {template->name, hash, common, template->yaml, template->cuda};
  for (size_t i = 0; i < COUNT(statements) && status == HALOTUNE_OK; i++) {
    sqlite3_stmt *update = NULL;
    status = query_prepare(connection, statements[i], &update);
    for (int k = 0; status == HALOTUNE_OK && k < sqlite3_bind_parameter_count(update); k++)
      sqlite3_bind_text(update, k + 1, values[k], -1, SQLITE_STATIC);
    if (status == HALOTUNE_OK) status = query_run(update, NULL);
    sqlite3_finalize(update);
  }
  return status;
}

static halotune_status fail_memory_of_rows(void) {
  return fail(HALOTUNE_DB, "they take more than %lld MiB of memory", most_bytes >> 20);
}

/* Old and new tables are there together, and indexes that the file lacks. SQLite's own limit is never below the pages
 * that are there, and those of machine code are free by now, so the rows are counted as well. */
static halotune_status limit_memory(sqlite3 *connection) {
  char sql[64];
  int64_t page_bytes = 0, pages = 0, free_pages = 0;
  halotune_status status = query_number(connection, "pragma page_size", &page_bytes);
  if (status == HALOTUNE_OK) status = query_number(connection, "pragma page_count", &pages);
  if (status == HALOTUNE_OK) status = query_number(connection, "pragma freelist_count", &free_pages);
  if (status != HALOTUNE_OK) return status;
  if (2 * (pages - free_pages) * page_bytes > most_bytes) return fail_memory_of_rows();
  snprintf(sql, sizeof sql, "pragma max_page_count = %lld", most_bytes / (long long)page_bytes);
  return query_script(connection, sql);
}

static halotune_status make_tables_anew(sqlite3 *connection, struct template *const *templates, int count) {
  halotune_status status = limit_memory(connection);
  if (status == HALOTUNE_OK) status = query_script(connection, "pragma foreign_keys = off");
  if (status == HALOTUNE_OK) status = query_script(connection, "begin immediate");
  if (status != HALOTUNE_OK) return status;
  status = copy_rows(connection);
  if (status != HALOTUNE_OK && sqlite3_errcode(connection) == SQLITE_FULL) status = fail_memory_of_rows();
  if (status == HALOTUNE_OK)
    status = query_script(connection, "update template set hash = hex(randomblob(32)), common_hash = ''");
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) status = take_template(connection, templates[i]);
  status = query_finish(connection, status);
  return status == HALOTUNE_OK ? query_script(connection, "pragma foreign_keys = on") : status;
}

/* A parsed stencil takes some 20 KB, and up to four hundred times as much memory as its text. */
static const struct amount most_amounts[] = {
    {"templates", "(select count(1) from template)", 4096},
    {"GPUs", "(select count(1) from device)", 4096},
    {"stencils", "(select count(1) from stencil)", 8192},
    {"sources of rows", "(select count(1) from origin)", 65536},
    {"problems", "(select count(1) from problem)", 200000},
    {"winners", "(select count(1) from best)", 200000},
    {"finalists", "(select count(1) from finalist)", 200000},
    {"runs", "(select count(1) from run)", 200000},
    {"coefficients of predictions", "(select count(1) from prediction)", 65536},
    {"variants", "(select count(1) from variant)", 2000000},
    {"measurements", "(select count(1) from measurement)", 2000000},
    {"bytes in parameters of variants", "(select sum(length(cast(parameters as blob))) from variant)", 128 << 20},
};

/* The longest text that is read of a column. Many rows can share one, and each of them can be kept or sorted. */
static long most_bytes_of(const char *table, const char *column) {
  if (strcmp(table, "variant") == 0 && strcmp(column, "parameters") == 0) return 4096;
  const bool is_stencil = strcmp(table, "stencil_text") == 0 && strcmp(column, "text") == 0;
  return is_stencil ? LONG_MAX : 256; /* texts of stencils have a limit for all together */
}

/* Columns: table, column. */
static halotune_status check_column(void *context, sqlite3_stmt *row) {
  const char *table = column_text(row, 0), *column = column_text(row, 1);
  const long most = most_bytes_of(table, column);
  int64_t bytes = 0;
  char *sql = sqlite3_mprintf("select coalesce(max(length(cast(\"%w\" as blob))), 0) from \"%w\"", column, table);
  halotune_status status = sql ? query_number(context, sql, &bytes) : fail_memory();
  sqlite3_free(sql);
  if (status == HALOTUNE_OK && bytes > most)
    status = fail(HALOTUNE_DB, "a text of %s.%s has %lld bytes; at most %ld are read", table, column, (long long)bytes,
                  most);
  return status;
}

static halotune_status check_texts(sqlite3 *connection) {
  sqlite3_stmt *query = NULL;
  halotune_status status =
      query_prepare(connection,
                    "select m.name, c.name from sqlite_master m join pragma_table_info(m.name) c where m.type = 'table'"
                    " and c.type = 'text' collate nocase",
                    &query);
  if (status == HALOTUNE_OK) status = query_each(query, check_column, connection);
  sqlite3_finalize(query);
  return status;
}

bool store_is_copy(const struct store *store) { return store->mode == STORE_READ_SOON; }

halotune_status store_open_copy(const char *path, struct template *const *templates, int count,
                                bool (*is_over)(const void *context), const void *context, struct store **out) {
  struct store *store = NULL;
  char detail[FAIL_TEXT_BYTES / 2];
  *out = NULL;
  halotune_status status = store_open_soon(path, is_over, context, &store);
  if (status == HALOTUNE_OK) status = store_hold(store);
  if (status == HALOTUNE_OK && store_has_file(store))
    status =
        fail(HALOTUNE_DB,
             "%s: it is larger than 1 GiB, and is read in memory: 'halotune db export' without --cubins and 'halotune "
             "db import' make a smaller one",
             path);
  if (status == HALOTUNE_OK) {
    status = amounts_check(store->connection, most_amounts, COUNT(most_amounts));
    if (status == HALOTUNE_OK) status = amounts_check_stencil_texts(store->connection, 1 << 20);
    if (status == HALOTUNE_OK) status = store_pages_check(store);
    if (status == HALOTUNE_OK) status = store_indexes_make(store);
    if (status == HALOTUNE_OK) status = query_script(store->connection, leave_out_sql);
    if (status == HALOTUNE_OK) status = check_texts(store->connection);
    if (status == HALOTUNE_OK) status = make_tables_anew(store->connection, templates, count);
    if (status == HALOTUNE_DB) {
      snprintf(detail, sizeof detail, "%s", fail_text());
      status = fail(HALOTUNE_DB, "%s: its rows cannot be read: %s", path, detail);
    }
  }
  if (status == HALOTUNE_DB && is_over && is_over(context))
    status = fail(HALOTUNE_CANCELLED, "%s: the time for reading it is over", path);
  if (status == HALOTUNE_OK) store_ask(*out = store, NULL, NULL);
  else store_close(store);
  return status == HALOTUNE_MEMORY ? fail(HALOTUNE_MEMORY, "%s: the memory is too small to read it", path) : status;
}
