/* lookup_bench.c: the cost of lookups in a database of 10,000 problems with sources and machine code of the usual size.
 * Prints each number with its limit, and fails if one exceeds it.
 *
 *   open      halotune_open; the file is in the page cache
 *   hit       10,000 different problems in shuffled order, all exactly in the table
 *   near      10,000 problems whose grids are not in the table
 *   random    1,000 random problems of the starter database, which must all be answered; the middle one and the slowest
 *   threads   hits on all cores at the same time, compared with hits on one core while the others compute something
 *             else: cores share a clock, and two may be halves of one. A loss of 10 % is allowed, because two medians
 *             of the same work differ by as much beside other programs. A thread reads the table many times, and its
 *             quietest time counts: a core that was idle needs some milliseconds until its caches are full
 *
 * Each number is a median of the quietest of several rounds, because other load on the machine, or on the host of a
 * virtual machine, lengthens a round. The median of the rounds is printed beside it. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/memory/array.h"
#include "base/memory/sorted.h"
#include "base/numbers/random.h"
#include "base/system/clock.h"
#include "base/system/parallel.h"
#include "db/store/launch_text.h"
#include "db/store/query.h"
#include "db/store/store.h"
#include "stencil/template/template_read.h"

enum { ROWS = 10000, GRIDS = 556, OPENS = 5, THREADS = 16, PASSES = 20, ROUNDS = 5 };

static const char *const names[] = {"star7",    "star13",       "star25",       "box27",       "wave25",
                                    "gradient", "derivative_x", "derivative_y", "derivative_z"};
static const char device_name[] = "NVIDIA H200";

/* The n-th grid of a stencil. Lengths are usual ones, and all grids differ. */
static void grid_of(long n, long long grid[3]) {
  static const long long lengths[] = {64, 96, 128, 160, 192, 256, 320, 384, 512, 640};
  grid[0] = lengths[n % 10];
  grid[1] = lengths[n / 10 % 10] + n / 100 * 8;
  grid[2] = lengths[(n / 50 + n) % 10];
}

static halotune_status put_stencil(struct store *store, const char *name, int64_t *id, int64_t *text_id) {
  struct stencil *stencil = NULL;
  struct analysis *analysis = NULL;
  char path[128], *text = NULL;
  size_t length;
  snprintf(path, sizeof path, "kernels/%s.yaml", name);
  halotune_status status = stencil_read(path, &stencil);
  if (status == HALOTUNE_OK) status = analysis_make(stencil, &analysis);
  if (status == HALOTUNE_OK) status = file_read(path, MAX_STENCIL_BYTES, &text, &length);
  if (status == HALOTUNE_OK && (*id = store_stencil(store, stencil, analysis)) == 0) status = HALOTUNE_DB;
  if (status == HALOTUNE_OK && (*text_id = store_stencil_text(store, *id, text)) == 0) status = HALOTUNE_DB;
  free(text);
  analysis_free(analysis);
  stencil_free(stencil);
  return status;
}

static const char sql_problem[] =
    "insert into problem (id, device_id, stencil_id, dtype, nx, ny, nz, launch, cache, origin_id) values (?1, ?2, ?3, ?4, ?5, ?6, ?7,"
    " 'stream', 'steady', 1)";
static const char sql_variant[] =
    "insert into variant (id, source_hash, stencil_id, template_id, parameters, origin_id) values (?1, printf('%064x', ?1), ?2, ?3,"
    " ?4, 1)";
static const char sql_best[] =
    "insert into best (problem_id, variant_id, is_current, text_id, origin_id, date, time_ms, low_ms, high_ms, sample_count, bytes,"
    " rms_error, max_error, max_error_units, registers, shared_bytes, occupancy, launch, coefficients, driver, nvrtc, arch, source,"
    " cubin) values (?1, ?1, 1, ?4, 1, strftime('%Y-%m-%dT%H:%M:%fZ', '2026-11-21', ?1 || ' seconds'),"
    " ?5, 0.97*?5, 1.03*?5, 20, 1000000, 0, 0, 0, 40, 0, 1, ?2, '[]',"
    " '580.159.04', '13.0', 'sm_90', ?3, zeroblob(16384))";

static void run_statement(sqlite3_stmt *query, const struct binder *binder) {
  (void)binder;
  if (sqlite3_step(query) != SQLITE_DONE) {
    fprintf(stderr, "lookup_bench: %s\n", sqlite3_errmsg(sqlite3_db_handle(query)));
    exit(1);
  }
  sqlite3_reset(query);
}

static halotune_status put_rows(struct store *store, int64_t device, const int64_t stencils[], const int64_t texts_of[],
                                int64_t template_id, const struct template *template) {
  sqlite3_stmt *queries[3];
  const char *const texts[] = {sql_problem, sql_variant, sql_best};
  struct configuration configuration = configuration_default(template);
  struct launch launch = {.kernel = "star7_zmarch", .block = {32, 8, 1}, .grid = {4, 64, 8}, .index_bytes = 4};
  struct text json = {0};
  launch_write(&launch, &json);
  for (size_t i = 0; i < 3; i++) {
    halotune_status status = query_prepare(store_connection(store), texts[i], &queries[i]);
    if (status != HALOTUNE_OK) return status;
  }
  halotune_status status = query_script(store_connection(store), "begin");
  static const double least_ms = 0.002, bytes_in_a_ms = 1.6e9; /* of one field, as on an H200 */
  for (long row = 0; row < ROWS && status == HALOTUNE_OK; row++) {
    struct text parameters = {0};
    long long grid[3];
    int64_t stencil = stencils[row / (2 * GRIDS)];
    grid_of(row % GRIDS, grid);
    configuration.choice[2] = (unsigned char)(row % 3); /* the vector's width */
    configuration_write(template, &configuration, &parameters);
    struct binder problem = {queries[0], 0}, variant = {queries[1], 0}, best = {queries[2], 0};
    bind_integer(&problem, row + 1), bind_integer(&problem, device), bind_integer(&problem, stencil);
    bind_text(&problem, dtype_names[row / GRIDS % 2]);
    for (int axis = 0; axis < 3; axis++) bind_integer(&problem, grid[axis]);
    bind_integer(&variant, row + 1), bind_integer(&variant, stencil), bind_integer(&variant, template_id);
    bind_text(&variant, text_string(&parameters));
    bind_integer(&best, row + 1), bind_text(&best, text_string(&json)), bind_text(&best, template->cuda);
    bind_integer(&best, texts_of[row / (2 * GRIDS)]);
    const double bytes = (double)(grid[0] * grid[1] * grid[2]) * (double)dtype_bytes((enum dtype)(row / GRIDS % 2));
    bind_real(&best, least_ms + bytes / bytes_in_a_ms);
    run_statement(queries[0], &problem), run_statement(queries[1], &variant), run_statement(queries[2], &best);
    text_free(&parameters);
  }
  for (size_t i = 0; i < 3; i++) sqlite3_finalize(queries[i]);
  text_free(&json);
  return query_finish(store_connection(store), status);
}

static halotune_status make_database(const char *path) {
  struct device_facts device = {.capability = 90,
                                .sm_count = 132,
                                .clock_khz = 1980000,
                                .memory_clock_khz = 3201000,
                                .bus_bits = 6144,
                                .l2_bytes = 62914560,
                                .memory_bytes = 1L << 37};
  struct store *store = NULL;
  struct template *template = NULL;
  int64_t stencils[COUNT(names)], texts_of[COUNT(names)];
  snprintf(device.name, sizeof device.name, "%s", device_name);
  snprintf(device.uuid, sizeof device.uuid, "GPU-0");
  device.limits = arch_device_limits(arch_find(9, 0));
  halotune_status status = store_open(path, STORE_WRITE, &store);
  if (status == HALOTUNE_OK) status = template_read("templates/zmarch.yaml", &template);
  for (size_t i = 0; i < COUNT(names) && status == HALOTUNE_OK; i++)
    status = put_stencil(store, names[i], &stencils[i], &texts_of[i]);
  if (status == HALOTUNE_OK) {
    status = put_rows(store, store_device(store, &device, false), stencils, texts_of, store_template(store, template),
                      template);
  }
  template_free(template);
  store_close(store);
  return status;
}

static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare_doubles);
  return values[count / 2];
}

static void make_problems(halotune_problem *problems, bool near) {
  for (long row = 0; row < ROWS; row++) {
    problems[row] = (halotune_problem){
        .stencil = names[row / (2 * GRIDS)], .device = device_name, .dtype = (halotune_dtype)(row / GRIDS % 2)};
    grid_of(row % GRIDS, problems[row].grid);
    if (near)
      problems[row].grid[0] += 4 + 4 * (long long)(random_bits(3, (uint64_t)row) % 7), problems[row].grid[2] += 1;
  }
  for (long i = ROWS - 1; i > 0; i--) { /* shuffled, so that neither table nor rows are read in order */
    long other = (long)(random_bits(7, (uint64_t)i) % (uint64_t)(i + 1));
    halotune_problem swap = problems[i];
    problems[i] = problems[other];
    problems[other] = swap;
  }
}

/* Nanoseconds of one lookup: the median over batches, in which the cost of reading the clock is small; -1 on
 * failure. */
static double time_lookups(halotune_ctx *ctx, const halotune_problem *problems, int batch, halotune_match want) {
  static const int most_batches = ROWS;
  double *times = malloc((size_t)most_batches * sizeof *times), result = -1;
  int count = 0;
  if (!times) return -1;
  for (int first = 0; first + batch <= ROWS; first += batch) {
    double start = clock_ms();
    for (int i = first; i < first + batch; i++) {
      halotune_config config;
      if (halotune_lookup(ctx, &problems[i], &config) != HALOTUNE_OK || config.match != want) {
        fprintf(stderr, "lookup_bench: problem %d: %s %s\n", i, halotune_error(ctx), halotune_match_name(config.match));
        goto done;
      }
    }
    times[count++] = (clock_ms() - start) * 1e6 / batch;
  }
  result = median(times, count);
done:
  free(times);
  return result;
}

struct thread_run {
  pthread_t thread;
  halotune_ctx *ctx;
  const halotune_problem *problems;
  pthread_barrier_t *start;
  atomic_int *looking; /* number of threads whose passes are not done */
  double time_ns;      /* of the quietest pass; -1 after a failure */
};

/* Look up all problems several times, and again until all threads are done. */
static void *look_up(void *context) {
  struct thread_run *thread = context;
  bool is_over = false;
  pthread_barrier_wait(thread->start);
  for (int i = 0; !is_over; i++) {
    const double time_ns = time_lookups(thread->ctx, thread->problems, 100, HALOTUNE_MATCH_EXACT);
    if (i == 0 || (i < PASSES && time_ns < thread->time_ns)) thread->time_ns = time_ns;
    if (i == PASSES - 1) atomic_fetch_sub(thread->looking, 1);
    is_over = i >= PASSES - 1 && atomic_load(thread->looking) == 0;
  }
  return NULL;
}

/* Keep a core busy without using memory. */
static void *keep_busy(void *context) {
  const struct thread_run *thread = context;
  pthread_barrier_wait(thread->start);
  for (uint64_t i = 0; atomic_load_explicit(thread->looking, memory_order_relaxed) > 0; i++) {
    uint64_t bits = i;
    for (int k = 0; k < 1000; k++) bits = bits * 6364136223846793005u + 1442695040888963407u;
    if (bits == 0) sched_yield(); /* so that the compiler keeps the computation */
  }
  return NULL;
}

/* Nanoseconds of one lookup: the median of the threads that look up. The other threads, up to `count`, compute. */
static double time_threads(halotune_ctx *ctx, const halotune_problem *problems, int lookers, int count) {
  struct thread_run threads[THREADS];
  double times[THREADS];
  pthread_barrier_t start;
  atomic_int looking = lookers;
  pthread_barrier_init(&start, NULL, (unsigned)count);
  for (int i = 0; i < count; i++) {
    threads[i] = (struct thread_run){.ctx = ctx, .problems = problems, .start = &start, .looking = &looking};
    if (pthread_create(&threads[i].thread, NULL, i < lookers ? look_up : keep_busy, &threads[i]) == 0) continue;
    fprintf(stderr, "lookup_bench: no thread could be started\n");
    exit(1); /* the others wait for it */
  }
  for (int i = 0; i < count; i++) pthread_join(threads[i].thread, NULL);
  for (int i = 0; i < lookers; i++) times[i] = threads[i].time_ns;
  pthread_barrier_destroy(&start);
  return median(times, lookers);
}

static int checks, failures;

/* The result of each round; -1 on failure. */
struct rounds {
  double values[ROUNDS];
};

static double quietest_round(const struct rounds *rounds) {
  double least = rounds->values[0];
  for (int i = 1; i < ROUNDS; i++) {
    if (rounds->values[i] < least) least = rounds->values[i];
  }
  return least;
}

static void print_rounds(const char *what, const struct rounds *rounds, double limit, const char *unit) {
  struct rounds sorted = *rounds;
  double value = quietest_round(rounds);
  bool ok = value >= 0 && value <= limit;
  printf("%-40s %8.1f %-2s of at most %7.1f  %-6s (median of rounds %.1f)\n", what, value, unit, limit,
         ok ? "kept" : "MISSED", median(sorted.values, ROUNDS));
  checks++;
  failures += !ok;
}

static double time_opens(const char *path, halotune_ctx **ctx) {
  double times[OPENS];
  for (int i = 0; i < OPENS; i++) {
    halotune_close(*ctx);
    double start = clock_ms();
    if (halotune_open(&path, 1, ctx) != HALOTUNE_OK) return -1;
    times[i] = clock_ms() - start;
  }
  return median(times, OPENS);
}

static void measure_database(const char *path, halotune_ctx **ctx) {
  static halotune_problem problems[ROWS];
  const int cores = parallel_threads(0) < THREADS ? parallel_threads(0) : THREADS;
  struct rounds open, hit, alone, together, near;
  char what[64];
  for (int i = 0; i < ROUNDS; i++) open.values[i] = time_opens(path, ctx);
  print_rounds("open", &open, 10, "ms");
  if (quietest_round(&open) < 0) {
    fprintf(stderr, "lookup_bench: %s\n", fail_text());
    return;
  }
  make_problems(problems, false);
  time_lookups(*ctx, problems, 1, HALOTUNE_MATCH_EXACT); /* loads the pages, as the start of any program does */
  for (int i = 0; i < ROUNDS; i++) {
    hit.values[i] = time_lookups(*ctx, problems, 20, HALOTUNE_MATCH_EXACT);
    alone.values[i] = time_threads(*ctx, problems, 1, cores);
    together.values[i] = time_threads(*ctx, problems, cores, cores);
  }
  print_rounds("hit, shuffled", &hit, 100, "ns");
  snprintf(what, sizeof what, "hit, %d threads on %d cores (alone %.1f)", cores, cores, quietest_round(&alone));
  print_rounds(what, &together, 1.1 * quietest_round(&alone), "ns");
  make_problems(problems, true);
  for (int i = 0; i < ROUNDS; i++) near.values[i] = time_lookups(*ctx, problems, 10, HALOTUNE_MATCH_NEAR_GRID);
  print_rounds("near grid", &near, 5000, "ns");
}

enum { RANDOM_PROBLEMS = 1000 };

/* A problem of the starter database's stencils on a random grid. */
static halotune_problem random_problem(uint64_t number) {
  static const struct {
    const char *name;
    int dims;
  } known[] = {{"star7", 3},  {"star13", 3},      {"star25", 3}, {"box27", 3},    {"wave25", 3},       {"gradient", 3},
               {"heat2d", 2}, {"diffusion2d", 2}, {"box2d9", 2}, {"advect1d", 1}, {"derivative_y", 3}, {"scan_z", 3}};
  const uint64_t key = 17 + number;
  const size_t kind = random_bits(key, 0) % COUNT(known);
  halotune_problem problem = {.stencil = known[kind].name,
                              .device = device_name,
                              .dtype = random_bits(key, 1) % 2 ? HALOTUNE_F64 : HALOTUNE_F32,
                              .launch = (halotune_launch_mode)(random_bits(key, 2) % 3)};
  for (int axis = 0; axis < known[kind].dims; axis++)
    problem.grid[axis] = 32 + (long long)(random_bits(key, 3 + (uint64_t)axis) % 1169);
  return problem;
}

/* Time each random problem; of several rounds the quietest counts.
 *   middle_ns, slowest_ns  receive the times of two of the problems
 * Returns how many were answered. */
static int time_random(halotune_ctx *ctx, double *middle_ns, double *slowest_ns) {
  static double times[RANDOM_PROBLEMS];
  int answered = 0;
  for (int i = 0; i < RANDOM_PROBLEMS; i++) times[i] = 1e12;
  for (int round = 0; round < 2 * ROUNDS; round++) {
    answered = 0;
    for (int i = 0; i < RANDOM_PROBLEMS; i++) {
      const halotune_problem problem = random_problem((uint64_t)i);
      halotune_config config;
      const double start = clock_ms();
      const bool is_answered = halotune_lookup(ctx, &problem, &config) == HALOTUNE_OK;
      const double time_ns = (clock_ms() - start) * 1e6;
      if (time_ns < times[i]) times[i] = time_ns;
      answered += is_answered;
      if (!is_answered && round == 0)
        fprintf(stderr, "lookup_bench: %s on %lldx%lldx%lld: %s\n", problem.stencil, problem.grid[0], problem.grid[1],
                problem.grid[2], halotune_error(ctx));
    }
  }
  *middle_ns = median(times, RANDOM_PROBLEMS); /* which sorts them */
  *slowest_ns = times[RANDOM_PROBLEMS - 1];
  return answered;
}

static void measure_random(const char *path) {
  halotune_ctx *ctx = NULL;
  struct rounds middle, slowest;
  double middle_ns = -1, slowest_ns = -1;
  if (access(path, R_OK) != 0) {
    printf("there is no %s\n", path);
    return;
  }
  if (halotune_open(&path, 1, &ctx) != HALOTUNE_OK) fprintf(stderr, "lookup_bench: %s\n", fail_text());
  const int answered = ctx ? time_random(ctx, &middle_ns, &slowest_ns) : 0;
  printf("%-40s %8d    of %d\n", "random problems that are answered", answered, RANDOM_PROBLEMS);
  checks++;
  failures += answered < RANDOM_PROBLEMS;
  for (int i = 0; i < ROUNDS && ctx; i++) middle.values[i] = middle_ns, slowest.values[i] = slowest_ns;
  if (ctx) print_rounds("random, the middle one", &middle, 5000, "ns");
  if (ctx) print_rounds("random, the slowest", &slowest, 5000, "ns");
  halotune_close(ctx);
}

int main(void) {
  char folder[] = "/tmp/halotune-lookup-XXXXXX", path[64];
  halotune_ctx *ctx = NULL;
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/tuned.db", folder);
  halotune_status status = make_database(path);
  struct stat facts = {.st_size = 0};
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    fstat(file, &facts);
    fsync(file); /* otherwise the file would be written to the disk during the measurement */
    close(file);
  }
  printf("%d problems, %.0f MB\n", ROWS, (double)facts.st_size / 1e6);
  if (status == HALOTUNE_OK) {
    measure_database(path, &ctx);
    measure_random("build/starter.db");
    if (failures) printf("%d of %d limits missed\n", failures, checks);
    else printf("all %d limits kept\n", checks);
  } else {
    fprintf(stderr, "lookup_bench: %s\n", fail_text());
    failures++;
  }
  halotune_close(ctx);
  unlink(path);
  rmdir(folder);
  return failures > 0;
}
