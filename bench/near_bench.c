/* near_bench.c: how good the answers for grids are that a database does not hold. Each of its problems is asked for
 * while the rows of its stencil, element type and grid are hidden. Where the run of the problem measured the
 * configuration that answers, its time there is compared with the fastest one of the run, and with the time that the
 * answer expects.
 *
 *   near_bench DATABASE [STENCIL]
 *
 * Prints a line for each problem, then median, 95th percentile and worst. Most answers have no time, because the search
 * did not measure them. So the ranking is judged by itself, too: of the stored variants that the search measured, at
 * least four, the one with the least rank is compared with the fastest one, and this one with the fastest of the run.
 * This is done with the database's own
 * coefficients. Then the coefficients are fitted to one half of the problems, and the other half is asked for; and the
 * other way round. The database is copied, and not changed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory/array.h"
#include "base/memory/sorted.h"
#include "db/store/query.h"
#include "db/store/store.h"
#include "library/lookup/candidates.h"
#include "library/lookup/lookup.h"
#include "library/predict/fit.h"

struct problem {
  int64_t id;
  int half; /* 0 or 1 */
  char stencil[128], device[128];
  halotune_problem question;
};

static struct problem problems[4096];
static double ratios[COUNT(problems)], errors[COUNT(problems)], sigmas[COUNT(problems)];
static double of_ranking[COUNT(problems)], of_rows[COUNT(problems)];
static int problem_count, answered, compared, expected, ranked;

/* Modes of a problem are in the same half. */
#define SQL_HALF "(((p.stencil_id * 31 + p.nx * 7 + p.ny * 3 + p.nz + (p.dtype = 'f64') * 13) * 40503) >> 8 & 1)"

static const char sql_problems[] =
    "select p.id, s.name, d.name, p.nx, p.ny, p.nz, p.dtype, p.launch, " SQL_HALF
    " from best b join problem p on p.id = b.problem_id"
    " join stencil s on s.id = p.stencil_id join device d on d.id = p.device_id where b.is_current and p.cache = 'steady'"
    " and not p.is_reproducible and p.steps = 1 and not d.is_emulation and (?1 is null or s.name = ?1) order by 2, 7, 4, 5, 6";
static const char sql_hide[] =
    "update best set is_current = 0 where is_current and problem_id in (select o.id from problem o join problem p on"
    " o.stencil_id = p.stencil_id and o.dtype = p.dtype and o.nx = p.nx and o.ny = p.ny and o.nz = p.nz where p.id = ?1)";
/* The fit does not use marked measurements. */
static const char sql_mark[] =
    "create temp table if not exists marked (id integer primary key); delete from marked; insert into marked select m.id"
    " from measurement m join run r on r.id = m.run_id join problem p on p.id = r.problem_id where not m.is_marked"
    " and " SQL_HALF
    " = (select half from asked); update measurement set is_marked = 1 where id in (select id from marked)";
static const char sql_time[] =
    "select min(m.median_ms) from measurement m join run r on r.id = m.run_id join variant v on v.id = m.variant_id"
    " join template t on t.id = v.template_id where r.problem_id = ?1 and (?2 is null or (t.name = ?2 and v.parameters = ?3))";

static bool read_problems(sqlite3 *connection, const char *stencil) {
  sqlite3_stmt *query = NULL;
  if (query_prepare(connection, sql_problems, &query) != HALOTUNE_OK) return false;
  sqlite3_bind_text(query, 1, stencil, -1, SQLITE_STATIC);
  while (sqlite3_step(query) == SQLITE_ROW && problem_count < (int)COUNT(problems)) {
    struct problem *p = &problems[problem_count++];
    p->id = sqlite3_column_int64(query, 0);
    p->half = sqlite3_column_int(query, 8);
    snprintf(p->stencil, sizeof p->stencil, "%s", column_text(query, 1));
    snprintf(p->device, sizeof p->device, "%s", column_text(query, 2));
    p->question = (halotune_problem){.stencil = p->stencil, .device = p->device};
    for (int axis = 0; axis < 3; axis++) p->question.grid[axis] = sqlite3_column_int64(query, 3 + axis);
    p->question.dtype = strcmp(column_text(query, 6), "f64") == 0 ? HALOTUNE_F64 : HALOTUNE_F32;
    p->question.launch = strcmp(column_text(query, 7), "graph") == 0 ? HALOTUNE_LAUNCH_GRAPH : HALOTUNE_LAUNCH_STREAM;
  }
  sqlite3_finalize(query);
  return true;
}

/* The measured time of a configuration in the runs of a problem, or of the fastest; NaN if there is none. */
static double time_of(sqlite3 *connection, int64_t problem, const char *template_name, const char *parameters) {
  sqlite3_stmt *query = NULL;
  double time_ms = NAN;
  if (query_prepare(connection, sql_time, &query) != HALOTUNE_OK) return NAN;
  sqlite3_bind_int64(query, 1, problem);
  sqlite3_bind_text(query, 2, template_name, -1, SQLITE_STATIC);
  sqlite3_bind_text(query, 3, parameters, -1, SQLITE_STATIC);
  if (sqlite3_step(query) == SQLITE_ROW) time_ms = column_real(query, 0);
  sqlite3_finalize(query);
  return time_ms;
}

static void compare_answer(sqlite3 *connection, const struct problem *p, const halotune_config *config) {
  const long long *n = p->question.grid;
  const double best = time_of(connection, p->id, NULL, NULL);
  const double time_ms = time_of(connection, p->id, config->template_name, config->parameters);
  answered++;
  printf("%-12s %s %5lldx%5lldx%4lld %-9s best %9.5f expected %9.5f +- %4.1f %% ", p->stencil,
         p->question.dtype == HALOTUNE_F64 ? "f64" : "f32", n[0], n[1], n[2], halotune_match_name(config->match), best,
         config->expected_ms, 100 * config->expected_error);
  if (isnan(time_ms)) {
    printf("not measured: %s of %lldx%lldx%lld\n", config->template_name, config->measured_grid[0],
           config->measured_grid[1], config->measured_grid[2]);
    return;
  }
  ratios[compared] = time_ms / best;
  printf("ratio %6.3f, expected %+6.1f %%: %s of %lldx%lldx%lld\n", ratios[compared],
         100 * (config->expected_ms / time_ms - 1), config->template_name, config->measured_grid[0],
         config->measured_grid[1], config->measured_grid[2]);
  compared++;
  if (isnan(config->expected_ms)) return;
  errors[expected] = fabs(config->expected_ms / time_ms - 1);
  sigmas[expected] = errors[expected] / config->expected_error;
  expected++;
}

/* Take the own candidates in the order of their ranks. Those that the run of the problem measured are compared. */
static halotune_status compare_ranking(sqlite3 *connection, halotune_ctx *ctx, const struct problem *p,
                                       const halotune_config *config) {
  enum { LEAST_MEASURED = 4 };
  struct lookup_key key;
  struct answer answer;
  struct question question;
  struct known_device room;
  const struct known_device *device = NULL;
  struct candidates candidates = {.question = NULL};
  struct candidate candidate;
  double first = NAN, best = NAN;
  int measured = 0;
  halotune_status status = config_read(ctx, config, &key, &answer);
  if (status == HALOTUNE_OK) status = context_device(ctx, p->device, &room, &device);
  if (status != HALOTUNE_OK) return status;
  key.model = device->model;
  status = question_begin(ctx, &key, device, &question);
  if (status != HALOTUNE_OK) return status;
  candidates_begin(&question, false, &candidates);
  status = candidates_add_own(&candidates);
  while (status == HALOTUNE_OK && candidates_take(&candidates, &candidate)) {
    const char *name = ctx->catalog.templates[candidate.row->template_at].name;
    const double time_ms = time_of(connection, p->id, name, candidate.row->parameters);
    if (!isnan(time_ms)) {
      measured++;
      if (isnan(first)) first = time_ms;
      best = fmin(best, time_ms); /* fmin ignores NAN */
    }
    status = candidates_drop(&candidates, &candidate, false); /* other rows of it stand for the same variant */
  }
  candidates_free(&candidates);
  if (measured < LEAST_MEASURED) return status;
  of_ranking[ranked] = first / best;
  of_rows[ranked++] = best / time_of(connection, p->id, NULL, NULL);
  return status;
}

static void print_spread(const char *what, double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare_doubles);
  if (count > 0)
    printf("%-40s median %.3f, 90 %% %.3f, 95 %% %.3f, worst %.3f\n", what, values[count / 2], values[count * 9 / 10],
           values[count * 95 / 100], values[count - 1]);
}

/* Ask for the problems of a half; of both halves if it is -1. */
static halotune_status ask_all(sqlite3 *connection, const char *path, int half) {
  halotune_status status = HALOTUNE_OK;
  answered = compared = expected = ranked = 0;
  for (int i = 0; i < problem_count && status == HALOTUNE_OK; i++) {
    halotune_ctx *ctx = NULL;
    halotune_config config;
    if (half >= 0 && problems[i].half != half) continue;
    status =
        query_script(connection, "create temp table if not exists hidden (id integer primary key); delete from hidden;"
                                 " insert into hidden select id from best where is_current");
    if (status == HALOTUNE_OK) status = query_with(connection, sql_hide, problems[i].id, NULL);
    if (status == HALOTUNE_OK) status = halotune_open(&path, 1, &ctx);
    if (status == HALOTUNE_OK && halotune_lookup(ctx, &problems[i].question, &config) == HALOTUNE_OK) {
      compare_answer(connection, &problems[i], &config);
      status = compare_ranking(connection, ctx, &problems[i], &config);
    }
    halotune_close(ctx);
    if (status == HALOTUNE_OK)
      status = query_script(connection, "update best set is_current = 1 where id in (select id from hidden)");
  }
  printf("%d problems answered, %d of these with a time\n", answered, compared);
  print_spread("time over the fastest of the search", ratios, compared);
  print_spread("error of expected_ms", errors, expected);
  print_spread("error over expected_error", sigmas, expected);
  printf("%d problems whose searches measured at least four stored variants\n", ranked);
  print_spread("the first by rank over the fastest", of_ranking, ranked);
  print_spread("the fastest over that of the search", of_rows, ranked);
  return status;
}

static void print_fit(void *context, const struct fit_result *result) {
  (void)context;
  printf("fit for %s: %ld times of %ld variants%s\n", result->device, result->times, result->variants,
         result->is_kept ? "" : "; it is not used");
}

/* Fit the coefficients to the other half, and ask for the problems of this one. */
static halotune_status cross_validate(struct store *store, const char *path, int half) {
  sqlite3 *connection = store_connection(store);
  printf("\nthe coefficients of half %d, for the problems of half %d:\n", 1 - half, half);
  halotune_status status = query_script(connection, half ? "create temp table asked as select 1 half"
                                                         : "create temp table asked as select 0 half");
  if (status == HALOTUNE_OK) status = query_script(connection, sql_mark);
  if (status == HALOTUNE_OK) status = predict_fit(store, NULL, 0, print_fit, NULL);
  if (status == HALOTUNE_OK)
    status = query_script(connection, "update measurement set is_marked = 0 where id in (select id from marked);"
                                      " drop table asked");
  return status == HALOTUNE_OK ? ask_all(connection, path, half) : status;
}

static halotune_status run_bench(const char *path, const char *stencil) {
  struct store *store = NULL;
  halotune_status status = store_open(path, STORE_WRITE, &store);
  if (status != HALOTUNE_OK) return status;
  sqlite3 *connection = store_connection(store);
  if (!read_problems(connection, stencil)) status = HALOTUNE_DB;
  if (status == HALOTUNE_OK) status = ask_all(connection, path, -1);
  for (int half = 0; half < 2 && status == HALOTUNE_OK; half++) status = cross_validate(store, path, half);
  store_close(store);
  return status;
}

/* Copy all that is committed, also what the database still keeps in its WAL. */
static halotune_status copy_database(const char *from, const char *to) {
  struct store *store = NULL;
  char *sql = sqlite3_mprintf("vacuum into %Q", to);
  halotune_status status = sql ? store_open(from, STORE_READ, &store) : fail_memory();
  if (status == HALOTUNE_OK) status = query_script(store_connection(store), sql);
  store_close(store);
  sqlite3_free(sql);
  return status;
}

int main(int argc, char **argv) {
  char folder[] = "/tmp/halotune-near-XXXXXX", path[64];
  if (argc < 2 || argc > 3 || !mkdtemp(folder)) {
    fprintf(stderr, "usage: near_bench DATABASE [STENCIL]\n");
    return 2;
  }
  snprintf(path, sizeof path, "%s/tuned.db", folder);
  halotune_status status = copy_database(argv[1], path);
  if (status == HALOTUNE_OK) status = run_bench(path, argc > 2 ? argv[2] : NULL);
  if (status != HALOTUNE_OK) fprintf(stderr, "near_bench: %s\n", fail_text());
  unlink(path);
  rmdir(folder);
  return status != HALOTUNE_OK;
}
