/* migrate_5.c: SQL copies the rows. Then each row gets its new name, by one function for each table. If another row has
 * that name already, the row keeps its old name. */
#include "db/store/migrate_5.h"

#include <string.h>

#include "base/memory/array.h"
#include "db/store/current_best.h"
#include "db/store/query.h"
#include "db/store/regenerate.h"
#include "db/store/schema.h"
#include "db/store/store_parts.h"
#include "stencil/analysis/analysis.h"
#include "stencil/cuda/cuda_tokens.h"
#include "stencil/template/template_read.h"

/* Leave out rows that were not trusted, and rows that no result refers to, because they may contain anything: an import
 * without trust added GPUs, stencils and templates without a mark. */
static const char leave_out_sql[] =
    "delete from old_best where not is_trusted;"
    " delete from old_finalist where run_id in (select id from old_run where not is_trusted);"
    " delete from old_measurement where run_id in (select id from old_run where not is_trusted);"
    " update old_best set run_id = null where run_id in (select id from old_run where not is_trusted);"
    " delete from old_run where not is_trusted;"
    " delete from old_problem where id not in (select problem_id from old_run) and id not in (select problem_id from old_best);"
    " delete from old_variant where id not in (select variant_id from old_measurement) and id not in (select variant_id from"
    " old_finalist) and id not in (select variant_id from old_best);"
    " delete from old_template where id not in (select template_id from old_variant);"
    " delete from old_stencil where id not in (select stencil_id from old_variant) and id not in (select stencil_id from"
    " old_problem);"
    " delete from old_device where id not in (select device_id from old_problem)";

static const char origins_sql[] =
    "insert into origin (id, kind, name, date) values (1, 'unknown', 'a database of version 4 or older',"
    " strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));"
    " insert into origin (id, kind, name, date) values (2, 'measured', 'by a Halotune of version 4 or older',"
    " strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));"
    " insert or ignore into origin (kind, name, date) select 'imported', origin, strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
    " from old_best where origin <> 'tuned';"
    " insert into stencil_text (id, stencil_id, hash, text, origin_id) select id, id, '', text, 1 from old_stencil";

static const char drop_sql[] =
    "drop table old_best; drop table old_finalist; drop table old_measurement; drop table old_run;"
    " drop table old_variant; drop table old_problem; drop table old_template; drop table old_stencil; drop table old_device";

/* Tables, each behind those that it refers to, with the columns that no older version had. A stencil's text gets the id
 * of the stencil. */
#define TEXT_ID "(select p.stencil_id from old_problem p where p.id = problem_id)"
static const struct {
  const char *name, *column, *value;
} copies[] = {
    {"device", "origin_id", "1"},
    {"stencil", "origin_id", "1"},
    {"template", "common_hash, origin_id", "'', 1"},
    {"problem", "origin_id", "1"},
    {"variant", "origin_id", "1"},
    {"run", "text_id, origin_id", TEXT_ID ", 1"},
    {"measurement", NULL, NULL},
    {"finalist", NULL, NULL},
    {"best", "text_id, origin_id",
     TEXT_ID ", coalesce((select o.id from origin o where o.kind = 'imported' and o.name = old_best.origin), 2)"},
};

static halotune_status copy_tables(sqlite3 *connection) {
  halotune_status status = query_script(connection, origins_sql);
  for (size_t i = 0; i < COUNT(copies) && status == HALOTUNE_OK; i++)
    status = migrate_copy_rows(connection, copies[i].name, copies[i].column, copies[i].value);
  return status == HALOTUNE_OK ? query_script(connection, drop_sql) : status;
}

/* The new names of a row. "" is a name that is not known. */
struct names {
  char hash[IDENTITY_HEX_BYTES], common_hash[IDENTITY_HEX_BYTES];
};

/* Columns: id, name, text. */
static halotune_status name_stencil(sqlite3_stmt *row, struct names *out) {
  const char *text = column_text(row, 2);
  struct source source = source_of(column_text(row, 1), text, strlen(text));
  struct stencil *stencil = NULL;
  struct analysis *analysis = NULL;
  halotune_status status = stencil_parse(&source, &stencil);
  if (status == HALOTUNE_OK) status = analysis_make(stencil, &analysis);
  if (status == HALOTUNE_OK) identity_hex(analysis->hash, out->hash);
  analysis_free(analysis);
  stencil_free(stencil);
  return row_is_refused(status) ? HALOTUNE_OK : status;
}

/* Columns: id, name, yaml, cuda. */
static halotune_status name_template(sqlite3_stmt *row, struct names *out) {
  const char *yaml = column_text(row, 2);
  struct source source = source_of(column_text(row, 1), yaml, strlen(yaml));
  struct template *template = NULL;
  halotune_status status = template_parse(&source, column_text(row, 3), &template);
  if (status == HALOTUNE_OK) {
    identity_hex(template->hash, out->hash);
    identity_hex(template->common_hash, out->common_hash);
  }
  template_free(template);
  return row_is_refused(status) ? HALOTUNE_OK : status;
}

/* Columns: id, source. */
static halotune_status name_variant(sqlite3_stmt *row, struct names *out) {
  struct identity identity;
  halotune_status status = source_hash(column_text(row, 1), &identity);
  if (status == HALOTUNE_OK) identity_hex(identity, out->hash);
  return status;
}

/* Columns: id, text. */
static halotune_status name_text(sqlite3_stmt *row, struct names *out) {
  identity_hex(stencil_text_identity(column_text(row, 1)), out->hash);
  return HALOTUNE_OK;
}

static const struct {
  const char *select, *update;
  halotune_status (*name)(sqlite3_stmt *row, struct names *out);
} tables[] = {
    {"select id, text from stencil_text", "update stencil_text set hash = ?2 where id = ?1", name_text},
    {"select s.id, s.name, x.text from stencil s join stencil_text x on x.stencil_id = s.id",
     "update or ignore stencil set hash = ?2 where id = ?1", name_stencil},
    {"select id, name, yaml, cuda from template",
     "update or ignore template set hash = ?2, common_hash = ?3 where id = ?1", name_template},
    {"select v.id, b.source from variant v join best b on b.variant_id = v.id group by v.id",
     "update or ignore variant set source_hash = ?2 where id = ?1", name_variant},
};

static halotune_status rename_row(sqlite3_stmt *row, sqlite3_stmt *update, const struct names *names) {
  sqlite3_bind_int64(update, 1, sqlite3_column_int64(row, 0));
  sqlite3_bind_text(update, 2, names->hash, -1, SQLITE_STATIC);
  if (names->common_hash[0]) sqlite3_bind_text(update, 3, names->common_hash, -1, SQLITE_STATIC);
  return query_run(update, NULL);
}

static halotune_status name_rows(sqlite3 *connection) {
  halotune_status status = HALOTUNE_OK;
  for (size_t i = 0; i < COUNT(tables) && status == HALOTUNE_OK; i++) {
    sqlite3_stmt *select = NULL, *update = NULL;
    int code = SQLITE_DONE;
    status = query_prepare(connection, tables[i].select, &select);
    if (status == HALOTUNE_OK) status = query_prepare(connection, tables[i].update, &update);
    while (status == HALOTUNE_OK && (code = sqlite3_step(select)) == SQLITE_ROW) {
      struct names names = {"", ""};
      status = tables[i].name(select, &names);
      if (status == HALOTUNE_OK && names.hash[0]) status = rename_row(select, update, &names);
    }
    if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(connection);
    sqlite3_finalize(update);
    sqlite3_finalize(select);
  }
  return status;
}

/* Up to version 4, a verdict that was not trusted retired a winner all the same. So the current bests of what is left
 * are chosen again, in the transaction of the migration: nobody does so later. */
static halotune_status choose_bests(sqlite3 *connection) {
  struct store store = {.connection = connection};
  const halotune_status status = bests_choose(&store, "problem");
  for (int i = 0; i < STORE_QUERY_COUNT; i++) sqlite3_finalize(store.queries[i]);
  return status;
}

halotune_status migrate_5(sqlite3 *connection) {
  halotune_status status = query_script(connection, leave_out_sql);
  if (status == HALOTUNE_OK) status = query_script(connection, schema_sql);
  if (status == HALOTUNE_OK) status = copy_tables(connection);
  if (status == HALOTUNE_OK) status = name_rows(connection);
  return status == HALOTUNE_OK ? choose_bests(connection) : status;
}
