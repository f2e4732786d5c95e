/* store_copy.c: copies pages into memory, then rows into new tables. An index that the file lacks, or one that it has
 * besides, thus changes the time of no question. */
#include "db/store/store_copy.h"

#include <math.h>
#include <stdio.h>

#include "base/memory/array.h"
#include "db/store/migrate_copy.h"
#include "db/store/schema.h"
#include "db/store/store_parts.h"

/* Texts that no question needs. They are most of a file. */
static const char leave_out_sql[] = "update best set source = '', cubin = x''; update measurement set samples = null;"
                                    " update finalist set samples = x''";

static halotune_status copy_rows(sqlite3 *connection) {
  /* in an order in which each refers to those before it */
  static const char *const tables[] = {"origin",  "device", "stencil",     "stencil_text", "template", "problem",
                                       "variant", "run",    "measurement", "finalist",     "best",     "prediction"};
  halotune_status status = query_script(connection, leave_out_sql);
  if (status == HALOTUNE_OK)
    status = query_script(connection, MIGRATE_SET_ASIDE_6_SQL "; alter table prediction rename to old_prediction");
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

static halotune_status make_tables_anew(sqlite3 *connection, struct template *const *templates, int count) {
  halotune_status status = query_script(connection, "pragma foreign_keys = off");
  if (status == HALOTUNE_OK) status = query_script(connection, "begin immediate");
  if (status != HALOTUNE_OK) return status;
  status = copy_rows(connection);
  if (status == HALOTUNE_OK)
    status = query_script(connection,
                          "update template set hash = hex(randomblob(32)), common_hash = '', yaml = '', cuda = ''");
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) status = take_template(connection, templates[i]);
  status = query_finish(connection, status);
  return status == HALOTUNE_OK ? query_script(connection, "pragma foreign_keys = on") : status;
}

/* The processor time that the copy may take. That of a file of 500 MB took 4 s. */
static const double most_ms = 20000;

/* Readers keep rows and texts in memory, and compare some rows in pairs. Texts of stencils are no longer than the
 * readers allow, or are not read. */
static halotune_status check_sizes(sqlite3 *connection) {
  static const struct {
    const char *what, *value; /* of all rows together, or the largest of a row */
    long most;
  } sizes[] = {
      {"templates", "(select count(1) from template)", 4096},
      {"GPUs", "(select count(1) from device)", 4096},
      {"stencils", "(select count(1) from stencil)", 65536},
      {"sources of rows", "(select count(1) from origin)", 65536},
      {"problems", "(select count(1) from problem)", 200000},
      {"winners", "(select count(1) from best)", 200000},
      {"finalists", "(select count(1) from finalist)", 200000},
      {"runs", "(select count(1) from run)", 200000},
      {"coefficients of predictions", "(select count(1) from prediction)", 65536},
      {"variants", "(select count(1) from variant)", 2000000},
      {"measurements", "(select count(1) from measurement)", 2000000},
      {"bytes in the parameters of a variant", "(select max(length(cast(parameters as blob))) from variant)", 4096},
      {"bytes in the name of a GPU",
       "(select max(max(length(cast(name as blob)), length(cast(uuid as blob)))) from device)", 256},
      {"bytes in the name of a stencil", "(select max(length(cast(name as blob))) from stencil)", 256},
      {"bytes in the name of a template", "(select max(length(cast(name as blob))) from template)", 256},
      {"bytes in a date or a version", "(select max(length(cast(date || driver || nvrtc as blob))) from best)", 256},
  };
  halotune_status status = HALOTUNE_OK;
  for (size_t i = 0; i < COUNT(sizes) && status == HALOTUNE_OK; i++) {
    int64_t size = 0;
    char sql[256];
    snprintf(sql, sizeof sql, "select coalesce(%s, 0)", sizes[i].value);
    status = query_number(connection, sql, &size);
    if (status == HALOTUNE_OK && size > sizes[i].most)
      status = fail(HALOTUNE_DB, "it has %lld %s; at most %ld are read", (long long)size, sizes[i].what, sizes[i].most);
  }
  return status;
}

halotune_status store_open_copy(const char *path, struct template *const *templates, int count, struct store **out) {
  struct store *store = NULL;
  char detail[FAIL_TEXT_BYTES / 2];
  *out = NULL;
  halotune_status status = store_open(path, STORE_READ_SOON, &store);
  if (status == HALOTUNE_OK) status = store_hold(store);
  if (status == HALOTUNE_OK && store_has_file(store))
    status =
        fail(HALOTUNE_DB,
             "%s: it is larger than 1 GiB, and is read in memory: 'halotune db export' without --cubins and 'halotune "
             "db import' make a smaller one",
             path);
  if (status == HALOTUNE_OK) {
    guard_time(&store->guard, most_ms);
    status = check_sizes(store->connection);
    if (status == HALOTUNE_OK) status = store_pages_check(store);
    if (status == HALOTUNE_OK) status = make_tables_anew(store->connection, templates, count);
    guard_time(&store->guard, INFINITY);
    if (status == HALOTUNE_DB) {
      snprintf(detail, sizeof detail, "%s", fail_text());
      status = fail(HALOTUNE_DB, "%s: its rows cannot be read: %s", path, detail);
    }
  }
  if (status == HALOTUNE_OK) *out = store;
  else store_close(store);
  return status;
}
