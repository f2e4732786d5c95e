/* store_copy.c: copies pages into memory, then rows into new tables. An index that the file lacks, or one that it has
 * besides, thus changes the time of no question. */
#include "db/store/store_copy.h"

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

static halotune_status make_tables_anew(sqlite3 *connection) {
  halotune_status status = query_script(connection, "pragma foreign_keys = off");
  if (status == HALOTUNE_OK) status = query_script(connection, "begin immediate");
  if (status != HALOTUNE_OK) return status;
  status = query_finish(connection, copy_rows(connection));
  return status == HALOTUNE_OK ? query_script(connection, "pragma foreign_keys = on") : status;
}

/* Readers keep these texts for each row, and compare templates in pairs. Texts of stencils are no longer than the
 * readers allow, or are not read. */
static halotune_status check_sizes(sqlite3 *connection) {
  static const char sql[] =
      "select 'its templates are too many' where (select count(1) from template) > 4096"
      " union all select 'a template is too long' from template where max(length(cast(yaml as blob)), length(cast(cuda as blob))) > 1048576"
      " union all select 'the parameters of a variant are too long' from variant where length(cast(parameters as blob)) > 16384"
      " union all select 'the name of a GPU is too long' from device where max(length(cast(name as blob)), length(cast(uuid as blob))) > 256"
      " union all select 'the name of a stencil is too long' from stencil where length(cast(name as blob)) > 256"
      " union all select 'the name of a template is too long' from template where length(cast(name as blob)) > 256"
      " union all select 'a date or a version is too long' from best where max(length(cast(date as blob)), length(cast(driver as blob)), length(cast(nvrtc as blob))) > 256"
      " limit 1";
  sqlite3_stmt *query = NULL;
  halotune_status status = query_prepare(connection, sql, &query);
  const int code = status == HALOTUNE_OK ? sqlite3_step(query) : SQLITE_DONE;
  if (code == SQLITE_ROW) status = fail(HALOTUNE_DB, "%s for what Halotune writes", column_text(query, 0));
  else if (code != SQLITE_DONE) status = query_fail(connection);
  sqlite3_finalize(query);
  return status;
}

halotune_status store_open_copy(const char *path, struct store **out) {
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
    status = store_pages_check(store);
    if (status == HALOTUNE_OK) status = make_tables_anew(store->connection);
    if (status == HALOTUNE_OK) status = check_sizes(store->connection);
    if (status == HALOTUNE_DB) {
      snprintf(detail, sizeof detail, "%s", fail_text());
      status = fail(HALOTUNE_DB, "%s: its rows cannot be read: %s", path, detail);
    }
  }
  if (status == HALOTUNE_OK) *out = store;
  else store_close(store);
  return status;
}
