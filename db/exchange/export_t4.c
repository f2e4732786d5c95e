/* export_t4.c: the results format that autotuning frameworks share (T4, version 1.0.0): one result a measurement,
 * times in milliseconds. */
#include <string.h>

#include "base/text/json.h"
#include "db/exchange/export.h"
#include "db/exchange/export_json.h"
#include "db/store/outcome.h"
#include "db/store/query.h"
#include "stencil/file/grid_text.h"

/* The format knows six words for how a configuration ended. */
static const char *const invalidity[OUTCOME_COUNT] = {
    [OUTCOME_MEASURED] = "correct",
    [OUTCOME_SCREENED] = "correct",
    [OUTCOME_PRUNED] = "constraints",
    [OUTCOME_COMPILE_FAILED] = "compile",
    [OUTCOME_COMPILE_CRASHED] = "compile",
    [OUTCOME_COMPILE_TIMEOUT] = "timeout",
    [OUTCOME_LAUNCH_FAILED] = "runtime",
    [OUTCOME_WRONG] = "correctness",
    [OUTCOME_OUT_OF_BOUNDS] = "correctness",
    [OUTCOME_CRASHED] = "runtime",
    [OUTCOME_HUNG] = "timeout",
};

static void add_member(struct text *out, const char *key, const char *value) {
  text_printf(out, ", \"%s\": ", key);
  json_write_string(out, value);
}

/* Columns: stencil, dtype, nx, ny, nz, launch, cache, device, steps, is_reproducible, id, UUID of the device. */
static void add_metadata(struct text *out, sqlite3_stmt *row) {
  text_printf(out, "{\"schema_version\": \"1.0.0\",\n\"metadata\": {\"framework\": \"halotune\"");
  add_member(out, "stencil", column_text(row, 0));
  add_member(out, "dtype", column_text(row, 1));
  text_printf(out, ", \"grid\": [%lld, %lld, %lld]", (long long)sqlite3_column_int64(row, 2),
              (long long)sqlite3_column_int64(row, 3), (long long)sqlite3_column_int64(row, 4));
  add_member(out, "launch", column_text(row, 5));
  add_member(out, "cache", column_text(row, 6));
  add_member(out, "device", column_text(row, 7));
  text_printf(out, ", \"steps\": %lld, \"reproducible\": %s, \"time_unit\": \"ms\"},\n\"results\": [",
              (long long)sqlite3_column_int64(row, 8), sqlite3_column_int(row, 9) ? "true" : "false");
}

/* Add a line with the name of a problem. Columns as in add_metadata. */
static void add_name(struct text *names, sqlite3_stmt *row) {
  const struct grid grid = {
      {(long)sqlite3_column_int64(row, 2), (long)sqlite3_column_int64(row, 3), (long)sqlite3_column_int64(row, 4)}};
  const long long steps = sqlite3_column_int64(row, 8);
  text_printf(names, "\n  %s,%s,", column_text(row, 0), column_text(row, 1));
  grid_text(&grid, grid_dims(&grid), names);
  text_printf(names, " on %s, %s: %s, %s, %lld step%s%s", column_text(row, 7), column_text(row, 11),
              column_text(row, 5), column_text(row, 6), steps, PLURAL(steps),
              sqlite3_column_int(row, 9) ? ", reproducible" : "");
}

/* Write the chosen problem. If several are chosen, the message names the first few. No option chooses problems that are
 * not reproducible, so that they go before those that are.
 *   problem  receives its id */
static halotune_status add_problem(sqlite3 *connection, struct text *out, int64_t *problem) {
  sqlite3_stmt *query = NULL;
  struct text names = {0};
  int code, count = 0;
  halotune_status status = query_prepare(
      connection,
      "with tuned as (select * from problem where id in (select id from chosen_problem) and id in (select problem_id"
      " from run)) select s.name, p.dtype, p.nx, p.ny, p.nz, p.launch, p.cache, d.name, p.steps, p.is_reproducible, p.id,"
      " d.uuid"
      " from tuned p join stencil s on s.id = p.stencil_id join device d on d.id = p.device_id"
      " where p.is_reproducible = (select min(is_reproducible) from tuned) order by p.id limit 10",
      &query);
  if (status != HALOTUNE_OK) return status;
  while ((code = sqlite3_step(query)) == SQLITE_ROW) {
    if (count++ == 0) {
      add_metadata(out, query);
      *problem = sqlite3_column_int64(query, 10);
    }
    add_name(&names, query);
  }
  if (code != SQLITE_DONE) status = query_fail(connection);
  else if (count == 0) status = fail(HALOTUNE_NOT_FOUND, "no measurement of such a problem is stored");
  else if (count > 1) {
    status = fail(HALOTUNE_ARGUMENT,
                  "the T4 format holds one problem; choose one by --problem, --device, --steps, --launch, --cache or"
                  " --reproducible:%s",
                  text_string(&names));
  }
  text_free(&names);
  sqlite3_finalize(query);
  return status;
}

static const struct {
  const char *name, *unit;
} measured[] = {
    {"time", "ms"},    {"time_minimum", "ms"}, {"time_low", "ms"}, {"time_high", "ms"},
    {"registers", ""}, {"shared_bytes", "B"},  {"occupancy", ""},  {"rms_error", ""},
    {"max_error", ""}, {"sm_clock", "MHz"},    {"power", "W"},
};
enum { MEASURED_COUNT = sizeof measured / sizeof *measured, MEASURED_FIRST = 6 };

static void add_runtimes(struct text *out, sqlite3_stmt *row, int column) {
  size_t count = (size_t)sqlite3_column_bytes(row, column) / sizeof(float);
  const char *bytes = sqlite3_column_blob(row, column);
  text_printf(out, "[");
  for (size_t i = 0; i < count; i++) {
    float time_ms;
    memcpy(&time_ms, bytes + i * sizeof time_ms, sizeof time_ms);
    text_printf(out, i ? ", " : "");
    json_write_float(out, time_ms);
  }
  text_printf(out, "]");
}

/* Write the members of the parameters behind the template's name. */
static halotune_status add_configuration(struct text *out, sqlite3_stmt *row) {
  struct text parameters = {0};
  const halotune_status status = export_json_add(&parameters, "parameters", column_text(row, 2), false);
  if (status == HALOTUNE_OK) {
    const char *members = text_string(&parameters) + 1; /* behind the brace */
    text_printf(out, "\"configuration\": {\"template\": ");
    json_write_string(out, column_text(row, 1));
    text_printf(out, "%s%s", *members == '}' ? "" : ",", members);
  }
  text_free(&parameters);
  return status;
}

/* Columns: time, template, parameters, outcome, compile_ms, samples, then as `measured` lists them. */
static halotune_status add_result(struct text *out, sqlite3_stmt *row) {
  enum outcome outcome = OUTCOME_CRASHED;
  const char *link = "";
  outcome_find(column_text(row, 3), &outcome);
  text_printf(out, "{\"timestamp\": ");
  json_write_string(out, column_text(row, 0));
  text_printf(out, ", ");
  const halotune_status status = add_configuration(out, row);
  text_printf(out, ", \"times\": {\"compilation\": ");
  json_write_number(out, sqlite3_column_double(row, 4)); /* 0 if nothing was compiled: the format requires numbers */
  text_printf(out, ", \"framework\": 0, \"search_algorithm\": 0, \"validation\": 0, \"runtimes\": ");
  add_runtimes(out, row, 5);
  text_printf(out, "}, \"invalidity\": \"%s\", \"correctness\": %d, \"measurements\": [", invalidity[outcome],
              outcome_has_time(outcome));
  for (int i = 0; i < MEASURED_COUNT; i++) {
    if (sqlite3_column_type(row, MEASURED_FIRST + i) == SQLITE_NULL) continue;
    text_printf(out, "%s{\"name\": \"%s\", \"value\": ", link, measured[i].name);
    json_write_number(out, sqlite3_column_double(row, MEASURED_FIRST + i));
    text_printf(out, ", \"unit\": \"%s\"}", measured[i].unit);
    link = ", ";
  }
  text_printf(out, "], \"objectives\": [\"time\"]}");
  return status;
}

static halotune_status add_results(sqlite3 *connection, int64_t problem, struct text *out) {
  sqlite3_stmt *query = NULL;
  int code = SQLITE_DONE, count = 0;
  halotune_status status = query_prepare(
      connection,
      "select strftime('%Y-%m-%dT%H:%M:%SZ', julianday(r.started) + m.at_s / 86400.0), t.name, v.parameters, m.outcome,"
      " m.compile_ms, m.samples, m.median_ms, m.minimum_ms, m.low_ms, m.high_ms, m.registers, m.shared_bytes,"
      " m.occupancy, m.rms_error, m.max_error, m.sm_mhz_after, m.power_w from measurement m join run r on r.id = "
      "m.run_id"
      " join variant v on v.id = m.variant_id join template t on t.id = v.template_id"
      " where m.id in (select id from chosen_measurement) and r.problem_id = ?1 order by m.run_id, m.number, m.id",
      &query);
  if (status == HALOTUNE_OK) sqlite3_bind_int64(query, 1, problem);
  while (status == HALOTUNE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
    text_printf(out, count++ ? ",\n" : "\n");
    status = add_result(out, query);
  }
  if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(connection);
  sqlite3_finalize(query);
  return status;
}

halotune_status store_export_t4(struct store *store, const struct choice *choice, struct text *out) {
  sqlite3 *connection = store_connection(store);
  int64_t problem = 0;
  halotune_status status = query_script(connection, "begin");
  if (status != HALOTUNE_OK) return status;
  status = store_choose(store, choice);
  if (status == HALOTUNE_OK) status = add_problem(connection, out, &problem);
  if (status == HALOTUNE_OK) status = add_results(connection, problem, out);
  text_printf(out, "\n]}\n");
  status = query_finish(connection, status);
  return status == HALOTUNE_OK && !text_ok(out) ? fail_memory() : status;
}
