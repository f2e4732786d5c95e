/* near_gpu_bench.c: what the answers of lookups are worth on a GPU, for problems that a database does not hold. Each
 * problem is searched; what the lookup serves runs in the finals of its search. A row tells both times, their ratio in
 * the same rounds, and the time that the lookup expects.
 *
 *   near_gpu_bench [OPTION]... [-- OPTION OF TUNE...]
 *     --db FILE         the database that answers; build/starter.db
 *     --work FOLDER     rows and databases; build/near. The same command with the same folder goes on
 *     --questions FILE  a line for each problem: stencil or file, element type, grid; else random ones:
 *     --count N         so many; 200
 *     --seed N          of the random problems; 1
 *     --most-points N   of a random problem, 32768 at least; 600000000
 *     --budget S        seconds for each search; 10
 *     --quick S         before it, search for so many seconds without its results, and tell what that winner is worth
 *     --seconds S       begin no search later; without it there is no limit
 *     --devices LIST    the GPUs, which search at the same time; 0
 *     --program FILE    build/halotune
 *
 * Prints a table of all rows that the folder has. It needs neither a compiler nor another program. Exit code 1: some
 * lookup had no answer, or an answer could not run. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
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
#include "base/system/process.h"
#include "db/store/query.h"
#include "db/store/store.h"

/* The shortest side of a random grid, and the points of the smallest one in three dimensions. */
enum { LEAST_SIDE = 32, LEAST_POINTS = LEAST_SIDE * LEAST_SIDE * LEAST_SIDE };
enum { MOST_QUESTIONS = 4096, MOST_DEVICES = 16, MOST_ARGUMENTS = 64, NAME_BYTES = 512 };

static const struct {
  const char *name;
  int dims;
} stencils[] = {{"star7", 3},  {"box27", 3},  {"star13", 3},      {"star25", 3},
                {"wave25", 3}, {"heat2d", 2}, {"diffusion2d", 2}, {"box2d9", 2}};

struct question {
  char stencil[NAME_BYTES]; /* name, or file */
  enum dtype dtype;
  long long grid[3];
  bool is_done;
};

/* What the search of a question found. */
struct found {
  double best_ms, answer_ms, ratio, low, high; /* the interval is NaN where the answer was not in the finals */
  double quick_ratio;                          /* the time of the quick search's winner over best_ms; NaN without one */
  long tried;
  char device[128], launch[16];
};

/* A configuration that one search found, to be looked for in another one. */
struct sought {
  char template_name[64], parameters[2048];
  double time_ms;
};

static struct {
  const char *db, *work, *questions, *program, *devices;
  long count, seed, most_points;
  double budget_s, quick_s, seconds;
  char **of_tune;
  int of_tune_count;
} options = {"build/starter.db", "build/near", NULL, "build/halotune", "0",  200, 1,
             600000000,          10,           NAN,  INFINITY,         NULL, 0};

static struct question questions[MOST_QUESTIONS];
static int question_count, next_question;
static FILE *rows;
static double end_ms;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A sequence of random numbers. */
struct random {
  uint64_t key, index;
};

static double random_unit(struct random *random) {
  return (double)(random_bits(random->key, random->index++) >> 11) / 9007199254740992.0;
}

static size_t random_below(struct random *random, size_t count) {
  return (size_t)(random_unit(random) * (double)count);
}

/* A side of a random grid: the logarithm is uniform. A third are multiples of 32, a third multiples of 4. */
static long long random_side(struct random *random, double least, double most) {
  static const int multiples[] = {32, 4, 1};
  const int multiple = multiples[random_below(random, COUNT(multiples))];
  const double side = least * pow(most / least, random_unit(random));
  long long whole = llround(side / multiple) * multiple;
  if (whole > (long long)most) whole -= multiple;
  return whole < (long long)least ? (long long)least : whole;
}

/* Make the random problems. Half of the grids have sides of equal length. */
static void make_questions(void) {
  struct random random = {(uint64_t)options.seed, 0};
  question_count = (int)options.count;
  for (int i = 0; i < question_count; i++) {
    struct question *q = &questions[i];
    const int kind = (int)(random_below(&random, COUNT(stencils)));
    const bool is_cube = random_below(&random, 2) == 0;
    const double most = stencils[kind].dims == 2 ? 9600 : 1200;
    snprintf(q->stencil, sizeof q->stencil, "%s", stencils[kind].name);
    q->dtype = random_below(&random, 2) ? DTYPE_F64 : DTYPE_F32;
    do {
      const long long first = random_side(&random, LEAST_SIDE, most);
      for (int axis = 0; axis < 3; axis++)
        q->grid[axis] = axis >= stencils[kind].dims ? 1
                        : axis == 0 || is_cube      ? first
                                                    : random_side(&random, LEAST_SIDE, most);
    } while (q->grid[0] * q->grid[1] * q->grid[2] > options.most_points);
  }
}

/* Read the problems of a file. */
static halotune_status read_questions(const char *path) {
  char line[1024], dtype[16], grid[64];
  FILE *file = fopen(path, "r");
  if (!file) return fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  while (fgets(line, sizeof line, file) && question_count < MOST_QUESTIONS) {
    struct question *q = &questions[question_count];
    *q = (struct question){.grid = {1, 1, 1}};
    line[strcspn(line, "#\n")] = '\0';
    if (sscanf(line, "%511s %15s %63s", q->stencil, dtype, grid) != 3) continue;
    q->dtype = strcmp(dtype, dtype_names[DTYPE_F64]) == 0 ? DTYPE_F64 : DTYPE_F32;
    char *at = grid;
    for (int axis = 0; axis < 3 && *at; axis++) {
      q->grid[axis] = strtoll(at, &at, 10);
      at += *at == ',';
    }
    question_count++;
  }
  fclose(file);
  return HALOTUNE_OK;
}

/* Write how the rows name a question. */
static void question_text(const struct question *q, char *text, size_t bytes) {
  const char *slash = strrchr(q->stencil, '/');
  snprintf(text, bytes, "%.255s\t%s\t%lldx%lldx%lld", slash ? slash + 1 : q->stencil, dtype_names[q->dtype], q->grid[0],
           q->grid[1], q->grid[2]);
}

/* Pass over the questions of which the folder has rows. */
static void skip_done(const char *path) {
  char line[4096], text[NAME_BYTES + 128];
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file)) {
    for (int i = 0; i < question_count; i++) {
      question_text(&questions[i], text, sizeof text);
      const size_t length = strlen(text);
      if (strncmp(line, text, length) == 0 && line[length] == '\t') questions[i].is_done = true;
    }
  }
  if (file) fclose(file);
}

/* Search a question. The program's output goes to a file. */
static halotune_status search_question(const struct question *q, double budget_s, const char *device,
                                       const char *database, const char *log) {
  const char *arguments[MOST_ARGUMENTS];
  char grid[96], budget[32], *digits;
  int count = 0;
  struct process_result result;
  struct text input = {0}, output = {0};
  const double hour_ms = 3.6e6;
  snprintf(grid, sizeof grid, "%lld,%lld,%lld", q->grid[0], q->grid[1], q->grid[2]);
  for (int axis = 2; axis > 0 && q->grid[axis] == 1 && (digits = strrchr(grid, ',')); axis--) *digits = '\0';
  snprintf(budget, sizeof budget, "%gs", budget_s);
  const char *const usual[] = {options.program, "tune", q->stencil, "--dtype", dtype_names[q->dtype],
                               "--grid",        grid,   "--steps",  "1",       "--budget",
                               budget,          "--db", database,   "--hints", options.db};
  for (size_t i = 0; i < COUNT(usual); i++) arguments[count++] = usual[i];
  if (*device) {
    arguments[count++] = "--device";
    arguments[count++] = device;
  }
  for (int i = 0; i < options.of_tune_count && count < MOST_ARGUMENTS - 1; i++) arguments[count++] = options.of_tune[i];
  arguments[count] = NULL;
  halotune_status status =
      process_run(arguments, NULL, &input, -1, (int)fmin(hour_ms, 600e3 + 1e4 * budget_s), NULL, &output, &result);
  FILE *file = fopen(log, "w");
  if (file && text_ok(&output)) fputs(text_string(&output), file);
  if (file) fclose(file);
  text_free(&output);
  return status;
}

static const char sql_run[] =
    "select p.launch, d.name, f.median_ms, (select count(*) from measurement m where m.run_id = r.id) from run r"
    " join problem p on p.id = r.problem_id join device d on d.id = p.device_id"
    " join finalist f on f.run_id = r.id and f.rank = 1 order by r.id desc limit 1";
static const char sql_answer[] =
    "select f.median_ms, f.ratio, f.ratio_low, f.ratio_high, m.median_ms from measurement m"
    " join variant v on v.id = m.variant_id join template t on t.id = v.template_id"
    " left join finalist f on f.variant_id = v.id and f.run_id = m.run_id"
    " where t.name = ?1 and v.parameters = ?2 and m.median_ms > 0 order by f.rank is null, m.id desc limit 1";

static const char sql_winner[] =
    "select t.name, v.parameters, f.median_ms from finalist f join variant v on v.id = f.variant_id"
    " join template t on t.id = v.template_id where f.rank = 1 order by f.run_id desc limit 1";

/* Read what the search found. Returns false if it has no winner. */
static bool read_run(sqlite3 *connection, struct found *out) {
  sqlite3_stmt *query = NULL;
  if (query_prepare(connection, sql_run, &query) != HALOTUNE_OK) return false;
  const bool has_winner = sqlite3_step(query) == SQLITE_ROW;
  if (has_winner) {
    snprintf(out->launch, sizeof out->launch, "%s", column_text(query, 0));
    snprintf(out->device, sizeof out->device, "%s", column_text(query, 1));
    out->best_ms = column_real(query, 2);
    out->tried = (long)sqlite3_column_int64(query, 3);
  }
  sqlite3_finalize(query);
  return has_winner;
}

/* Read the time of a configuration, and its ratio to the winner: in the same rounds where it was in the finals. */
static void read_answer(sqlite3 *connection, const char *template_name, const char *parameters, struct found *out) {
  sqlite3_stmt *query = NULL;
  out->answer_ms = out->ratio = out->low = out->high = NAN;
  if (query_prepare(connection, sql_answer, &query) != HALOTUNE_OK) return;
  sqlite3_bind_text(query, 1, template_name, -1, SQLITE_STATIC);
  sqlite3_bind_text(query, 2, parameters, -1, SQLITE_STATIC);
  if (sqlite3_step(query) == SQLITE_ROW) {
    const bool is_finalist = sqlite3_column_type(query, 0) != SQLITE_NULL;
    out->answer_ms = column_real(query, is_finalist ? 0 : 4);
    out->ratio = is_finalist ? column_real(query, 1) : out->answer_ms / out->best_ms;
    out->low = column_real(query, 2);
    out->high = column_real(query, 3);
  }
  sqlite3_finalize(query);
}

/* Read the winner of a database with one run. Returns HALOTUNE_OK, HALOTUNE_DB, or HALOTUNE_NOT_FOUND. */
static halotune_status read_winner(const char *database, struct sought *out) {
  struct store *store = NULL;
  sqlite3_stmt *query = NULL;
  halotune_status status = store_open(database, STORE_READ, &store);
  if (status == HALOTUNE_OK) status = query_prepare(store_connection(store), sql_winner, &query);
  if (status == HALOTUNE_OK && sqlite3_step(query) == SQLITE_ROW) {
    snprintf(out->template_name, sizeof out->template_name, "%s", column_text(query, 0));
    snprintf(out->parameters, sizeof out->parameters, "%s", column_text(query, 1));
    out->time_ms = column_real(query, 2);
  } else if (status == HALOTUNE_OK) {
    status = fail(HALOTUNE_NOT_FOUND, "%s: no winner", database);
  }
  sqlite3_finalize(query);
  store_close(store);
  return status;
}

/* Search a question for the few seconds of --quick. */
static halotune_status search_quickly(const struct question *q, int number, const char *device, struct sought *out) {
  char database[NAME_BYTES], log[NAME_BYTES];
  snprintf(database, sizeof database, "%s/%04d.quick.db", options.work, number);
  snprintf(log, sizeof log, "%s/%04d.quick.log", options.work, number);
  unlink(database);
  const double start_ms = clock_ms();
  const halotune_status status = search_question(q, options.quick_s, device, database, log);
  fprintf(stderr, "quick search %d took %.1f s\n", number, 1e-3 * (clock_ms() - start_ms));
  return status == HALOTUNE_OK ? read_winner(database, out) : status;
}

/* The time of the quick search's winner over the best one. If the long search did not try it, the times of two runs are
 * compared. */
static double quick_ratio(sqlite3 *connection, const struct sought *quick, const struct found *found) {
  struct found again = *found;
  read_answer(connection, quick->template_name, quick->parameters, &again);
  return isnan(again.ratio) ? quick->time_ms / found->best_ms : again.ratio;
}

/* Look the question up as a program does on the GPU of the search. */
static halotune_status look_up(halotune_ctx *ctx, const struct question *q, const struct found *found,
                               halotune_config *out) {
  halotune_problem problem = {.stencil = q->stencil,
                              .device = found->device,
                              .grid = {q->grid[0], q->grid[1], q->grid[2]},
                              .dtype = (halotune_dtype)q->dtype,
                              .launch =
                                  strcmp(found->launch, "graph") == 0 ? HALOTUNE_LAUNCH_GRAPH : HALOTUNE_LAUNCH_STREAM,
                              .cache = HALOTUNE_CACHE_STEADY};
  char name[NAME_BYTES];
  char *text = NULL;
  size_t length;
  halotune_status status = HALOTUNE_OK;
  if (strchr(q->stencil, '/')) { /* a file of bench/stencil.sh, which is named after its stencil */
    const char *slash = strrchr(q->stencil, '/') + 1;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(slash, "."), slash);
    status = file_read(q->stencil, 1 << 20, &text, &length);
    if (status == HALOTUNE_OK) status = halotune_stencil_add(ctx, text);
    free(text);
    problem.stencil = name;
  }
  return status == HALOTUNE_OK ? halotune_lookup(ctx, &problem, out) : status;
}

/* In a row, the match of a lookup without an answer. */
static const char no_match[] = "none";

/* Write the row of a question to which the lookup has no answer. */
static void write_no_answer(const struct question *q, const struct found *f) {
  char text[NAME_BYTES + 128];
  question_text(q, text, sizeof text);
  pthread_mutex_lock(&lock);
  fprintf(rows, "%s\t%s\t-\t0x0x0\t%s\tnan\t%.6g\tnan\tnan\tnan\tnan\tnan\t%ld\t%.4f\t-\t-\n", text, no_match,
          f->launch, f->best_ms, f->tried, f->quick_ratio);
  fflush(rows);
  pthread_mutex_unlock(&lock);
  fprintf(stderr, "%s: no answer: %s\n", text, fail_text());
}

/* Write the row of a question. */
static void write_row(const struct question *q, const struct found *f, const halotune_config *config) {
  char text[NAME_BYTES + 128];
  question_text(q, text, sizeof text);
  pthread_mutex_lock(&lock);
  fprintf(rows, "%s\t%s\t%s\t%lldx%lldx%lld\t%s\t%.6g\t%.6g\t%.4f\t%.4f\t%.4f\t%.6g\t%.4f\t%ld\t%.4f\t%s\t%s\n", text,
          halotune_match_name(config->match), config->measured_stencil, config->measured_grid[0],
          config->measured_grid[1], config->measured_grid[2], f->launch, f->answer_ms, f->best_ms, f->ratio, f->low,
          f->high, config->expected_ms, config->expected_error, f->tried, f->quick_ratio, config->template_name,
          config->parameters);
  fflush(rows);
  pthread_mutex_unlock(&lock);
  fprintf(stderr, "%s: %s, %.4f times the best of %ld, expected %+.1f %%\n", text, halotune_match_name(config->match),
          f->ratio, f->tried, 100 * (config->expected_ms / f->answer_ms - 1));
}

static halotune_status answer_question(halotune_ctx *ctx, int number, const char *device) {
  const struct question *q = &questions[number];
  char database[NAME_BYTES], log[NAME_BYTES];
  struct store *store = NULL;
  struct found found = {.best_ms = NAN, .quick_ratio = NAN};
  struct sought quick;
  const bool is_quick = !isnan(options.quick_s);
  halotune_config config;
  snprintf(database, sizeof database, "%s/%04d.db", options.work, number);
  snprintf(log, sizeof log, "%s/%04d.log", options.work, number);
  unlink(database);
  halotune_status status = is_quick ? search_quickly(q, number, device, &quick) : HALOTUNE_OK;
  if (status == HALOTUNE_OK) status = search_question(q, options.budget_s, device, database, log);
  if (status == HALOTUNE_OK) status = store_open(database, STORE_READ, &store);
  if (status == HALOTUNE_OK && !read_run(store_connection(store), &found))
    status = fail(HALOTUNE_NOT_FOUND, "no winner; see %s", log);
  const bool is_found = status == HALOTUNE_OK;
  if (is_found && is_quick) found.quick_ratio = quick_ratio(store_connection(store), &quick, &found);
  if (is_found) status = look_up(ctx, q, &found, &config);
  if (is_found && status == HALOTUNE_NOT_FOUND) {
    write_no_answer(q, &found);
    status = HALOTUNE_OK;
  } else if (status == HALOTUNE_OK) {
    read_answer(store_connection(store), config.template_name, config.parameters, &found);
    write_row(q, &found, &config);
  }
  store_close(store);
  return status;
}

/* The questions of one GPU, one after the other. */
struct worker {
  pthread_t thread;
  halotune_ctx *ctx;
  char device[16];
};

static void *work_on_device(void *state) {
  struct worker *worker = state;
  for (;;) {
    pthread_mutex_lock(&lock);
    while (next_question < question_count && questions[next_question].is_done) next_question++;
    const int number = clock_ms() < end_ms && next_question < question_count ? next_question++ : -1;
    pthread_mutex_unlock(&lock);
    if (number < 0) return NULL;
    if (answer_question(worker->ctx, number, worker->device) != HALOTUNE_OK)
      fprintf(stderr, "near_gpu_bench: question %d: %s\n", number, fail_text());
  }
}

static halotune_status work_all(void) {
  struct worker workers[MOST_DEVICES];
  int count = 0;
  char *starter = NULL;
  halotune_ctx *ctx = NULL;
  halotune_status status = store_starter_path(&starter);
  const bool has_starter =
      status == HALOTUNE_OK && store_starter_is_usable(starter) && !file_is_same(starter, options.db);
  const char *const paths[] = {options.db, starter};
  if (status == HALOTUNE_OK) status = halotune_open(paths, has_starter ? 2 : 1, &ctx); /* as tune opens them */
  for (const char *at = options.devices; status == HALOTUNE_OK && count < MOST_DEVICES; at++) {
    struct worker *worker = &workers[count++];
    *worker = (struct worker){.ctx = ctx};
    snprintf(worker->device, sizeof worker->device, "%.*s", (int)strcspn(at, ","), at);
    if (pthread_create(&worker->thread, NULL, work_on_device, worker) != 0)
      status = fail(HALOTUNE_MEMORY, "no more threads");
    if (status != HALOTUNE_OK) count--;
    at += strcspn(at, ",");
    if (!*at) break;
  }
  for (int i = 0; i < count; i++) pthread_join(workers[i].thread, NULL);
  halotune_close(ctx);
  free(starter);
  return status;
}

static void print_spread(const char *what, double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare_doubles);
  if (count > 0)
    printf("| %s | %d | %.3f | %.3f | %.3f | %.3f |\n", what, count, values[count / 2], values[count * 9 / 10],
           values[count * 95 / 100], values[count - 1]);
}

/* Print the rows of the folder as a table, and their spread.
 *   failed  receives how many lookups had no answer, or one that could not run */
static halotune_status print_table(const char *path, int *failed) {
  static double ratios[MOST_QUESTIONS], errors[MOST_QUESTIONS], quick[MOST_QUESTIONS];
  char line[4096], stencil[256], dtype[16], grid[64], match[32], of[256], of_grid[64], launch[16];
  double ms, best_ms, ratio, low, high, expected_ms, sigma, quick_ratio;
  long tried;
  int quick_count = 0, count = 0, expected = 0, unanswered = 0, not_run = 0;
  FILE *file = fopen(path, "r");
  *failed = 0;
  if (!file) return fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  printf("| stencil | type | grid | answer | of | us | best, us | ratio | expected, us | tried |\n"
         "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  while (fgets(line, sizeof line, file) && count < MOST_QUESTIONS) {
    if (sscanf(
            line,
            "%255[^\t]\t%15[^\t]\t%63[^\t]\t%31[^\t]\t%255[^\t]\t%63[^\t]\t%15[^\t]\t%lf\t%lf\t%lf\t%lf\t%lf\t%lf\t%lf\t%ld\t%lf",
            stencil, dtype, grid, match, of, of_grid, launch, &ms, &best_ms, &ratio, &low, &high, &expected_ms, &sigma,
            &tried, &quick_ratio) != 16)
      continue;
    printf("| %s | %s | %s | %s | %s %s | %.2f | %.2f | %.3f | %.2f | %ld |\n", stencil, dtype, grid, match, of,
           of_grid, 1e3 * ms, 1e3 * best_ms, ratio, 1e3 * expected_ms, tried);
    if (!isnan(quick_ratio)) quick[quick_count++] = quick_ratio;
    if (strcmp(match, no_match) == 0) unanswered++;
    else not_run += isnan(ratio);
    if (isnan(ratio)) continue;
    ratios[count++] = ratio;
    if (!isnan(expected_ms)) errors[expected++] = fabs(expected_ms / ms - 1);
  }
  fclose(file);
  printf("\n| | answers | median | 90 %% | 95 %% | worst |\n| --- | --- | --- | --- | --- | --- |\n");
  print_spread("time over the best of the search", ratios, count);
  print_spread("error of expected_ms", errors, expected);
  print_spread("the quick winner's time over the best of the search", quick, quick_count);
  const int answers = count + not_run;
  if (not_run > 0) printf("\n%d of %d answers could not run\n", not_run, answers);
  if (unanswered > 0) printf("\n%d of %d lookups had no answer\n", unanswered, answers + unanswered);
  *failed = not_run + unanswered;
  return HALOTUNE_OK;
}

/* Read the options. Returns false if one is unknown. */
static bool read_options(int argc, char **argv) {
  for (int i = 1; i < argc; i += 2) {
    if (strcmp(argv[i], "--") == 0) {
      options.of_tune = argv + i + 1;
      options.of_tune_count = argc - i - 1;
      return true;
    }
    const struct {
      const char *name, **text;
      long *number;
      double *real;
    } known[] = {{"--db", &options.db, NULL, NULL},
                 {"--work", &options.work, NULL, NULL},
                 {"--questions", &options.questions, NULL, NULL},
                 {"--program", &options.program, NULL, NULL},
                 {"--devices", &options.devices, NULL, NULL},
                 {"--count", NULL, &options.count, NULL},
                 {"--seed", NULL, &options.seed, NULL},
                 {"--most-points", NULL, &options.most_points, NULL},
                 {"--budget", NULL, NULL, &options.budget_s},
                 {"--quick", NULL, NULL, &options.quick_s},
                 {"--seconds", NULL, NULL, &options.seconds}};
    size_t at = 0;
    while (at < COUNT(known) && strcmp(known[at].name, argv[i]) != 0) at++;
    if (at == COUNT(known) || i + 1 == argc) return false;
    if (known[at].text) *known[at].text = argv[i + 1];
    if (known[at].number) *known[at].number = strtol(argv[i + 1], NULL, 10);
    if (known[at].real) *known[at].real = strtod(argv[i + 1], NULL);
  }
  return true;
}

int main(int argc, char **argv) {
  char path[NAME_BYTES];
  int failed = 0;
  if (!read_options(argc, argv) || options.count < 1 || options.count > MOST_QUESTIONS ||
      options.most_points < LEAST_POINTS) {
    fprintf(stderr, "usage: near_gpu_bench [OPTION]... [-- OPTION OF TUNE...]; its source explains the options\n");
    return 2;
  }
  end_ms = clock_ms() + 1e3 * options.seconds;
  mkdir(options.work, 0777);
  snprintf(path, sizeof path, "%s/rows.tsv", options.work);
  halotune_status status = HALOTUNE_OK;
  if (options.questions) status = read_questions(options.questions);
  else make_questions();
  skip_done(path);
  if (status == HALOTUNE_OK && !(rows = fopen(path, "a"))) status = fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  if (status == HALOTUNE_OK) status = work_all();
  if (rows) fclose(rows);
  if (status == HALOTUNE_OK) status = print_table(path, &failed);
  if (status != HALOTUNE_OK) fprintf(stderr, "near_gpu_bench: %s\n", fail_text());
  return status != HALOTUNE_OK || failed > 0;
}
