/* search_bench.c: how fast strategies find the best of a space whose times are all known.
 *
 *   search_bench [--seeds 30] [--strategy NAME] [--space NAME]
 *   search_bench --recording DATABASE [--known WHAT=DATABASE]... [--seeds 30] [--strategy NAME]
 *
 * Prints a row of a table for each space, strategy and number of variants in flight: the share of the best (its time
 * divided by the best time that was found) after 50, 100 and 200 results, a failure counting as a result. It is the
 * mean over the seeds, with the half width of its 95 % interval. Behind it are the number of results (a strategy may
 * end early) and the milliseconds of processor time that a proposal takes.
 *
 * Spaces are formulas below, or a recording: the newest times of the problem that has the most results in a database.
 * bench/record.sh makes recordings. `model` also runs with what each database of --known has of other problems: a tune
 * with this database as --hints reads the same. WHAT is printed in the row.
 *
 * The formulas imitate what makes real spaces hard: parameters that only matter together, steps of occupancy, whole
 * waves of blocks, and variants that fail for reasons that no rule tells. Formulas are synthetic. For them, `model`
 * also runs with times of another made-up GPU, which has other limits, other costs, and other variants that fail: the
 * results of one search of 1000 variants ("run"), or the whole space. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory/array.h"
#include "base/numbers/random.h"
#include "db/store/launch_text.h"
#include "db/store/query.h"
#include "db/store/sql_parts.h"
#include "db/store/store.h"
#include "gpu/architecture/arch.h"
#include "stencil/template/template_read.h"
#include "tuner/cli/options/command_words.h"
#include "tuner/cli/options/templates.h"
#include "tuner/measure/backends/backend_replay.h"
#include "tuner/search/hints/other_problems.h"
#include "tuner/search/strategy/strategy.h"
#include "tuner/search/variants/proposals.h"
#include "tuner/search/variants/task.h"

enum { MOST_TEMPLATES = 64, MOST_RESULTS = 200, MOST_WAITING = 15, MOST_KNOWN = 8 };
static const int shown_after[] = {50, 100, 200};

static void check_status(halotune_status status) {
  if (status == HALOTUNE_OK) return;
  fprintf(stderr, "search_bench: %s: %s\n", halotune_strstatus(status), fail_text());
  exit(1);
}

/* A random number from 0 to 1 that belongs to a key. */
static double unit_of(uint64_t key, uint64_t index) { return (double)(random_bits(key, index) >> 11) * 0x1p-53; }

/* What a formula knows of a GPU. */
struct made_up_gpu {
  double threads_sm, shared_kb, blocks_sm, multiprocessors;
  double computing; /* its cost, relative to memory's */
  double own;       /* the share of random costs that only this GPU has */
  uint64_t key;     /* of them */
};

/* The GPU that is searched, and another one whose times are known. */
static const struct made_up_gpu this_gpu = {2048, 227, 32, 132, 1, 0, 0};
static const struct made_up_gpu other_gpu = {1536, 99, 24, 128, 0.7, 0.25, 5000};

/* A space that is a formula. */
struct formula_space {
  const char *name, *about;
  const char *parameters[3], *rules[3]; /* of up to three templates; NULL behind the last */
  double (*time_ms)(const struct formula_space *space, int template, const double values[]); /* INFINITY: it fails */
  double limit; /* of registers: fewer make more variants fail */
  const struct made_up_gpu *gpu;
};

static double number_of(const double values[], int count, uint64_t key) {
  uint64_t own = key;
  for (int i = 0; i < count; i++) own = random_bits(own, (uint64_t)(values[i] * 16));
  return unit_of(own, 0);
}

/* A random number that belongs to a key, part of which only this GPU has. */
static double cost_of(const struct formula_space *space, uint64_t key, uint64_t index) {
  const struct made_up_gpu *gpu = space->gpu;
  return (1 - gpu->own) * unit_of(key, index) + gpu->own * unit_of(key + gpu->key, index);
}

/* Whether a random one of so many variants fails. On another GPU, other ones fail in part. */
static bool fails(const struct formula_space *space, double number, double share) {
  return fmod(number + space->gpu->own * share, 1) < share;
}

/* How many blocks a multiprocessor holds; 0: none. */
static double blocks_of(const struct made_up_gpu *gpu, double threads, double registers, double shared_bytes) {
  const double by_threads = gpu->threads_sm / threads, by_registers = 65536 / (registers * threads);
  const double by_shared = shared_bytes > 0 ? gpu->shared_kb * 1024 / shared_bytes : gpu->blocks_sm;
  return floor(fmin(fmin(by_threads, by_registers), fmin(by_shared, gpu->blocks_sm)));
}

/* The larger of two times that partly overlap. */
static double overlapped(double a, double b) { return pow(pow(a, 4) + pow(b, 4), 0.25); }

/* Blocks run in waves, and the last wave may be nearly empty. */
static double waves_of(double blocks, double at_a_time) { return ceil(blocks / at_a_time) / (blocks / at_a_time); }

/* A 2D convolution of 9x9 points: block_x, block_y, tile_x, tile_y, unroll, vector, padding, cache. */
static double convolution_ms(const struct formula_space *space, int template, const double v[]) {
  (void)template;
  const double threads = v[0] * v[1], width = v[0] * v[2] * v[5], height = v[1] * v[3], points = v[2] * v[3] * v[5];
  const double registers = 18 + 2.2 * points + 3 * v[4], shared = v[7] == 2 ? (width + 8 + v[6]) * (height + 8) * 4 : 0;
  const double blocks = blocks_of(space->gpu, threads, fmin(registers, 255), shared);
  if (registers > space->limit || blocks < 1) return INFINITY;
  const double halo = (width + 8) * (height + 8) / (width * height);
  const double traffic = v[7] == 2 ? halo : 1 + (halo - 1) * (v[7] == 1 ? 1.3 : 1.8);
  const double narrow = v[0] * v[5] < 32 ? sqrt(32 / (v[0] * v[5])) : 1;
  const double busy = fmin(1, blocks * threads / space->gpu->threads_sm * pow(points, 0.5) / 0.8);
  const double conflicts = v[7] == 2 && v[6] == 0 && fmod(width, 32) == 0 ? 1.35 : 1;
  const double computing = 0.55 * space->gpu->computing * (1 + 0.4 / v[4] + 0.8 / points) * conflicts;
  const double waves = waves_of(4096.0 * 4096 / (width * height), space->gpu->multiprocessors * blocks);
  return overlapped(traffic * narrow / busy, computing) * waves * (1 + 0.03 * number_of(v, 8, 1 + space->gpu->key));
}

/* A matrix product: block_m, block_n, depth, threads_m, threads_n, vector_m, vector_n, share_a, share_b, stages. */
static double product_ms(const struct formula_space *space, int template, const double v[]) {
  (void)template;
  const double threads = v[3] * v[4], points_m = v[0] / v[3], points_n = v[1] / v[4], points = points_m * points_n;
  const double registers = 24 + points + 2 * (points_m + points_n);
  const double shared = 4 * v[9] * v[2] * (v[7] * v[0] + v[8] * v[1]);
  const double blocks = blocks_of(space->gpu, threads, fmin(registers, 255), shared);
  if (registers > space->limit || blocks < 1 || points_m < v[5] || points_n < v[6]) return INFINITY;
  const double a = 1 / (v[1] * (v[7] ? 1 : 0.3)), b = 1 / (v[0] * (v[8] ? 1 : 0.3));
  const double traffic = 40 * (a + b) * (1 + 0.3 / v[5] + 0.3 / v[6]);
  const double busy = fmin(1, blocks * threads / space->gpu->threads_sm * (1 + 0.4 * (v[9] - 1)) * sqrt(points) / 3);
  const double computing = space->gpu->computing * (1 + 1.5 / points_m + 1.5 / points_n + 4 / v[2]) / busy;
  const double waves = waves_of(4096.0 * 4096 / (v[0] * v[1]), space->gpu->multiprocessors * blocks);
  return overlapped(traffic, computing) * waves * (1 + 0.03 * number_of(v, 10, 2 + space->gpu->key));
}

/* Three templates with parameters of the same names. Costs of a parameter are a valley, whose place depends on another
 * parameter; one value in ten of two parameters together fails. */
static double valleys_ms(const struct formula_space *space, int template, const double v[]) {
  static const double base[] = {1.25, 1, 1.05};
  const int count = template == 2 ? 7 : 6;
  double time = base[template];
  for (int i = 0; i < count; i++) {
    const int other = (i + 1) % count;
    const double key = template * 10 + i, own = log2(v[i] + 1), beside = log2(v[other] + 1);
    const double valley = 1 + 3 * cost_of(space, 7, (uint64_t)key) + (cost_of(space, 8, (uint64_t)key) - 0.5) * beside;
    time *= 1 + (0.03 + 0.1 * cost_of(space, 9, (uint64_t)key)) * (own - valley) * (own - valley);
  }
  if (fails(space, number_of(v + 1, 2, (uint64_t) template + 3), 0.1)) return INFINITY;
  return time * (1 + 0.03 * number_of(v, count, 4 + space->gpu->key));
}

/* No order of values at all: a random cost of each value, and of each pair of values of neighbouring parameters. */
static double pairs_ms(const struct formula_space *space, int template, const double v[]) {
  double time = 1 + 0.2 * template;
  for (int i = 0; i < 6; i++) {
    const uint64_t key = 100 * (uint64_t) template + (uint64_t)i, own = (uint64_t)(v[i] * 4),
                   next = (uint64_t)(v[(i + 1) % 6] * 4);
    time *= 1 + 0.5 * cost_of(space, 20 + key, own);
    time *= 1 + 0.3 * cost_of(space, 1000 + key, own * 4096 + next);
  }
  if (fails(space, number_of(v, 6, 5), 1.0 / 16)) return INFINITY;
  return time * (1 + 0.03 * number_of(v, 6, 6 + space->gpu->key));
}

#define CONVOLUTION                                                                                                 \
  "block_x: {values: [16, 32, 48, 64, 80, 96, 112, 128, 192, 256], default: 64, about: x}, "                        \
  "block_y: {values: [1, 2, 4, 8, 16, 32], default: 1, about: x}, "                                                 \
  "tile_x: {values: [1, 2, 3, 4, 5, 6, 7, 8], default: 1, about: x}, "                                              \
  "tile_y: {values: [1, 2, 3, 4, 5, 6, 7, 8], default: 1, about: x}, unroll: {values: [1, 2, 4, 8], default: 1, "   \
  "about: x}, vector: {values: [1, 2, 4], default: 1, about: x}, padding: {values: [0, 1], default: 0, about: x}, " \
  "cache: {values: [plain, readonly, shared], default: plain, about: x}"
#define CONVOLUTION_RULES                                                                            \
  "{keep: 'block_x*block_y <= 1024', otherwise: x}, {keep: 'block_x*block_y >= 32', otherwise: x}, " \
  "{keep: 'padding == 0 || cache == 2', otherwise: x}"
#define PRODUCT                                                                                                         \
  "block_m: {values: [16, 32, 64, 128, 256], default: 64, about: x}, "                                                  \
  "block_n: {values: [16, 32, 64, 128, 256], default: 64, about: x}, "                                                  \
  "depth: {values: [8, 16, 32, 64], default: 8, about: x}, threads_m: {values: [4, 8, 16, 32], default: 8, about: x}, " \
  "threads_n: {values: [4, 8, 16, 32], default: 8, about: x}, vector_m: {values: [1, 2, 4, 8], default: 1, about: x}, " \
  "vector_n: {values: [1, 2, 4, 8], default: 1, about: x}, share_a: {values: [0, 1], default: 1, about: x}, "           \
  "share_b: {values: [0, 1], default: 1, about: x}, stages: {values: [1, 2, 3, 4], default: 1, about: x}"
#define PRODUCT_RULES                                                                                              \
  "{keep: 'block_m >= threads_m*vector_m', otherwise: x}, {keep: 'block_n >= threads_n*vector_n', otherwise: x}, " \
  "{keep: 'threads_m*threads_n >= 32', otherwise: x}"
#define VALLEYS                                                                                                          \
  "bx: {values: [1, 2, 4, 8, 16, 32, 64], default: 4, about: x}, by: {values: [1, 2, 4, 8, 16], default: 1, about: x}, " \
  "bz: {values: [1, 2, 4, 8], default: 1, about: x}, px: {values: [1, 2, 3, 4], default: 1, about: x}, "                 \
  "py: {values: [1, 2, 3, 4], default: 1, about: x}, mode: {values: [flat, edge, deep], default: flat, about: x}"
#define VALLEYS_RULES "{keep: 'bx*by*bz <= 512', otherwise: x}"

static const struct formula_space formulas[] = {
    {"convolution", "8 parameters, few failures", {CONVOLUTION}, {CONVOLUTION_RULES}, convolution_ms, 255, &this_gpu},
    {"convolution, tight",
     "the same with fewer registers: most fail",
     {CONVOLUTION},
     {CONVOLUTION_RULES},
     convolution_ms,
     56,
     &this_gpu},
    {"product", "10 parameters", {PRODUCT}, {PRODUCT_RULES}, product_ms, 255, &this_gpu},
    {"valleys",
     "three templates",
     {VALLEYS, VALLEYS, VALLEYS ", unroll: {values: [1, 2, 3, 4, 5, 6], default: 1, about: x}"},
     {VALLEYS_RULES, VALLEYS_RULES, VALLEYS_RULES},
     valleys_ms,
     0,
     &this_gpu},
    {"pairs", "two templates, no order", {VALLEYS, VALLEYS}, {VALLEYS_RULES, VALLEYS_RULES}, pairs_ms, 0, &this_gpu},
};

/* The problem of a recording. */
struct recorded_problem {
  struct backend_handle backend; /* for the facts of its GPU */
  struct stencil *stencil;
  struct analysis *analysis;
  struct task task;
  struct hint_target target;
};

struct judged {
  char name[160];
  struct search_space space;
  struct template *templates[MOST_TEMPLATES];
  struct bindings bindings[MOST_TEMPLATES];
  const struct formula_space *formula; /* NULL: a recording */
  struct formula_space here, there;    /* the formula on both GPUs */
  struct known_variant *known;         /* times of the other GPU */
  long known_count;
  struct recorded_problem problem; /* of a recording */
  struct proposal_list recorded;
  struct visited places; /* the recorded variants, in the same order */
  struct result {
    double time_ms;    /* INFINITY: failed */
    int64_t id;        /* newer results have larger ones */
  } * results;         /* of each recorded variant */
  struct known others; /* what another database knows of the recorded variants */
  double best_ms;
  long count, failed;
};

static double formula_ms(const struct judged *judged, const struct formula_space *formula,
                         const struct proposal *proposal) {
  double values[MAX_PARAMETERS];
  const struct template *template = judged->templates[proposal->template_index];
  for (int i = 0; i < template->parameter_count; i++)
    values[i] = template->parameters[i].values[proposal->configuration.choice[i]];
  return formula->time_ms(formula, proposal->template_index, values);
}

static double time_of(const struct judged *judged, const struct proposal *proposal) {
  if (!judged->formula) {
    const int place = visited_number(&judged->places, &judged->space, proposal);
    return place >= 0 ? judged->results[place].time_ms : INFINITY;
  }
  return formula_ms(judged, judged->formula, proposal);
}

struct counting {
  struct judged *judged;
  int template;
};

static bool count_variant(void *context, const struct configuration *configuration) {
  const struct counting *counting = context;
  struct judged *judged = counting->judged;
  const struct proposal proposal = {.template_index = counting->template, .configuration = *configuration};
  const double time_ms = time_of(judged, &proposal);
  judged->count++;
  judged->failed += !isfinite(time_ms);
  judged->best_ms = fmin(judged->best_ms, time_ms);
  return true;
}

static void formula_open(const struct formula_space *formula, struct judged *out) {
  double facts[FACT_COUNT] = {0};
  *out = (struct judged){.here = *formula, .there = *formula, .best_ms = INFINITY};
  out->formula = &out->here;
  out->there.gpu = &other_gpu;
  snprintf(out->name, sizeof out->name, "%s", formula->name);
  facts[FACT_max_threads] = 1024;
  facts[FACT_max_threads_sm] = 2048;
  facts[FACT_max_shared_bytes] = 232448;
  facts[FACT_warp_size] = 32;
  facts[FACT_capability] = 90;
  facts[FACT_max_cluster] = 8;
  for (int t = 0; t < 3 && formula->parameters[t]; t++) {
    char yaml[8192];
    snprintf(yaml, sizeof yaml,
             "name: template_%d\nabout: for measurements\nparameters: {%s}\nrules: [%s]\nblock: [1, 1, 1]\n"
             "grid: [1, 1, 1]\nshared_bytes: 0\n",
             t, formula->parameters[t], formula->rules[t]);
    const struct source source = source_of(formula->name, yaml, strlen(yaml));
    check_status(template_parse(&source, "// nothing\n", &out->templates[t]));
    check_status(bindings_make(out->templates[t], facts, &out->bindings[t]));
    out->space.count++;
    struct counting counting = {out, t};
    space_walk(&out->bindings[t], NULL, NULL, count_variant, &counting, NULL);
  }
  out->space.templates = out->templates;
  out->space.bindings = out->bindings;
}

/* The problem with the most results. ?1: the GPU. */
static const char problem_sql[] = "select p.id, s.name, " SQL_STENCIL_TEXT(
    "s.id") ", p.dtype, p.nx, p.ny, p.nz, p.steps, p.launch from measurement m join run r on r.id = m.run_id"
            " join problem p on p.id = r.problem_id join device d on d.id = p.device_id"
            " join stencil s on s.id = p.stencil_id where d.uuid = ?1 group by p.id order by count(*) desc limit 1";

/* The newest result of each variant of a problem, ?1. */
static const char records_sql[] =
    "select t.name, v.parameters, m.median_ms, max(m.id) from run r join measurement m on m.run_id = r.id"
    " join variant v on v.id = m.variant_id join template t on t.id = v.template_id where r.problem_id = ?1"
    " group by 1, 2 order by 1, 2";

/* Read a problem's row. Returns its id. */
static int64_t problem_read(sqlite3_stmt *row, struct recorded_problem *out) {
  const char *name = column_text(row, 1), *text = column_text(row, 2);
  const struct source source = source_of(name, text, strlen(text));
  const struct backend_facts *facts = &out->backend.facts;
  check_status(stencil_parse(&source, &out->stencil));
  check_status(analysis_make(out->stencil, &out->analysis));
  out->task = (struct task){.stencil = out->stencil,
                            .analysis = out->analysis,
                            .dtype = strcmp(column_text(row, 3), dtype_names[DTYPE_F64]) == 0 ? DTYPE_F64 : DTYPE_F32,
                            .limits = facts->device.limits,
                            .arch = facts->arch,
                            .sm_count = facts->device.sm_count,
                            .launch_steps = sqlite3_column_int(row, 7)};
  for (int axis = 0; axis < MAX_DIMS; axis++) out->task.grid.n[axis] = (long)sqlite3_column_int64(row, 4 + axis);
  out->target = (struct hint_target){.task = &out->task,
                                     .device = &facts->device,
                                     .launch = strcmp(column_text(row, 8), "graph") == 0 ? LAUNCH_GRAPH : LAUNCH_STREAM,
                                     .cache = CACHE_STEADY};
  return sqlite3_column_int64(row, 0);
}

/* The place of a template in the space, which it joins where it is not there yet; -1 for one that is not installed. */
static int template_place(struct judged *judged, const struct templates *installed, const char *name) {
  struct search_space *space = &judged->space;
  for (int t = 0; t < space->count; t++) {
    if (strcmp(judged->templates[t]->name, name) == 0) return t;
  }
  for (int t = 0; t < installed->count && space->count < MOST_TEMPLATES; t++) {
    if (strcmp(installed->list[t]->name, name) != 0) continue;
    judged->templates[space->count] = installed->list[t];
    check_status(task_bindings(&judged->problem.task, installed->list[t], &judged->bindings[space->count]));
    return space->count++;
  }
  return -1;
}

/* Add a variant, unless today's templates do not have it. An older template may lack a parameter, so that two rows are
 * the same variant: the newer one counts. */
static void add_record(struct judged *judged, const struct templates *installed, sqlite3_stmt *row) {
  const int template = template_place(judged, installed, column_text(row, 0));
  const bool has_time = sqlite3_column_type(row, 2) != SQLITE_NULL;
  const struct result result = {has_time ? sqlite3_column_double(row, 2) : INFINITY, sqlite3_column_int64(row, 3)};
  struct proposal_list *recorded = &judged->recorded;
  const long before = recorded->count;
  if (template <0) return;
  check_status(proposals_read(recorded, &judged->space, template, column_text(row, 1)));
  if (recorded->count == before) return;
  const int place = visited_number(&judged->places, &judged->space, &recorded->list[before]);
  if (place >= 0) {
    if (result.id > judged->results[place].id) judged->results[place] = result;
    recorded->count = before;
    return;
  }
  check_status(visited_add(&judged->places, &judged->space, &recorded->list[before], NULL));
  struct result *results = realloc(judged->results, (size_t)recorded->count * sizeof *results);
  if (!results) check_status(fail_memory());
  judged->results = results;
  results[before] = result;
}

/* Such as "star7 (zmarch) on H200". */
static void recording_name(struct judged *judged) {
  static const char maker[] = "NVIDIA ";
  const char *gpu = judged->problem.backend.facts.device.name, *stencil = judged->problem.stencil->name;
  if (strncmp(gpu, maker, strlen(maker)) == 0) gpu += strlen(maker);
  const int count = judged->space.count;
  if (count == 1)
    snprintf(judged->name, sizeof judged->name, "%.50s (%.40s) on %.40s", stencil, judged->templates[0]->name, gpu);
  else snprintf(judged->name, sizeof judged->name, "%.50s (%d templates) on %.40s", stencil, count, gpu);
}

static void recording_open(const char *path, struct judged *out) {
  static struct templates installed;
  const struct invocation invocation = {.command = &command_tune};
  struct store *store;
  sqlite3_stmt *query;
  *out = (struct judged){.best_ms = INFINITY};
  out->space.templates = out->templates;
  out->space.bindings = out->bindings;
  check_status(templates_open(&invocation, &installed));
  check_status(backend_replay_open(path, 1, &out->problem.backend));
  check_status(store_open(path, STORE_READ, &store));
  check_status(query_prepare(store_connection(store), problem_sql, &query));
  sqlite3_bind_text(query, 1, out->problem.backend.facts.device.uuid, -1, SQLITE_STATIC);
  if (sqlite3_step(query) != SQLITE_ROW) check_status(fail(HALOTUNE_NOT_FOUND, "%s has no results", path));
  const int64_t problem = problem_read(query, &out->problem);
  sqlite3_finalize(query);
  check_status(query_prepare(store_connection(store), records_sql, &query));
  sqlite3_bind_int64(query, 1, problem);
  long rows = 0;
  for (; sqlite3_step(query) == SQLITE_ROW; rows++) add_record(out, &installed, query);
  sqlite3_finalize(query);
  store_close(store);
  out->space.only = out->recorded.list;
  out->space.only_count = out->count = out->recorded.count;
  for (long i = 0; i < out->count; i++) {
    out->failed += !isfinite(out->results[i].time_ms);
    out->best_ms = fmin(out->best_ms, out->results[i].time_ms);
  }
  recording_name(out);
  if (rows > out->count) fprintf(stderr, "%s: today's templates have %ld of %ld variants\n", path, out->count, rows);
  if (!isfinite(out->best_ms)) check_status(fail(HALOTUNE_NOT_FOUND, "%s has no variant that works", path));
}

/* Give the search what a database knows of the recorded variants. */
static void give_others(struct judged *judged, const char *path) {
  struct store *store;
  const struct hint_end never = {.is_over = NULL};
  known_free(&judged->others);
  check_status(store_open(path, STORE_READ, &store));
  const struct hint_sources sources = {.own = store};
  check_status(known_find(&sources, &judged->problem.target, &judged->space, &never, &judged->others));
  store_close(store);
  judged->space.known = judged->others.variants;
}

static void add_known(struct judged *judged, const struct proposal *proposal) {
  const double time_ms = formula_ms(judged, &judged->there, proposal);
  judged->known[judged->known_count++] =
      (struct known_variant){.proposal = *proposal, .log_time = isfinite(time_ms) ? log(time_ms) : INFINITY};
}

static bool add_whole(void *context, const struct configuration *configuration) {
  const struct counting *counting = context;
  const struct proposal proposal = {.template_index = counting->template, .configuration = *configuration};
  add_known(counting->judged, &proposal);
  return true;
}

/* Add the results that a search of the other GPU would have stored: the first RUN of the strategy "local". */
static void add_run(struct judged *judged, uint64_t seed) {
  enum { RUN = 1000 };
  struct proposal proposal;
  bool have = true;
  void *state;
  check_status(strategy_local.open(&judged->space, seed + 1000, &state));
  while (judged->known_count < RUN && judged->known_count < judged->count) {
    check_status(strategy_local.next(state, &proposal, &have));
    if (!have) break;
    add_known(judged, &proposal);
    check_status(strategy_local.tell(state, &proposal, formula_ms(judged, &judged->there, &proposal)));
  }
  strategy_local.close(state);
}

/* What a search knows of other problems. */
struct knowledge {
  const char *what; /* "nothing"; of a formula "run" or "space" */
  const char *path; /* a database of other problems; NULL: none */
};

static const struct knowledge nothing = {.what = "nothing"};

/* Give the search what it knows of the other GPU: nothing, the whole space, or the results of one search. */
static void give_known(struct judged *judged, const char *what, uint64_t seed) {
  double best = INFINITY;
  judged->space.known = (struct known_variants){0};
  judged->known_count = 0;
  if (strcmp(what, "nothing") == 0) return;
  if (!judged->known) judged->known = malloc((size_t)judged->count * sizeof *judged->known);
  if (!judged->known) check_status(fail_memory());
  if (strcmp(what, "run") == 0) add_run(judged, seed);
  for (int t = 0; t < judged->space.count && strcmp(what, "space") == 0; t++) {
    struct counting counting = {judged, t};
    space_walk(&judged->bindings[t], NULL, NULL, add_whole, &counting, NULL);
  }
  for (long i = 0; i < judged->known_count; i++) best = fmin(best, judged->known[i].log_time);
  for (long i = 0; i < judged->known_count; i++) judged->known[i].log_time -= best;
  static const char *const sources[] = {"another GPU"};
  judged->space.known = (struct known_variants){judged->known, judged->known_count, sources};
}

static void judged_close(struct judged *judged) {
  for (int t = 0; t < judged->space.count; t++) bindings_free(&judged->bindings[t]);
  for (int t = 0; t < judged->space.count && judged->formula; t++) template_free(judged->templates[t]);
  proposals_free(&judged->recorded);
  visited_free(&judged->places);
  known_free(&judged->others);
  analysis_free(judged->problem.analysis);
  stencil_free(judged->problem.stencil);
  if (judged->problem.backend.table) judged->problem.backend.table->close(judged->problem.backend.state);
  free(judged->results);
  free(judged->known);
}

struct search {
  double shares[COUNT(shown_after)];
  double proposal_ms; /* mean */
  long results;       /* fewer than MOST_RESULTS if the strategy ended early */
};

/* Search with so many variants in flight: results come in the order of proposals. */
static struct search search_once(const struct judged *judged, const struct strategy *strategy, int in_flight,
                                 uint64_t seed) {
  static struct proposal list[MOST_RESULTS + MOST_WAITING];
  struct search search = {.proposal_ms = 0};
  double best_ms = INFINITY;
  void *state;
  long proposed = 0, told = 0;
  bool have = true;
  check_status(strategy->open(&judged->space, seed, &state));
  while (told < MOST_RESULTS) {
    const clock_t begin = clock();
    while (have && proposed - told < in_flight) {
      check_status(strategy->next(state, &list[proposed], &have));
      proposed += have;
    }
    search.proposal_ms += (double)(clock() - begin) * 1e3 / CLOCKS_PER_SEC;
    if (told == proposed) break;
    const double time_ms = time_of(judged, &list[told]);
    check_status(strategy->tell(state, &list[told++], time_ms));
    best_ms = fmin(best_ms, time_ms);
    for (size_t i = 0; i < COUNT(shown_after); i++) {
      if (told <= shown_after[i]) search.shares[i] = judged->best_ms / best_ms;
    }
    have = true;
  }
  search.proposal_ms /= (double)(proposed > 0 ? proposed : 1);
  for (size_t i = 0; i < COUNT(shown_after); i++) {
    if (told < shown_after[i]) search.shares[i] = judged->best_ms / best_ms;
  }
  search.results = told;
  strategy->close(state);
  return search;
}

static void print_row(struct judged *judged, const struct strategy *strategy, const struct knowledge *known,
                      int in_flight, int seeds) {
  double sums[COUNT(shown_after)] = {0}, squares[COUNT(shown_after)] = {0}, proposal_ms = 0, results = 0;
  if (known->path) give_others(judged, known->path);
  if (known->path && judged->space.known.count == 0) return;
  for (int seed = 0; seed < seeds; seed++) {
    if (!known->path) give_known(judged, known->what, (uint64_t)seed);
    const struct search search = search_once(judged, strategy, in_flight, (uint64_t)seed + 1);
    for (size_t i = 0; i < COUNT(shown_after); i++) {
      sums[i] += search.shares[i];
      squares[i] += search.shares[i] * search.shares[i];
    }
    proposal_ms += search.proposal_ms / seeds;
    results += (double)search.results / seeds;
  }
  printf("| %s | %s | %s | %d |", judged->name, strategy->name, known->what, in_flight);
  for (size_t i = 0; i < COUNT(shown_after); i++) {
    const double mean = sums[i] / seeds,
                 variance = fmax(squares[i] / seeds - mean * mean, 0) * seeds / fmax(seeds - 1, 1);
    printf(" %.3f +-%.3f |", mean, 1.96 * sqrt(variance / seeds));
  }
  printf(" %.0f | %.2f |\n", results, proposal_ms);
  fflush(stdout);
}

/* Search a space with each strategy, and with each knowledge of other problems.
 *   only   the name of the only strategy; NULL: all
 *   known  ends with a row without `what` */
static void judge_strategies(struct judged *judged, const char *only, const struct knowledge known[], int seeds) {
  static const int in_flight[] = {1, MOST_WAITING};
  fprintf(stderr, "%s: %ld variants, %.0f %% fail, best %.6g\n", judged->name, judged->count,
          100.0 * (double)judged->failed / (double)judged->count, judged->best_ms);
  for (size_t k = 0; k < COUNT(in_flight); k++) {
    for (size_t i = 0; strategies[i]; i++) {
      const struct strategy *strategy = strategies[i];
      /* Without hints, "random" tries variants in the same order as "exhaustive". */
      if (strategy == &strategy_exhaustive || (only && strcmp(only, strategy->name) != 0)) continue;
      print_row(judged, strategy, &nothing, in_flight[k], seeds);
      for (size_t n = 0; known[n].what && strategy->takes_known; n++)
        print_row(judged, strategy, &known[n], in_flight[k], seeds);
    }
  }
  judged_close(judged);
}

static const char *option_of(int argc, char **argv, const char *name, const char *otherwise) {
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], name) == 0) return argv[i + 1];
  }
  return otherwise;
}

/* Read WHAT=DATABASE. */
static struct knowledge knowledge_read(char *words) {
  char *equals = strchr(words, '=');
  if (!equals) {
    fprintf(stderr, "search_bench: --known takes WHAT=DATABASE, not '%s'\n", words);
    exit(2);
  }
  *equals = 0;
  return (struct knowledge){.what = words, .path = equals + 1};
}

int main(int argc, char **argv) {
  static struct judged judged;
  const char *space = option_of(argc, argv, "--space", NULL), *strategy = option_of(argc, argv, "--strategy", NULL);
  const char *recording = option_of(argc, argv, "--recording", NULL);
  const int seeds = (int)strtol(option_of(argc, argv, "--seeds", "30"), NULL, 10);
  if (seeds < 1 || (strategy && !strategy_find(strategy))) {
    fprintf(stderr, "search_bench: --seeds takes a number from 1 on, --strategy a name\n");
    return 2;
  }
  printf("| space | strategy | known | in flight | after 50 | after 100 | after 200 | results | ms a proposal |\n"
         "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (size_t i = 0; i < COUNT(formulas) && !recording; i++) {
    static const struct knowledge known[] = {{.what = "run"}, {.what = "space"}, {.what = NULL}};
    if (space && strcmp(space, formulas[i].name) != 0) continue;
    formula_open(&formulas[i], &judged);
    judge_strategies(&judged, strategy, known, seeds);
  }
  if (!recording) return 0;
  struct knowledge known[MOST_KNOWN + 1] = {{.what = NULL}};
  int count = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--known") != 0) continue;
    if (count == MOST_KNOWN) {
      fprintf(stderr, "search_bench: --known may be given %d times\n", MOST_KNOWN);
      return 2;
    }
    known[count++] = knowledge_read(argv[i + 1]);
  }
  recording_open(recording, &judged);
  judge_strategies(&judged, strategy, known, seeds);
  return 0;
}
