/* times.c: reads problem after problem. The bindings of a variant give its figures. */
#include "bench/experiments/static_cost/times.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "db/store/launch_text.h"
#include "db/store/query.h"
#include "db/store/sql_parts.h"
#include "library/predict/predict.h"
#include "stencil/template/access.h"

void check_status(halotune_status status) {
  if (status == HALOTUNE_OK) return;
  fprintf(stderr, "static_cost: %s: %s\n", halotune_strstatus(status), fail_text());
  exit(1);
}

static const char problems_sql[] = "select p.id, s.name, " SQL_STENCIL_TEXT(
    "s.id") ", p.dtype, p.nx, p.ny, p.nz, d.capability, d.max_threads, d.max_threads_sm, d.max_registers,"
            " d.registers_sm, d.max_shared_bytes, d.warp_size, d.sm_count, d.name from problem p join stencil s on"
            " s.id = p.stencil_id join device d on d.id = p.device_id where p.steps = 1 and p.cache = 'steady' and not"
            " d.is_emulation and " SQL_HAS_GRID("p");
enum problem_column {
  PROBLEM,
  STENCIL,
  TEXT,
  DTYPE,
  NX,
  CAPABILITY = NX + MAX_DIMS,
  MAX_THREADS,
  MAX_THREADS_SM,
  MAX_REGISTERS,
  REGISTERS_SM,
  MAX_SHARED,
  WARP_SIZE,
  SM_COUNT,
  DEVICE
};

/* The newest result of each variant of a problem, ?1. A winner and its finalists may have no other row. ?2: the default
 * variant, whose template is `direct`, has none either. */
static const char rows_sql[] =
    "with result as (select m.run_id, m.variant_id, m.median_ms as ms, m.id from measurement m union all"
    " select f.run_id, f.variant_id, f.median_ms, 0 from finalist f)"
    " select t.name, v.parameters, e.ms, max(e.id) from run r join result e on e.run_id = r.id join variant v on"
    " v.id = e.variant_id join template t on t.id = v.template_id where r.problem_id = ?1 and e.ms > 0 group by 1, 2"
    " union all select 'direct', '{}', b.default_ms, 0 from best b where b.problem_id = ?1 and ?2 and b.is_current and"
    " b.default_ms > b.time_ms";
enum row_column { TEMPLATE, PARAMETERS, TIME };

/* A problem whose rows are read. */
struct reading {
  struct times *out;
  const struct templates *templates;
  double facts[FACT_COUNT];
  struct predict_work work;
  struct predict_model fitted;
};

static struct device_limits limits_of(sqlite3_stmt *row) {
  return (struct device_limits){.capability = sqlite3_column_int(row, CAPABILITY),
                                .max_threads = sqlite3_column_int(row, MAX_THREADS),
                                .max_threads_sm = sqlite3_column_int(row, MAX_THREADS_SM),
                                .max_registers = sqlite3_column_int(row, MAX_REGISTERS),
                                .registers_sm = sqlite3_column_int(row, REGISTERS_SM),
                                .max_shared_bytes = sqlite3_column_int(row, MAX_SHARED),
                                .warp_size = sqlite3_column_int(row, WARP_SIZE),
                                .multiprocessors = sqlite3_column_int(row, SM_COUNT)};
}

/* Compute the facts of a problem. Returns false for a stencil that this program cannot read. */
static bool problem_begin(struct reading *r, sqlite3_stmt *row) {
  const char *text = column_text(row, TEXT);
  const struct source source = source_of(column_text(row, STENCIL), text, strlen(text));
  const enum dtype dtype = strcmp(column_text(row, DTYPE), dtype_names[DTYPE_F64]) == 0 ? DTYPE_F64 : DTYPE_F32;
  const struct device_limits limits = limits_of(row);
  struct stencil *stencil = NULL;
  struct analysis *analysis = NULL;
  struct grid grid;
  for (int axis = 0; axis < MAX_DIMS; axis++) grid.n[axis] = (long)sqlite3_column_int64(row, NX + axis);
  const bool is_read =
      stencil_parse(&source, &stencil) == HALOTUNE_OK && analysis_make(stencil, &analysis) == HALOTUNE_OK;
  if (is_read) {
    const struct domain domain = domain_dense(stencil, analysis, &grid);
    facts_fill(stencil, analysis, dtype, &domain, &limits, false, r->facts);
    r->work = predict_work_of(stencil, analysis, dtype, &domain);
  }
  analysis_free(analysis);
  stencil_free(stencil);
  return is_read;
}

/* Compute what is known of the bound configuration before it is compiled. */
static void measured_fill(const struct reading *r, const struct bindings *bindings, struct measured *out) {
  const struct predict_shape shape = predict_shape_of(bindings, 0, r->facts[FACT_max_threads_sm]);
  const struct predict_gpu gpu = {.sm_count = r->facts[FACT_multiprocessors]};
  const struct predict_model usual = predict_default();
  struct predict_cost cost;
  static_cost_features(bindings, out->features);
  out->work = access_work(bindings);
  predict_cost(&usual, &shape, &r->work, &gpu, &cost);
  out->predicted = (double)cost.log_ms[LAUNCH_STREAM];
  predict_recost(&r->fitted, &cost);
  out->predicted_fitted = (double)cost.log_ms[LAUNCH_STREAM];
}

/* Read a variant, unless today's templates do not have it. */
static void variant_read(struct reading *r, sqlite3_stmt *row) {
  const struct template *template = NULL;
  for (int t = 0; t < r->templates->count; t++) {
    if (strcmp(r->templates->list[t]->name, column_text(row, TEMPLATE)) == 0) template = r->templates->list[t];
  }
  struct configuration configuration;
  struct bindings bindings;
  struct times *out = r->out;
  if (!template || configuration_read(template, column_text(row, PARAMETERS), &configuration) != HALOTUNE_OK) return;
  check_status(bindings_make(template, r->facts, &bindings));
  bindings_configure(&bindings, &configuration);
  if (!bindings_failed_rule(&bindings)) {
    if (!array_room(out->list, out->count, out->capacity)) check_status(fail_memory());
    struct measured *measured = &out->list[out->count++];
    measured_fill(r, &bindings, measured);
    measured->log_time = log(sqlite3_column_double(row, TIME));
  }
  bindings_free(&bindings);
}

/* Keep the variants from `first` on as a problem, if they are two or more. */
static void problem_end(struct times *times, const char *stencil, long first) {
  double best = INFINITY;
  if (times->count - first < 2) {
    times->count = first;
    return;
  }
  for (long i = first; i < times->count; i++) best = fmin(best, times->list[i].log_time);
  for (long i = first; i < times->count; i++) times->list[i].log_time -= best;
  if (!array_room(times->problems, times->problem_count, times->problem_capacity)) check_status(fail_memory());
  struct timed_problem *problem = &times->problems[times->problem_count++];
  *problem = (struct timed_problem){.first = first, .end = times->count};
  snprintf(problem->stencil, sizeof problem->stencil, "%s", stencil);
}

/* The coefficients that a database holds for a model of GPU. */
static struct predict_model fitted_model(struct store *store, const char *device) {
  struct predict_model model = predict_default();
  sqlite3_stmt *query;
  check_status(query_prepare(store_connection(store),
                             "select p.coefficient, p.value from prediction p join device d on d.id = p.device_id"
                             " where d.name = ?1",
                             &query));
  sqlite3_bind_text(query, 1, device, -1, SQLITE_STATIC);
  while (sqlite3_step(query) == SQLITE_ROW) {
    for (int i = 0; i < PREDICT_COEFFICIENTS; i++) {
      if (strcmp(predict_names[i], column_text(query, 0)) == 0) model.coefficients[i] = sqlite3_column_double(query, 1);
    }
  }
  sqlite3_finalize(query);
  return model;
}

void times_read(struct store *store, const struct templates *templates, struct store *coefficients, bool has_defaults,
                struct times *out) {
  sqlite3_stmt *problems, *rows;
  *out = (struct times){.count = 0};
  check_status(query_prepare(store_connection(store), problems_sql, &problems));
  check_status(query_prepare(store_connection(store), rows_sql, &rows));
  while (sqlite3_step(problems) == SQLITE_ROW) {
    struct reading r = {.out = out, .templates = templates};
    const long first = out->count;
    if (!problem_begin(&r, problems)) continue;
    r.fitted = fitted_model(coefficients, column_text(problems, DEVICE));
    sqlite3_reset(rows);
    sqlite3_bind_int64(rows, 1, sqlite3_column_int64(problems, PROBLEM));
    sqlite3_bind_int(rows, 2, has_defaults);
    while (sqlite3_step(rows) == SQLITE_ROW) variant_read(&r, rows);
    problem_end(out, column_text(problems, STENCIL), first);
  }
  sqlite3_finalize(rows);
  sqlite3_finalize(problems);
}

void times_keep_largest(struct times *times) {
  const struct timed_problem *most = times->problems;
  for (int p = 1; p < times->problem_count; p++) {
    if (times->problems[p].end - times->problems[p].first > most->end - most->first) most = &times->problems[p];
  }
  if (times->problem_count == 0) check_status(fail(HALOTUNE_NOT_FOUND, "a recording has no problem with two variants"));
  const long count = most->end - most->first;
  memmove(times->list, times->list + most->first, (size_t)count * sizeof *times->list);
  times->problems[0] = *most;
  times->problems[0].first = 0;
  times->problems[0].end = times->count = count;
  times->problem_count = 1;
}

void times_free(struct times *times) {
  free(times->list);
  free(times->problems);
  *times = (struct times){.count = 0};
}
