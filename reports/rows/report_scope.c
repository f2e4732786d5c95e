/* report_scope.c: finds the problems of a report. */
#include "reports/rows/report_scope.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/text/nearest.h"
#include "db/store/sql_parts.h"
#include "reports/rows/rows.h"

/* ?1 and ?2: 1 if a stencil, or a device, is given; then ?3 and ?4 are its texts. */
static const char problems_sql[] =
    "select p.id from problem p join stencil s on s.id = p.stencil_id join device d on d.id = p.device_id"
    " where (not ?1 or s.name = ?3) and (not ?2 or d.uuid = ?4 or instr(lower(d.name), lower(?4)) > 0)"
    " and " SQL_HAS_GRID(
        "p") " order by s.name, p.stencil_id, p.dtype, p.nx * p.ny * p.nz, d.is_emulation, p.device_id, p.id";

static halotune_status add_problem(struct report_scope *scope, int64_t id) {
  if (!array_room(scope->problems, scope->count, scope->capacity)) return fail_memory();
  scope->problems[scope->count++] = id;
  return HALOTUNE_OK;
}

static halotune_status find_problems(sqlite3 *db, const struct report_request *request, struct report_scope *out) {
  sqlite3_stmt *query;
  int64_t asked[] = {request->stencil != NULL, request->device != NULL};
  bool has_row = false;
  halotune_status status = rows_open(db, problems_sql, asked, COUNT(asked), &query);
  if (status == HALOTUNE_OK &&
      (sqlite3_bind_text(query, 3, request->stencil ? request->stencil : "", -1, SQLITE_STATIC) != SQLITE_OK ||
       sqlite3_bind_text(query, 4, request->device ? request->device : "", -1, SQLITE_STATIC) != SQLITE_OK)) {
    status = fail_memory();
  }
  while (status == HALOTUNE_OK && (status = rows_next(query, &has_row)) == HALOTUNE_OK && has_row) {
    status = add_problem(out, sqlite3_column_int64(query, 0));
  }
  sqlite3_finalize(query);
  return status;
}

/* Fill a temporary table. It does not belong to the database, which may be open read-only. */
static halotune_status fill_table(sqlite3 *db, const struct report_scope *scope) {
  sqlite3_stmt *insert = NULL;
  bool has_row;
  halotune_status status = query_script(db, "create temp table chosen (id integer primary key)");
  if (status == HALOTUNE_OK) status = rows_open(db, "insert into temp.chosen values (?1)", NULL, 0, &insert);
  for (int i = 0; i < scope->count && status == HALOTUNE_OK; i++) {
    sqlite3_bind_int64(insert, 1, scope->problems[i]); /* fails only if the statement has no such parameter */
    status = rows_next(insert, &has_row);
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
  return status;
}

static halotune_status fail_empty(sqlite3 *db, const struct report_request *request) {
  static const char names_sql[] =
      "select distinct s.name from problem p join stencil s on s.id = p.stencil_id order by 1";
  const char *stencil = request->stencil ? request->stencil : "";
  struct nearest nearest = nearest_to(stencil, strlen(stencil));
  sqlite3_stmt *query;
  bool has_row = false;
  halotune_status status = rows_open(db, names_sql, NULL, 0, &query);
  while (status == HALOTUNE_OK && (status = rows_next(query, &has_row)) == HALOTUNE_OK && has_row) {
    nearest_try(&nearest, column_text(query, 0));
  }
  sqlite3_finalize(query);
  if (status != HALOTUNE_OK) return status;
  return fail(HALOTUNE_NOT_FOUND, "the database has no results%s%s%s%s%s%s", request->stencil ? " for stencil '" : "",
              stencil, request->stencil ? "'" : "", request->device ? " on a GPU like " : "",
              request->device ? request->device : "", request->is_of_file ? "" : nearest.question);
}

halotune_status report_scope_open(sqlite3 *db, const struct report_request *request, struct report_scope *out) {
  *out = (struct report_scope){.is_whole = !request->stencil && !request->device};
  halotune_status status = find_problems(db, request, out);
  if (status == HALOTUNE_OK && out->count == 0 && !out->is_whole) status = fail_empty(db, request);
  return status == HALOTUNE_OK ? fill_table(db, out) : status;
}

void report_scope_close(sqlite3 *db, struct report_scope *scope) {
  /* otherwise the table lives as long as the connection */
  sqlite3_exec(db, "drop table if exists temp.chosen", NULL, NULL, NULL);
  free(scope->problems);
  *scope = (struct report_scope){0};
}
