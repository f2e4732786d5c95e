/* document.c: a database as one JSON document, written problem by problem, so that memory does not grow with the
 * database. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "db/outcome.h"
#include "reports/peak.h"
#include "reports/problem_json.h"
#include "reports/report.h"
#include "reports/rows.h"
#include "reports/subject_json.h"

enum { FORMAT_VERSION = 1, FEWEST_OF_A_PROBLEM = 400 };

/* --- which problems --- */

/* ?1 and ?2: 1 where a stencil, or a device, is asked for; then ?3 and ?4 are its texts. */
static const char problems_sql[] =
    "select p.id from problem p join stencil s on s.id = p.stencil_id join device d on d.id = p.device_id"
    " where (not ?1 or s.name = ?3) and (not ?2 or d.uuid = ?4 or instr(lower(d.name), lower(?4)) > 0)"
    " order by s.name, p.stencil_id, p.dtype, p.nx * p.ny * p.nz, d.is_emulation, p.device_id, p.id";

struct choice {
  int64_t *ids;
  int count, capacity;
};

static halotune_status add_id(struct choice *choice, int64_t id) {
  int64_t *ids = array_grow(choice->ids, choice->count, &choice->capacity, sizeof *ids);
  if (!ids) return fail_memory();
  choice->ids = ids;
  ids[choice->count++] = id;
  return HALOTUNE_OK;
}

static halotune_status choose_problems(sqlite3 *db, const struct report_request *request, struct choice *out) {
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
    status = add_id(out, sqlite3_column_int64(query, 0));
  }
  sqlite3_finalize(query);
  if (status == HALOTUNE_OK && out->count == 0 && (request->stencil || request->device)) {
    status = fail(HALOTUNE_NOT_FOUND, "the database has no results%s%s%s%s%s", request->stencil ? " for stencil '" : "",
                  request->stencil ? request->stencil : "", request->stencil ? "'" : "",
                  request->device ? " on a GPU like " : "", request->device ? request->device : "");
  }
  return status;
}

/* The variants that each problem may show. */
static halotune_status share_of_variants(sqlite3 *db, const struct report_request *request, const struct choice *choice,
                                         int *out) {
  int most = request->most_variants > 0 ? request->most_variants : REPORT_MOST_VARIANTS;
  long measurements = 0;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < choice->count && status == HALOTUNE_OK; i++) {
    json_t *row;
    status =
        row_json(db, "select count(*) as n from measurement where run_id in (select id from run where problem_id = ?1)",
                 &choice->ids[i], 1, &row);
    if (status == HALOTUNE_OK) measurements += (long)json_integer_value(json_object_get(row, "n"));
    json_decref(row);
  }
  int each = choice->count > 0 ? most / choice->count : most;
  *out = measurements <= most ? most : each > FEWEST_OF_A_PROBLEM ? each : FEWEST_OF_A_PROBLEM;
  return status;
}

/* --- the members of the document --- */

/* Append a member, and release its value. */
static halotune_status add_member(struct text *out, const char *key, json_t *value) {
  text_printf(out, "%s\n\"%s\": ", out->bytes[out->length - 1] == '{' ? "" : ",", key);
  bool ok = json_write(out, value, JSON_LISTS_IN_LINE);
  json_decref(value);
  return ok ? HALOTUNE_OK : fail_memory();
}

static halotune_status add_rows(struct text *out, sqlite3 *db, const char *key, const char *sql) {
  json_t *rows;
  halotune_status status = rows_json(db, sql, NULL, 0, &rows);
  return status == HALOTUNE_OK ? add_member(out, key, rows) : status;
}

static const char device_sql[] =
    "select d.*, min(r.started) as first, max(r.started) as last, group_concat(distinct r.driver) as drivers,"
    " group_concat(distinct r.nvrtc) as nvrtcs, max(r.cuda) as cuda, count(r.id) as run_count from device d"
    " left join problem p on p.device_id = d.id left join run r on r.problem_id = p.id group by d.id order by "
    "d.is_emulation, d.id";

/* The fastest copy of a device; with a lone max() SQLite takes the other columns from that row. */
static const char device_roof_sql[] = "select max(r.bytes / min(coalesce(r.copy_ms, r.memcpy_ms), "
                                      "coalesce(r.memcpy_ms, r.copy_ms)) * 1e-6) as gbps, r.bytes, r.id as run"
                                      " from run r join problem p on p.id = r.problem_id where p.device_id = ?1";

static long member(const json_t *json, const char *key) { return (long)json_integer_value(json_object_get(json, key)); }

static halotune_status devices_json(sqlite3 *db, json_t **out) {
  size_t i;
  json_t *device;
  halotune_status status = rows_json(db, device_sql, NULL, 0, out);
  json_array_foreach(*out, i, device) {
    json_t *roof, *peak = json_object();
    int64_t id = member(device, "id");
    if (status == HALOTUNE_OK) status = row_json(db, device_roof_sql, &id, 1, &roof);
    if (status != HALOTUNE_OK) {
      json_decref(peak);
      break;
    }
    for (int t = 0; t < DTYPE_COUNT; t++) {
      double gflops = peak_gflops((int)member(device, "capability"), (int)member(device, "sm_count"),
                                  member(device, "clock_khz"), (enum dtype)t);
      json_put(&peak, dtype_names[t],
               member(device, "capability") && !json_is_true(json_object_get(device, "is_emulation"))
                   ? rounded_json(gflops, 7)
                   : json_null());
    }
    json_put(&device, "roof", roof);
    json_put(&device, "peak_gflops", peak);
    if (!device) status = fail_memory();
  }
  return status;
}

static halotune_status stencils_json(sqlite3 *db, const struct library *library, json_t **out) {
  size_t i;
  json_t *stencil;
  halotune_status status = rows_json(db, "select id, hash, name, text from stencil order by name, id", NULL, 0, out);
  json_array_foreach(*out, i, stencil) { put_subject(&stencil, library_stencil(library, member(stencil, "id"))); }
  return status;
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

/* The winner of a problem on one device, measured on another: the newest time of the same template and parameters
 * there. */
static const char transfer_sql[] =
    "select p.id as \"from\", q.id as \"to\", m.median_ms as time_ms, b2.time_ms as best_ms, m.run_id as run"
    " from problem p join best b on b.problem_id = p.id and b.is_current join variant v on v.id = b.variant_id"
    " join template t on t.id = v.template_id"
    " join problem q on q.stencil_id = p.stencil_id and q.dtype = p.dtype and q.nx = p.nx and q.ny = p.ny and q.nz = "
    "p.nz"
    " and q.launch = p.launch and q.cache = p.cache and q.device_id <> p.device_id"
    " join best b2 on b2.problem_id = q.id and b2.is_current"
    " join variant w on w.stencil_id = v.stencil_id and w.parameters = v.parameters and w.template_id in (select id "
    "from template where name = t.name)"
    " join run r on r.problem_id = q.id"
    " join measurement m on m.run_id = r.id and m.variant_id = w.id and m.median_ms is not null"
    " where m.id = (select max(m2.id) from measurement m2 join run r2 on r2.id = m2.run_id join variant w2 on w2.id = "
    "m2.variant_id"
    "  where r2.problem_id = q.id and w2.stencil_id = v.stencil_id and w2.parameters = v.parameters and m2.median_ms "
    "is not null"
    "  and w2.template_id in (select id from template where name = t.name))"
    " order by p.id, q.id";

static const char counts_sql[] =
    "select (select count(*) from device) as devices, (select count(*) from stencil) as stencils,"
    " (select count(*) from problem) as problems, (select count(*) from run) as runs, (select count(*) from variant) "
    "as variants,"
    " (select count(*) from measurement) as measurements, (select count(*) from best where is_current) as winners";

static const char runs_sql[] =
    "select r.id, r.problem_id as problem, r.state, r.reason, r.started, r.ended, r.command, r.host, r.version, "
    "r.driver, r.cuda, r.nvrtc,"
    " r.seed, r.strategy, r.budget_s, r.space, r.bytes, r.empty_ms, r.copy_ms, r.memcpy_ms, r.warnings,"
    " (select count(*) from measurement m where m.run_id = r.id) as measurements from run r order by r.id";

static halotune_status add_problems(struct text *out, sqlite3 *db, const struct library *library,
                                    const struct choice *choice, int most) {
  halotune_status status = HALOTUNE_OK;
  text_printf(out, ",\n\"problems\": [");
  for (int i = 0; i < choice->count && status == HALOTUNE_OK; i++) {
    json_t *json;
    if ((status = problem_json(db, library, choice->ids[i], most, &json)) != HALOTUNE_OK) break;
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
                               const struct library *library, const struct choice *choice) {
  json_t *devices, *stencils, *counts;
  int most;
  halotune_status status = share_of_variants(db, request, choice, &most);
  text_printf(out, "{");
  if (status == HALOTUNE_OK) status = add_member(out, "format", json_string("halotune-report"));
  if (status == HALOTUNE_OK) status = add_member(out, "version", json_integer(FORMAT_VERSION));
  if (status == HALOTUNE_OK) status = add_member(out, "about", about_json(request));
  if (status == HALOTUNE_OK && (status = row_json(db, counts_sql, NULL, 0, &counts)) == HALOTUNE_OK)
    status = add_member(out, "counts", counts);
  if (status == HALOTUNE_OK) status = add_member(out, "outcomes", outcome_list_json());
  if (status == HALOTUNE_OK && (status = devices_json(db, &devices)) == HALOTUNE_OK)
    status = add_member(out, "devices", devices);
  if (status == HALOTUNE_OK && (status = stencils_json(db, library, &stencils)) == HALOTUNE_OK)
    status = add_member(out, "stencils", stencils);
  if (status == HALOTUNE_OK) status = add_rows(out, db, "templates", "select id, hash, name from template order by id");
  if (status == HALOTUNE_OK) status = add_rows(out, db, "runs", runs_sql);
  if (status == HALOTUNE_OK) status = add_rows(out, db, "transfer", transfer_sql);
  if (status == HALOTUNE_OK) status = add_problems(out, db, library, choice, most);
  text_printf(out, "\n}\n");
  return status != HALOTUNE_OK ? status : text_ok(out) ? HALOTUNE_OK : fail_memory();
}

halotune_status report_document(sqlite3 *db, const struct report_request *request, struct text *out) {
  struct library library = {0};
  struct choice choice = {0};
  halotune_status status = choose_problems(db, request, &choice);
  if (status == HALOTUNE_OK) status = library_open(db, &library);
  if (status == HALOTUNE_OK) status = add_all(out, db, request, &library, &choice);
  library_close(&library);
  free(choice.ids);
  return status;
}
