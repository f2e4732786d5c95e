/* static_times.c: reads problem after problem. The bindings of a variant give its numbers. */
#include "library/predict/static_times.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "db/store/device_row.h"
#include "db/store/launch_text.h"
#include "db/store/query.h"
#include "db/store/sql_parts.h"
#include "stencil/template/access.h"

static const char problems_sql[] =
    "select p.id, s.name, " SQL_STENCIL_TEXT("s.id") ", p.dtype, p.nx, p.ny, p.nz, d.first, " SQL_DEVICE_LIMITS(
        "d") " from problem p join stencil s on s.id ="
             " p.stencil_id join " SQL_REAL_DEVICES
             " d on d.id = p.device_id where p.steps = 1 and p.cache = 'steady' and " SQL_HAS_GRID(
                 "p") " order by d.first, p.id";
enum problem_column { PROBLEM, STENCIL, TEXT, DTYPE, NX, DEVICE = NX + MAX_DIMS, LIMITS };

/* The newest result of each variant of a problem, ?1. Where a database has no more measurements than finalists, it
 * holds only what a winner's document has. Then the time of the default variant, one of the template `direct`, is in
 * `best`. */
static const char rows_sql[] =
    "with result as (select m.run_id, m.variant_id, m.median_ms as ms, m.id from measurement m where m.outcome in"
    " ('measured', 'screened') union all select f.run_id, f.variant_id, f.median_ms, 0 from finalist f) select t.name,"
    " v.parameters, e.ms, max(e.id) from run r join result e on e.run_id = r.id join variant v on v.id = e.variant_id"
    " join template t on t.id = v.template_id where r.problem_id = ?1 and e.ms > 0 group by 1, 2 union all select"
    " 'direct', '{}', b.default_ms, 0 from best b where b.problem_id = ?1 and b.is_current and b.default_ms > b.time_ms"
    " and (select count(*) from run r join measurement m on m.run_id = r.id where r.problem_id = ?1) <= (select count(*)"
    " from run r join finalist f on f.run_id = r.id where r.problem_id = ?1)";
enum row_column { TEMPLATE, PARAMETERS, TIME };

/* A problem whose rows are read. */
struct reading {
  struct static_times *out;
  struct template *const *templates;
  int template_count;
  double facts[FACT_COUNT];
  struct predict_work work;
  sqlite3_stmt *rows; /* of a problem, ?1 */
};

/* Compute the facts of a problem. HALOTUNE_PARSE or HALOTUNE_ARGUMENT: this program cannot read the stencil. */
static halotune_status problem_begin(struct reading *r, sqlite3_stmt *row) {
  const char *text = column_text(row, TEXT);
  const struct source source = source_of(column_text(row, STENCIL), text, strlen(text));
  const enum dtype dtype = strcmp(column_text(row, DTYPE), dtype_names[DTYPE_F64]) == 0 ? DTYPE_F64 : DTYPE_F32;
  const struct device_limits limits = device_row_limits(row, LIMITS);
  struct stencil *stencil = NULL;
  struct analysis *analysis = NULL;
  struct grid grid;
  for (int axis = 0; axis < MAX_DIMS; axis++) grid.n[axis] = (long)sqlite3_column_int64(row, NX + axis);
  halotune_status status = stencil_parse(&source, &stencil);
  if (status == HALOTUNE_OK) status = analysis_make(stencil, &analysis);
  if (status == HALOTUNE_OK) {
    const struct domain domain = domain_dense(stencil, analysis, &grid);
    facts_fill(stencil, analysis, dtype, &domain, &limits, false, r->facts);
    r->work = predict_work_of(stencil, analysis, dtype, &domain);
  }
  analysis_free(analysis);
  stencil_free(stencil);
  return status;
}

/* Compute what is known of the bound configuration. Returns false where a feature is no number. */
static bool fill_time(const struct reading *r, const struct bindings *bindings, struct static_time *out) {
  const struct predict_shape shape = predict_shape_of(bindings, 0, r->facts[FACT_max_threads_sm]);
  const struct predict_gpu gpu = {.sm_count = r->facts[FACT_multiprocessors]};
  const struct predict_model usual = predict_default();
  bool is_finite = true;
  static_cost_features(bindings, out->features);
  for (int i = 0; i < STATIC_COST_FEATURES; i++) is_finite &= isfinite(out->features[i]) != 0;
  out->work = access_work(bindings);
  predict_cost(&usual, &shape, &r->work, &gpu, &out->cost);
  return is_finite;
}

/* Read a variant, unless the templates do not have it. */
static halotune_status take_variant(void *context, sqlite3_stmt *row) {
  struct reading *r = context;
  const struct template *template = NULL;
  struct static_times *out = r->out;
  struct configuration configuration;
  struct bindings bindings;
  for (int t = 0; t < r->template_count; t++) {
    if (strcmp(r->templates[t]->name, column_text(row, TEMPLATE)) == 0) template = r->templates[t];
  }
  if (!template) return HALOTUNE_OK;
  halotune_status status = configuration_read(template, column_text(row, PARAMETERS), &configuration);
  if (status == HALOTUNE_OK) status = bindings_make(template, r->facts, &bindings);
  if (status != HALOTUNE_OK) return status == HALOTUNE_PARSE ? HALOTUNE_OK : status;
  bindings_configure(&bindings, &configuration);
  if (!bindings_failed_rule(&bindings)) {
    if (array_room(out->list, out->count, out->capacity)) {
      struct static_time *time = &out->list[out->count];
      out->count += fill_time(r, &bindings, time);
      time->log_time = log(sqlite3_column_double(row, TIME));
    } else {
      status = fail_memory();
    }
  }
  bindings_free(&bindings);
  return status;
}

/* Keep the variants from `first` on as a problem, if they are two or more. */
static halotune_status problem_end(struct static_times *times, sqlite3_stmt *row, long first) {
  double best = INFINITY;
  if (times->count - first < 2) {
    times->count = first;
    return HALOTUNE_OK;
  }
  for (long i = first; i < times->count; i++) best = fmin(best, times->list[i].log_time);
  for (long i = first; i < times->count; i++) times->list[i].log_time -= best;
  if (!array_room(times->problems, times->problem_count, times->problem_capacity)) return fail_memory();
  struct static_problem *problem = &times->problems[times->problem_count++];
  *problem = (struct static_problem){.device = sqlite3_column_int64(row, DEVICE), .first = first, .end = times->count};
  snprintf(problem->stencil, sizeof problem->stencil, "%s", column_text(row, STENCIL));
  return HALOTUNE_OK;
}

static halotune_status take_problem(void *context, sqlite3_stmt *problem) {
  struct reading *r = context;
  const long first = r->out->count;
  halotune_status status = problem_begin(r, problem);
  if (status == HALOTUNE_PARSE || status == HALOTUNE_ARGUMENT) return HALOTUNE_OK;
  sqlite3_reset(r->rows);
  sqlite3_bind_int64(r->rows, 1, sqlite3_column_int64(problem, PROBLEM));
  if (status == HALOTUNE_OK) status = query_each(r->rows, take_variant, r);
  return status == HALOTUNE_OK ? problem_end(r->out, problem, first) : status;
}

halotune_status static_times_read(struct store *store, struct template *const *templates, int template_count,
                                  struct static_times *out) {
  struct reading r = {.out = out, .templates = templates, .template_count = template_count};
  sqlite3 *connection = store_connection(store);
  struct fail_kept before;
  *out = (struct static_times){.count = 0};
  fail_keep(&before);
  halotune_status status = query_prepare(connection, rows_sql, &r.rows);
  if (status == HALOTUNE_OK) status = query_rows(connection, problems_sql, take_problem, &r);
  sqlite3_finalize(r.rows);
  if (status == HALOTUNE_OK) fail_put_back(&before); /* a text that cannot be read is not a failure here */
  return status;
}

void static_times_free(struct static_times *times) {
  free(times->list);
  free(times->problems);
  *times = (struct static_times){.count = 0};
}
