/* document.c: writes a database as one JSON document, problem by problem, so that memory does not grow with the
 * database. */
#include "reports/document/document.h"

#include "db/store/outcome.h"
#include "db/store/sql_parts.h"
#include "reports/document/device_json.h"
#include "reports/document/problem_json.h"
#include "reports/document/subject_json.h"
#include "reports/figures/other_gpus.h"
#include "reports/rows/report_scope.h"
#include "reports/rows/rows.h"

enum { FORMAT_VERSION = 2, FEWEST_OF_A_PROBLEM = 400 };

/* Compute how many variants each problem may show. */
static halotune_status share_of_variants(sqlite3 *db, const struct report_request *request,
                                         const struct report_scope *scope, int *out) {
  int most = request->most_variants > 0 ? request->most_variants : REPORT_MOST_VARIANTS;
  int64_t measurements = 0;
  halotune_status status =
      query_number(db, "select count(*) from measurement where run_id in " CHOSEN_RUNS, &measurements);
  int each = scope->count > 0 ? most / scope->count : most;
  *out = measurements <= most ? most : each > FEWEST_OF_A_PROBLEM ? each : FEWEST_OF_A_PROBLEM;
  return status;
}

/* Append a member, and release its value. */
static halotune_status add_member(struct text *out, const char *key, json_t *value) {
  text_printf(out, ",\n\"%s\": ", key);
  bool ok = json_write(out, value, JSON_LISTS_IN_LINE);
  json_decref(value);
  return ok ? HALOTUNE_OK : fail_memory();
}

/* Append the rows of a query as a member. ?1 of the query: whether the report is about the whole database.
 *   complete  see rows_json_completed; may be NULL */
static halotune_status add_rows(struct text *out, sqlite3 *db, const struct report_scope *scope, const char *key,
                                const char *sql,
                                halotune_status (*complete)(void *context, sqlite3_stmt *query, json_t **row),
                                void *context) {
  json_t *rows;
  int64_t is_whole = scope->is_whole;
  halotune_status status = rows_json_completed(db, sql, &is_whole, 1, complete, context, &rows);
  return status == HALOTUNE_OK ? add_member(out, key, rows) : status;
}

static const char stencils_sql[] = "select id, hash, name, " SQL_STENCIL_TEXT(
    "stencil.id") " as text from stencil where ?1 or id in (select stencil_id from "
                  "problem where id in " CHOSEN_PROBLEMS ")"
                  " order by name, id";

static halotune_status complete_stencil(void *context, sqlite3_stmt *query, json_t **stencil) {
  put_subject(stencil, definitions_stencil(context, sqlite3_column_int64(query, 0)));
  return HALOTUNE_OK;
}

static json_t *outcome_list_json(void) {
  json_t *list = json_array();
  for (int i = 0; i < OUTCOME_COUNT; i++) {
    json_t *entry = json_object();
    json_put(&entry, "name", text_json(outcome_name((enum outcome)i)));
    json_put(&entry, "meaning", text_json(outcome_meaning((enum outcome)i)));
    json_put(&entry, "has_time", json_boolean(outcome_has_time((enum outcome)i)));
    json_add(&list, entry);
  }
  return list;
}

static const char templates_sql[] = "select id, hash, name from template where ?1 or id in (select template_id from "
                                    "variant where id in " CHOSEN_VARIANTS ")"
                                    " order by id";

/* count(1) visits rows, so it can be interrupted (db/store/guard.h). count(*) only walks through pages, so it
 * cannot. */
static const char database_counts_sql[] =
    "select (select count(1) from device) as devices, (select count(1) from stencil) as stencils,"
    " (select count(1) from problem) as problems, (select count(1) from run) as runs, (select count(1) from variant) "
    "as variants,"
    " (select count(1) from measurement) as measurements, (select count(1) from best where is_current) as winners";

static const char counts_sql[] =
    "select count(distinct device_id) as devices, count(distinct stencil_id) as stencils, count(*) as problems,"
    " (select count(*) from run where problem_id in " CHOSEN_PROBLEMS ") as runs,"
    " (select count(*) from " CHOSEN_VARIANTS ") as variants,"
    " (select count(*) from measurement where run_id in " CHOSEN_RUNS ") as measurements,"
    " (select count(*) from best where is_current and problem_id in " CHOSEN_PROBLEMS ") as winners"
    " from problem where id in " CHOSEN_PROBLEMS;

/* Append the counts for the report's scope, and those of the whole database. */
static halotune_status add_counts(struct text *out, sqlite3 *db, const struct report_scope *scope) {
  json_t *counts, *all;
  halotune_status status = row_json(db, database_counts_sql, NULL, 0, &all);
  if (status != HALOTUNE_OK) return status;
  if (scope->is_whole) counts = json_incref(all);
  else status = row_json(db, counts_sql, NULL, 0, &counts);
  if (status == HALOTUNE_OK) status = add_member(out, "counts", counts);
  if (status == HALOTUNE_OK) return add_member(out, "database_counts", all);
  json_decref(all);
  return status;
}

/* Only runs of problems in the document: a damaged row of `problem` can have no grid, and a tune that goes on can add a
 * problem. */
static const char runs_sql[] =
    "select r.id, r.problem_id as problem, r.state, r.reason, r.started, r.ended, r.command, r.host, r.version, "
    "r.driver, r.cuda, r.nvrtc,"
    " r.seed, r.strategy, r.budget_s, r.space, r.bytes, r.empty_ms, r.copy_ms, r.memcpy_ms,"
    " coalesce(r.objective, 'time') as objective, r.power_limit_w, r.idle_w, r.warnings,"
    " (select count(*) from measurement m where m.run_id = r.id) as measurements from run r"
    " where r.problem_id in " CHOSEN_PROBLEMS " order by r.id";

static halotune_status add_problems(struct text *out, sqlite3 *db, const struct definitions *definitions,
                                    const struct report_scope *scope, const struct report_request *request, int most) {
  halotune_status status = HALOTUNE_OK;
  text_printf(out, ",\n\"problems\": [");
  for (int i = 0; i < scope->count && status == HALOTUNE_OK; i++) {
    json_t *json;
    if ((status = problem_json(db, definitions, scope->problems[i], request, most, &json)) != HALOTUNE_OK) break;
    text_printf(out, i > 0 ? ",\n" : "\n");
    if (!json_write(out, json, JSON_LISTS_IN_LINE)) status = fail_memory();
    json_decref(json);
  }
  text_printf(out, "]");
  return status;
}

static json_t *about_json(const struct report_request *request) {
  json_t *json = json_object();
  json_put(&json, "halotune", text_json(HALOTUNE_VERSION));
  json_put(&json, "generated", text_json(request->generated));
  json_put(&json, "database", text_json(request->database));
  json_put(&json, "stencil", request->stencil ? text_json(request->stencil) : json_null());
  json_put(&json, "device", request->device ? text_json(request->device) : json_null());
  return json;
}

static halotune_status add_all(struct text *out, sqlite3 *db, const struct report_request *request,
                               struct definitions *definitions, const struct report_scope *scope) {
  json_t *runs, *transfer;
  int most;
  halotune_status status = share_of_variants(db, request, scope, &most);
  text_printf(out, "{\n\"format\": \"halotune-report\",\n\"version\": %d", FORMAT_VERSION);
  if (status == HALOTUNE_OK) status = add_member(out, "about", about_json(request));
  if (status == HALOTUNE_OK) status = add_counts(out, db, scope);
  if (status == HALOTUNE_OK) status = add_member(out, "outcomes", outcome_list_json());
  if (status == HALOTUNE_OK) status = add_rows(out, db, scope, "devices", device_sql, device_complete, db);
  if (status == HALOTUNE_OK) status = add_rows(out, db, scope, "stencils", stencils_sql, complete_stencil, definitions);
  if (status == HALOTUNE_OK) status = add_rows(out, db, scope, "templates", templates_sql, NULL, NULL);
  if (status == HALOTUNE_OK && (status = rows_json(db, runs_sql, NULL, 0, &runs)) == HALOTUNE_OK)
    status = add_member(out, "runs", runs);
  if (status == HALOTUNE_OK && (status = transfer_json(db, &transfer)) == HALOTUNE_OK)
    status = add_member(out, "transfer", transfer);
  if (status == HALOTUNE_OK) status = add_problems(out, db, definitions, scope, request, most);
  text_printf(out, "\n}\n");
  return status != HALOTUNE_OK ? status : text_ok(out) ? HALOTUNE_OK : fail_memory();
}

halotune_status report_document(sqlite3 *db, const struct report_request *request, struct text *out) {
  struct definitions definitions = {0};
  struct report_scope scope = {0};
  halotune_status status = report_scope_open(db, request, &scope);
  if (status == HALOTUNE_OK) status = definitions_read(db, &definitions);
  if (status == HALOTUNE_OK) status = add_all(out, db, request, &definitions, &scope);
  definitions_free(&definitions);
  report_scope_close(db, &scope);
  return status;
}
