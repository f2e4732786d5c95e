/* chosen_rows.c: one statement for each table. A statement uses the rows that those before it chose. */
#include "db/exchange/chosen_rows.h"

#include "base/memory/array.h"
#include "db/exchange/table.h"
#include "db/store/query.h"

/* Whether a row comes from the documents of a signer. */
#define SQL_SIGNED " (?8 is null or origin_id in (select id from origin where ?8 in (signer, signer_key)))"

/* The same for a row that needs no result: the choice names the signer, and neither an element type nor a grid. */
#define SQL_ALONE                                                                                               \
  " ?3 is null and ?4 is null and origin_id in (select id from origin where ?8 in (signer, signer_key) and (?7" \
  " is null or date < ?7))"
#define SQL_ALONE_AT_ALL " ?1 is null and ?2 is null and" SQL_ALONE
#define SQL_ALONE_OF_STENCIL " (?1 is null or name = ?1) and ?2 is null and" SQL_ALONE
#define SQL_ALONE_OF_TEXT \
  " stencil_id in (select id from stencil where ?1 is null or name = ?1) and ?2 is null and" SQL_ALONE
#define SQL_ALONE_OF_DEVICE " ?1 is null and (?2 is null or name = ?2 or uuid = ?2) and" SQL_ALONE

/* Places of all statements: stencil, device, dtype, nx, ny, nz, before, signer, launch, cache, steps, is_reproducible.
 * NULL is not a condition. */
static const struct {
  enum table_name table;
  const char *sql;
} rows[] = {
    {TABLE_PROBLEM,
     "select p.id from problem p join stencil s on s.id = p.stencil_id join device d on d.id = p.device_id"
     " where (?1 is null or s.name = ?1) and (?2 is null or d.name = ?2 or d.uuid = ?2) and (?3 is null or"
     " p.dtype = ?3)"
     " and (?4 is null or (p.nx = ?4 and p.ny = ?5 and p.nz = ?6)) and (?9 is null or p.launch = ?9) and (?10 is null or"
     " p.cache = ?10) and (?11 is null or p.steps = ?11) and (?12 is null or p.is_reproducible = ?12)"},
    {TABLE_RUN,
     "select id from run where problem_id in (select id from chosen_problem) and (?7 is null or started < ?7)"
     " and" SQL_SIGNED},
    {TABLE_BEST, "select id from best where problem_id in (select id from chosen_problem) and (?7 is null or date < ?7)"
                 " and" SQL_SIGNED},
    {TABLE_MEASUREMENT, "select rowid from measurement where run_id in (select id from chosen_run)"},
    {TABLE_FINALIST, "select rowid from finalist where run_id in (select id from chosen_run)"},
    {TABLE_VARIANT, "select variant_id from measurement where rowid in (select id from chosen_measurement)"
                    " union select variant_id from finalist where rowid in (select id from chosen_finalist)"
                    " union select variant_id from best where id in (select id from chosen_best)"
                    " union select id from variant where" SQL_ALONE_AT_ALL},
    {TABLE_TEMPLATE, "select template_id from variant where id in (select id from chosen_variant) group by 1"
                     " union select id from template where" SQL_ALONE_AT_ALL},
    {TABLE_STENCIL, "select stencil_id from variant where id in (select id from chosen_variant)"
                    " union select stencil_id from problem where id in (select id from chosen_problem)"
                    " union select id from stencil where" SQL_ALONE_OF_STENCIL},
    {TABLE_TEXT, "select text_id from run where id in (select id from chosen_run)"
                 " union select text_id from best where id in (select id from chosen_best)"
                 " union select id from stencil_text where" SQL_ALONE_OF_TEXT},
    /* A signer's coefficients can be for a GPU without a problem in the database. */
    {TABLE_DEVICE, "select device_id from problem where id in (select id from chosen_problem)"
                   " union select c.device_id from prediction c join device d on d.id = c.device_id"
                   " where ?8 is not null and ?1 is null and (?2 is null or d.name = ?2 or d.uuid = ?2)"
                   " and c.origin_id in (select id from origin where ?8 in (signer, signer_key))"
                   " union select id from device where" SQL_ALONE_OF_DEVICE},
    {TABLE_PREDICTION, "select id from prediction where device_id in (select id from chosen_device)"
                       " and (?8 is null or ?7 is null or origin_id in (select id from origin where date < ?7))"
                       " and" SQL_SIGNED},
};

static void bind_choice(sqlite3_stmt *query, const struct choice *choice) {
  /* A NULL pointer binds NULL. Binding a place that a statement does not have does no harm. */
  sqlite3_bind_text(query, 1, choice->stencil, -1, SQLITE_STATIC);
  sqlite3_bind_text(query, 2, choice->device, -1, SQLITE_STATIC);
  if (choice->has_dtype) sqlite3_bind_text(query, 3, dtype_names[choice->dtype], -1, SQLITE_STATIC);
  for (int axis = 0; axis < MAX_DIMS && choice->has_grid; axis++)
    sqlite3_bind_int64(query, 4 + axis, choice->grid.n[axis]);
  sqlite3_bind_text(query, 7, choice->before, -1, SQLITE_STATIC);
  sqlite3_bind_text(query, 8, choice->signer, -1, SQLITE_STATIC);
  sqlite3_bind_text(query, 9, choice->launch, -1, SQLITE_STATIC);
  sqlite3_bind_text(query, 10, choice->cache, -1, SQLITE_STATIC);
  if (choice->steps > 0) sqlite3_bind_int(query, 11, choice->steps);
  if (choice->is_reproducible) sqlite3_bind_int(query, 12, 1);
}

static halotune_status choose_rows(sqlite3 *connection, const char *table, const char *sql,
                                   const struct choice *choice) {
  struct text make = {0}, fill = {0};
  sqlite3_stmt *query = NULL;
  text_printf(&make, "create temp table if not exists chosen_%s (id integer primary key); delete from chosen_%s", table,
              table);
  text_printf(&fill, "insert into chosen_%s %s", table, sql);
  halotune_status status =
      text_ok(&make) && text_ok(&fill) ? query_script(connection, text_string(&make)) : fail_memory();
  if (status == HALOTUNE_OK) status = query_prepare(connection, text_string(&fill), &query);
  if (status == HALOTUNE_OK) {
    bind_choice(query, choice);
    status = query_run(query, NULL);
  }
  sqlite3_finalize(query);
  text_free(&fill);
  text_free(&make);
  return status;
}

halotune_status store_choose(struct store *store, const struct choice *choice) {
  sqlite3 *connection = store_connection(store);
  halotune_status status = HALOTUNE_OK;
  for (size_t i = 0; i < COUNT(rows) && status == HALOTUNE_OK; i++) {
    status = choose_rows(connection, table_names[rows[i].table], rows[i].sql, choice);
  }
  return status;
}
