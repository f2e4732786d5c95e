/* make_db.c: makes databases for tests of the report: make_db KIND FILE, from the root of the tree. Stencils,
 * templates, configurations, sources, access figures and occupancy are real. Times come from a simple model of a
 * GPU's memory, with seeded noise. The same KIND gives the same rows. If KIND is the path of an SQL file, its rows
 * are made. */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/file.h"
#include "base/memory/array.h"
#include "base/numbers/random.h"
#include "base/text/text.h"
#include "db/store/schema.h"
#include "db/store/store.h"
#include "gpu/architecture/arch.h"
#include "gpu/architecture/occupancy.h"
#include "stencil/analysis/analysis.h"
#include "stencil/generate/generate.h"
#include "stencil/template/access.h"
#include "stencil/template/space.h"
#include "stencil/template/template_read.h"

enum { MOST_TEMPLATES = 5, MOST_DEVICES = 3, ROUNDS = 31, MOST_SAMPLES = 40, FINALISTS = 8, MOST_VARIANTS = 1 << 20 };

static void die(const char *what) {
  fprintf(stderr, "make_db: %s\n", what);
  exit(1);
}

static uint64_t key = 20261121, drawn;
static double uniform(void) { return (double)(random_bits(key, drawn++) >> 11) / 9007199254740992.0; }
static double noise(double width) { return 1 + width * (uniform() + uniform() + uniform() - 1.5); }

static sqlite3 *db; /* with the tables of version 4, until all rows are there */

static void run_sql(const char *sql) {
  char *error = NULL;
  if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK) die(error);
}

/* Insert a row. Returns its id.
 *   types  a letter for each value: i integer (long long), r real (double, NaN is NULL), t text, b blob (pointer and
 *          int) */
static long long insert_row(const char *sql, const char *types, ...) {
  static struct {
    const char *sql;
    sqlite3_stmt *statement;
  } known[32];
  int at = 0;
  while (known[at].sql && known[at].sql != sql) at++;
  if (!known[at].sql) {
    if (sqlite3_prepare_v2(db, sql, -1, &known[at].statement, NULL) != SQLITE_OK) die(sqlite3_errmsg(db));
    known[at].sql = sql;
  }
  sqlite3_stmt *s = known[at].statement;
  va_list list;
  va_start(list, types);
  for (int i = 1; *types; types++, i++) {
    if (*types == 'i') {
      sqlite3_bind_int64(s, i, va_arg(list, long long));
    } else if (*types == 'r') {
      double value = va_arg(list, double);
      if (isnan(value)) sqlite3_bind_null(s, i);
      else sqlite3_bind_double(s, i, value);
    } else if (*types == 't') {
      sqlite3_bind_text(s, i, va_arg(list, const char *), -1, SQLITE_TRANSIENT);
    } else {
      const void *bytes = va_arg(list, const void *);
      int length = va_arg(list, int);
      if (bytes) sqlite3_bind_blob(s, i, bytes, length, SQLITE_TRANSIENT);
      else sqlite3_bind_null(s, i);
    }
  }
  va_end(list);
  if (sqlite3_step(s) != SQLITE_DONE) die(sqlite3_errmsg(db));
  sqlite3_reset(s);
  return sqlite3_last_insert_rowid(db);
}

#define INT(value) ((long long)(value))

struct gpu {
  const char *uuid, *name, *driver;
  int capability, sms, clock_khz, memory_khz, bus_bits;
  long long l2, memory;
  int is_emulation;
  double copy_gbps, clock_factor;
  long long id;
};
static struct gpu gpus[MOST_DEVICES] = {
    {"GPU-5d1f0a52-0c7e-4b55-9a55-2f1c4d9d7a01", "NVIDIA H200", "580.159.04", 90, 132, 1980000, 3201000, 6144, 62914560,
     150754820096, 0, 4123, 1, 0},
    {"GPU-8e2b7c11-5a90-4d11-8b0e-77aa10c2be02", "NVIDIA A100-SXM4-80GB", "575.57.08", 80, 108, 1410000, 1593000, 5120,
     41943040, 85031714816, 0, 1720, 1.3, 0},
    {"GPU-0f4470d3-91be-47a5-a7d8-3b0c5ef6ab03", "NVIDIA GeForce RTX 4090", "580.159.04", 89, 128, 2520000, 10501000,
     384, 75497472, 25393692672, 0, 920, 0.8, 0},
};
static struct gpu emulation = {"emulation-sm_90",
                               "host emulation of sm_90",
                               "",
                               90,
                               132,
                               1980000,
                               3201000,
                               6144,
                               62914560,
                               150754820096,
                               1,
                               0.05,
                               40,
                               0};

static void put_gpu(struct gpu *gpu) {
  const struct sm_limits *sm = &arch_find(gpu->capability / 10, gpu->capability % 10)->limits;
  gpu->id = insert_row("insert into device values (null,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", "ttiiiiiiiiiiiiii",
                       gpu->uuid, gpu->name, INT(gpu->capability), INT(gpu->sms), INT(gpu->clock_khz),
                       INT(gpu->memory_khz), INT(gpu->bus_bits), gpu->l2, gpu->memory, INT(sm->max_threads_per_block),
                       INT(sm->max_threads_per_sm), INT(sm->max_registers_per_thread), INT(sm->registers_per_sm),
                       INT(sm->shared_per_block_bytes), INT(sm->warp_size), INT(gpu->is_emulation));
}

static struct {
  struct template *template;
  long long id;
} templates[MOST_TEMPLATES];

static void put_templates(void) {
  static const char *const names[MOST_TEMPLATES] = {"direct", "pencil", "scan", "tile", "zmarch"};
  for (int i = 0; i < MOST_TEMPLATES; i++) {
    char path[64], hex[IDENTITY_HEX_BYTES], *yaml;
    size_t length;
    snprintf(path, sizeof path, "templates/%s.yaml", names[i]);
    if (template_read(path, &templates[i].template) != HALOTUNE_OK ||
        file_read(path, 1 << 20, &yaml, &length) != HALOTUNE_OK) {
      die(fail_text());
    }
    identity_hex(templates[i].template->hash, hex);
    templates[i].id = insert_row("insert into template values (null,?,?,?,?)", "tttt", hex, names[i], yaml,
                                 templates[i].template->cuda);
    free(yaml);
  }
}

struct subject {
  struct stencil *stencil;
  struct analysis *analysis;
  double *coefficients;
  char *text;
  long long id;
};

static struct subject subject_open(const char *name, const char *shown_as) {
  struct subject subject = {0};
  char path[64], hex[IDENTITY_HEX_BYTES];
  size_t length;
  snprintf(path, sizeof path, "kernels/%s.yaml", name);
  if (file_read(path, 1 << 20, &subject.text, &length) != HALOTUNE_OK) die(fail_text());
  if (stencil_read(path, &subject.stencil) != HALOTUNE_OK) die(fail_text());
  if (analysis_make(subject.stencil, &subject.analysis) != HALOTUNE_OK) die(fail_text());
  subject.coefficients = calloc((size_t)subject.stencil->coefficient_count + 1, sizeof *subject.coefficients);
  identity_hex(subject.analysis->hash, hex);
  if (shown_as) hex[0] = 'x';
  insert_row("insert or ignore into stencil values (null,?,?,?)", "ttt", hex, shown_as ? shown_as : name, subject.text);
  sqlite3_stmt *find;
  sqlite3_prepare_v2(db, "select id from stencil where hash = ?", -1, &find, NULL);
  sqlite3_bind_text(find, 1, hex, -1, SQLITE_TRANSIENT);
  if (sqlite3_step(find) != SQLITE_ROW) die("no stencil");
  subject.id = sqlite3_column_int64(find, 0);
  sqlite3_finalize(find);
  return subject;
}

static void subject_close(struct subject *subject) {
  stencil_free(subject->stencil);
  analysis_free(subject->analysis);
  free(subject->coefficients);
  free(subject->text);
}

struct candidate {
  int template;
  struct configuration configuration;
  struct access access;
  struct occupancy occupancy;
  long block[MAX_DIMS], grid[MAX_DIMS];
  int registers, shared_bytes, spill;
  double time_ms;
  long long variant;
  enum outcome outcome;
  bool is_default;
};

struct setting {
  const struct gpu *gpu;
  struct subject *subject;
  enum dtype dtype;
  struct grid grid;
  struct domain domain;
  double facts[FACT_COUNT], bytes;
  long long problem;
  double copy_ms;
};

static double chosen_number(const struct candidate *c, const char *name, double otherwise) {
  const struct template *t = templates[c->template].template;
  int at = template_parameter(t, name, strlen(name));
  return at < 0 || t->parameters[at].is_word ? otherwise : t->parameters[at].values[c->configuration.choice[at]];
}

/* The time of memory traffic at the copy's rate, slowed by repeated reads and low occupancy; plus the time of
 * instructions and shared memory. */
static double model_ms(const struct setting *s, const struct candidate *c) {
  double points = (double)s->grid.n[0] * (double)s->grid.n[1] * (double)s->grid.n[2];
  double over = isnan(c->access.over_read) ? 1.1 : c->access.over_read;
  double hidden = fmin(1, 0.45 + 1.6 * c->occupancy.fraction) * (c->registers > 64 ? 1.02 : 1);
  double memory = s->copy_ms * (1.03 + 0.22 * (over - 1)) / fmin(1, hidden);
  double waves =
      (double)c->grid[0] * (double)c->grid[1] * (double)c->grid[2] / (s->gpu->sms * fmax(1, c->occupancy.blocks));
  double tail = ceil(waves) / fmax(waves, 1e-9);
  double loads = isnan(c->access.loads_per_point) ? 2 : c->access.loads_per_point;
  double conflicts = isnan(c->access.bank_conflicts) ? 1 : c->access.bank_conflicts;
  double issue =
      points *
      (loads * 1.1 + s->subject->analysis->instructions_per_point * 0.35 * (s->dtype ? 2 : 1) + 2 * conflicts) /
      (s->gpu->sms * 4 * 32.0 * s->gpu->clock_khz * 0.35) * s->gpu->clock_factor;
  double together = pow(pow(memory, 4) + pow(issue * 1.6, 4), 0.25) * (1 + 0.25 * (fmin(tail, 3) - 1));
  return (together + 0.0021) * (1 + 0.002 * c->spill);
}

static bool fill_candidate(const struct setting *s, struct bindings *bindings, struct candidate *c) {
  const struct template *t = templates[c->template].template;
  const struct sm_limits *sm = &arch_find(s->gpu->capability / 10, s->gpu->capability % 10)->limits;
  double points_each = chosen_number(c, "vector", 1) * chosen_number(c, "points_y", 1) *
                       chosen_number(c, "points_x", 1) * chosen_number(c, "points_z", 1);
  bindings_configure(bindings, &c->configuration);
  c->access = access_of(bindings);
  long threads = 1;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    c->block[axis] = (long)bindings_value(bindings, t->block[axis]);
    c->grid[axis] = (long)bindings_value(bindings, t->grid[axis]);
    threads *= c->block[axis];
  }
  int wanted = 18 + (int)(points_each * (s->dtype ? 7 : 4)) + (int)(6 * uniform()), most = 255;
  if (threads * wanted > sm->registers_per_sm) most = (int)(sm->registers_per_sm / threads) & ~7;
  c->spill = wanted > most ? 4 * (wanted - most) : 0;
  c->registers = wanted > most ? most : wanted;
  c->shared_bytes = (int)bindings_value(bindings, t->shared_bytes);
  c->occupancy = occupancy_of(sm, &(struct block_needs){(int)threads, c->registers, c->shared_bytes, 1});
  if (c->occupancy.blocks == 0) return false;
  c->time_ms = model_ms(s, c) * noise(0.03);
  return true;
}

/* Draw samples of every template that applies, and add their defaults. */
static int draw_candidates(const struct setting *s, long wanted, int only, struct candidate *out) {
  int count = 0;
  for (int t = 0; t < MOST_TEMPLATES; t++) {
    struct bindings bindings;
    struct configuration start = configuration_default(templates[t].template), *sample = NULL;
    long drawn_count = 0;
    if (only >= 0 && only != t) continue;
    if (bindings_make(templates[t].template, s->facts, &bindings) != HALOTUNE_OK) die(fail_text());
    if (!space_refusal(&bindings)) {
      if (space_sample(&bindings, NULL, &start, wanted, key + (uint64_t)t, &sample, &drawn_count) != HALOTUNE_OK)
        die(fail_text());
      for (long i = -1; i < drawn_count; i++) {
        struct candidate c = {.template = t, .is_default = i < 0};
        c.configuration = i < 0 ? start : sample[i];
        if (i < 0 && space_nearest(&bindings, NULL, &c.configuration)) continue;
        if (i >= 0 && memcmp(&c.configuration, &start, sizeof start) == 0) continue;
        if (fill_candidate(s, &bindings, &c)) out[count++] = c;
      }
    }
    free(sample);
    bindings_free(&bindings);
  }
  for (int i = count - 1; i > 0; i--) { /* the order of a search instead of that of the space */
    int other = (int)(uniform() * (i + 1));
    struct candidate c = out[i];
    out[i] = out[other], out[other] = c;
  }
  return count;
}

static void write_parameters(const struct candidate *c, struct text *text) {
  const struct template *t = templates[c->template].template;
  for (int i = 0; i < t->parameter_count; i++) {
    const struct parameter *p = &t->parameters[i];
    const char *quote = p->is_word ? "\"" : "";
    text_printf(text, "%s\"%s\":%s%s%s", i ? "," : "{", p->name, quote, p->words[c->configuration.choice[i]], quote);
  }
  text_printf(text, "}");
}

static void put_variant(const struct setting *s, struct candidate *c) {
  struct text parameters = {0};
  char hex[IDENTITY_HEX_BYTES];
  write_parameters(c, &parameters);
  uint64_t salt[2] = {(uint64_t)s->problem, (uint64_t)c->template};
  struct identity_maker maker;
  identity_begin(&maker, "CUDA");
  identity_add(&maker, parameters.bytes, parameters.length);
  identity_add(&maker, salt, sizeof salt);
  identity_hex(identity_end(&maker), hex);
  c->variant = insert_row("insert into variant values (null,?,?,?,?)", "tiit", hex, s->subject->id,
                          templates[c->template].id, text_string(&parameters));
  text_free(&parameters);
}

static const struct {
  enum outcome outcome;
  double share;
  const char *reasons[3];
} mishaps[] = {
    {OUTCOME_PRUNED,
     0.05,
     {"spills 96 bytes a thread where others of its kind spill none", "one block of 64 threads on a multiprocessor",
      NULL}},
    {OUTCOME_COMPILE_FAILED,
     0.02,
     {"ptxas error: Entry function uses too much shared data (0x3a400 bytes, 0x38c00 max)",
      "error: asm operand type size(8) does not match type/size implied by constraint 'r'", NULL}},
    {OUTCOME_COMPILE_CRASHED, 0.002, {"the compiler's process ended with signal 11", NULL, NULL}},
    {OUTCOME_COMPILE_TIMEOUT, 0.003, {"30 s and not done", NULL, NULL}},
    {OUTCOME_LAUNCH_FAILED,
     0.01,
     {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources requested for launch", NULL, NULL}},
    {OUTCOME_WRONG,
     0.006,
     {"v differs at (510, 3, 17): 1.25 instead of 0.8125, 3.2e+06 units of rounding", NULL, NULL}},
    {OUTCOME_OUT_OF_BOUNDS, 0.003, {"v: 64 bytes behind its end were written", NULL, NULL}},
    {OUTCOME_CRASHED, 0.002, {"CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered", NULL, NULL}},
    {OUTCOME_HUNG, 0.002, {"no end after 2000 ms", NULL, NULL}},
};

static int compare_times(const void *a, const void *b) {
  double x = *(const float *)a, y = *(const float *)b;
  return x < y ? -1 : x > y;
}

struct samples {
  float in_order[MOST_SAMPLES];
  int count;
  double median, minimum, low, high;
};

static struct samples take_samples(double time_ms, int count) {
  struct samples s = {.count = count};
  float sorted[MOST_SAMPLES];
  for (int i = 0; i < count; i++)
    sorted[i] = s.in_order[i] = (float)(time_ms * (1 + 0.002 * fabs(noise(1) - 1)) * noise(0.001));
  qsort(sorted, (size_t)count, sizeof *sorted, compare_times);
  int reach = (int)ceil(0.98 * sqrt(count));
  s.median = sorted[count / 2], s.minimum = sorted[0];
  s.low = sorted[count / 2 - reach < 0 ? 0 : count / 2 - reach];
  s.high = sorted[count / 2 + reach >= count ? count - 1 : count / 2 + reach];
  return s;
}

static const char put_measurement_sql[] =
    "insert into measurement values (null,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

static void put_measurement(long long run, struct candidate *c, long number, double *at_s, double best_ms,
                            bool only_failures) {
  double roll = only_failures ? uniform() * 0.1 : uniform(), sum = 0;
  const char *reason = "";
  c->outcome = c->time_ms > 1.6 * best_ms ? OUTCOME_SCREENED : OUTCOME_MEASURED;
  for (size_t i = 0; i < COUNT(mishaps) && !c->is_default; i++) {
    if (roll < (sum += mishaps[i].share)) {
      c->outcome = mishaps[i].outcome;
      reason = mishaps[i].reasons[mishaps[i].reasons[1] && uniform() < 0.4 ? 1 : 0];
      break;
    }
  }
  if (only_failures && outcome_has_time(c->outcome)) c->outcome = OUTCOME_WRONG, reason = mishaps[5].reasons[0];
  struct samples s = {.median = NAN, .minimum = NAN, .low = NAN, .high = NAN};
  bool timed = outcome_has_time(c->outcome), compiled = timed || c->outcome >= OUTCOME_LAUNCH_FAILED;
  if (timed) s = take_samples(c->time_ms, c->outcome == OUTCOME_SCREENED ? 3 : 7 + (int)(uniform() * 24));
  else c->time_ms = INFINITY;
  *at_s += 0.004 + 0.02 * uniform() + (timed ? 0.03 * (s.count / 20.0) : 0.01);
  double error = 2e-8 * (1 + uniform());
  bool marked = timed && uniform() < 0.004;
  insert_row(put_measurement_sql, "iiirttirrrrbrrrrrrrriiriiiiriii", run, c->variant, INT(number), *at_s,
             outcome_name(c->outcome), reason, INT(s.count), s.median, s.minimum, s.low, s.high,
             s.count ? s.in_order : NULL, s.count * (int)sizeof(float), timed ? error : NAN, timed ? error * 9 : NAN,
             timed ? 0.8 + uniform() : NAN, compiled ? c->registers : NAN, compiled ? c->shared_bytes : NAN,
             compiled ? c->spill : NAN, compiled ? c->occupancy.fraction : NAN, compiled ? c->occupancy.blocks : NAN,
             INT(c->block[0] * c->block[1] * c->block[2]), INT(c->grid[0] * c->grid[1] * c->grid[2]),
             30 + 60 * uniform(), INT(1980), INT(1980 - (marked ? 210 : 0)), INT(3201), INT(45 + 15 * uniform()),
             420 + 120 * uniform(), INT(marked ? 4 : 0), INT(marked ? 3 : 1), INT(marked));
}

static int compare_candidates(const void *a, const void *b) {
  double x = ((const struct candidate *)a)->time_ms, y = ((const struct candidate *)b)->time_ms;
  return x < y ? -1 : x > y;
}

static void write_launch(const struct launch *launch, struct text *text) {
  text_printf(
      text,
      "{\"kernel\":\"%s\",\"block\":[%ld,%ld,%ld],\"grid\":[%ld,%ld,%ld],\"shared_bytes\":%ld,\"index_bytes\":%d,"
      "\"extents\":\"%s\",\"arguments\":[\"inputs\",\"outputs\",\"geometry\"]}",
      launch->kernel, launch->block[0], launch->block[1], launch->block[2], launch->grid[0], launch->grid[1],
      launch->grid[2], launch->shared_bytes, launch->index_bytes, launch->literal_extents ? "literal" : "runtime");
}

static void put_best(const struct setting *s, const struct candidate *c, long long run, const struct samples *time,
                     double default_ms, bool is_current, const char *date) {
  struct generated generated;
  struct text launch = {0};
  struct variant_spec spec = {.stencil = s->subject->stencil,
                              .analysis = s->subject->analysis,
                              .template = templates[c->template].template,
                              .configuration = c->configuration,
                              .dtype = s->dtype,
                              .domain = s->domain,
                              .coefficients = s->subject->coefficients,
                              .limits =
                                  arch_device_limits(arch_find(s->gpu->capability / 10, s->gpu->capability % 10))};
  if (generate(&spec, &generated) != HALOTUNE_OK) die(fail_text());
  write_launch(&generated.launch, &launch);
  char arch[16];
  snprintf(arch, sizeof arch, "sm_%d", s->gpu->capability);
  double ratio = s->copy_ms / time->median;
  insert_row("insert into best values "
             "(null,?,?,?,?,1,'tuned',?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,'[]',1,?,?,?,?,x'7f454c46')",
             "iiiitrrrirrrrrrirrrtiirttttt", s->problem, c->variant, run, INT(is_current), date, time->median,
             time->low, time->high, INT(ROUNDS), default_ms, s->copy_ms, ratio, ratio * 0.9985, ratio * 1.0013, 0.0021,
             INT(s->bytes), 2.1e-8, 1.9e-7, 1.3, "509x251x499", INT(c->registers), INT(c->shared_bytes),
             c->occupancy.fraction, text_string(&launch), s->gpu->driver, "13.0", arch, generated.source);
  text_free(&launch);
  generated_free(&generated);
}

/* The median ratio of two variants' times in the same round. */
static double median_ratio(const struct samples *times, const struct samples *winner) {
  float ratios[ROUNDS];
  for (int i = 0; i < ROUNDS; i++) ratios[i] = times->in_order[i] / winner->in_order[i];
  qsort(ratios, ROUNDS, sizeof *ratios, compare_times);
  return ROUNDS % 2 ? ratios[ROUNDS / 2] : ((double)ratios[ROUNDS / 2 - 1] + ratios[ROUNDS / 2]) / 2;
}

/* Store final rounds of the best variants of the search, and of the default. */
static void put_finals(const struct setting *s, struct candidate *all, int count, long long run, const char *date) {
  qsort(all, (size_t)count, sizeof *all, compare_candidates);
  struct candidate finalists[FINALISTS + 1];
  struct samples times[FINALISTS + 1];
  int n = 0;
  for (int i = 0; i < count && n < FINALISTS && isfinite(all[i].time_ms); i++) finalists[n++] = all[i];
  bool has_default = false;
  for (int i = 0; i < n; i++) has_default = has_default || finalists[i].is_default;
  for (int i = 0; i < count && !has_default; i++) {
    if (all[i].is_default && isfinite(all[i].time_ms)) finalists[n++] = all[i], has_default = true;
  }
  if (n == 0) return;
  if (n > 2) finalists[1].time_ms = finalists[0].time_ms * 1.0003; /* a tie */
  for (int i = 0; i < n; i++) times[i] = take_samples(finalists[i].time_ms, ROUNDS);
  double default_ms = NAN;
  for (int i = 0; i < n; i++) {
    double ratio = median_ratio(&times[i], &times[0]), width = i == 0 ? 0 : 0.0011;
    if (finalists[i].is_default) default_ms = times[i].median;
    insert_row("insert into finalist values (?,?,?,?,?,?,?,?,?,?,?,?,?,?)", "iiiirrrrrrrbii", run, finalists[i].variant,
               INT(i + 1), INT(ROUNDS), times[i].median, times[i].minimum, times[i].low, times[i].high, ratio,
               ratio - width, ratio + width, times[i].in_order, ROUNDS * (int)sizeof(float),
               INT(finalists[i].is_default), INT(i > 0 && ratio - width <= 1));
  }
  put_best(s, &finalists[0], run, &times[0], default_ms, true, date);
}

struct wish {
  const char *stencil, *shown_as;
  enum dtype dtype;
  long n[MAX_DIMS];
  long variants; /* of each template */
  int only;      /* a template's position; -1: all */
  enum { WISH_WHOLE, WISH_PARTIAL, WISH_FAILURES, WISH_BOTH } kind;
};

static long long put_run(const struct setting *s, const struct wish *wish, bool is_partial, long space,
                         const char *date) {
  static const char sql[] = "insert into run values (null,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,1,null)";
  struct text command = {0};
  text_printf(&command, "halotune tune %s --dtype %s --grid %ld,%ld,%ld --time 60s --seed 7",
              wish->shown_as ? wish->shown_as : wish->stencil, dtype_names[s->dtype], s->grid.n[0], s->grid.n[1],
              s->grid.n[2]);
  bool emulated = s->gpu->is_emulation;
  long long run =
      insert_row(sql, "ittttttttititriirrrt", s->problem, is_partial ? "partial" : "complete",
                 is_partial ? "interrupted by the user" : "", date, date, text_string(&command), "node017",
                 HALOTUNE_VERSION, s->gpu->driver, INT(emulated ? 0 : 13000), emulated ? "g++ 12.2.0" : "13.0", INT(7),
                 "evolution", 60.0, INT(space), INT(s->bytes), emulated ? NAN : 0.0021, is_partial ? NAN : s->copy_ms,
                 is_partial ? NAN : s->copy_ms * 1.018, "");
  text_free(&command);
  return run;
}

static void put_problem(const struct gpu *gpu, const struct wish *wish) {
  static struct candidate *all;
  if (!all && !(all = malloc(sizeof *all * MOST_VARIANTS))) die("out of memory");
  struct subject subject = subject_open(wish->stencil, wish->shown_as);
  struct setting s = {.gpu = gpu, .subject = &subject, .dtype = wish->dtype};
  for (int axis = 0; axis < MAX_DIMS; axis++) s.grid.n[axis] = wish->n[axis];
  s.domain = domain_dense(subject.stencil, subject.analysis, &s.grid);
  struct device_limits limits = arch_device_limits(arch_find(gpu->capability / 10, gpu->capability % 10));
  facts_fill(subject.stencil, subject.analysis, s.dtype, &s.domain, &limits, false, s.facts);
  if (stencil_coefficients(subject.stencil, &s.grid, subject.coefficients) != HALOTUNE_OK) die(fail_text());
  s.bytes = (double)subject.analysis->bytes_per_point[s.dtype] * (double)s.grid.n[0] * (double)s.grid.n[1] *
            (double)s.grid.n[2];
  s.copy_ms = s.bytes / (gpu->copy_gbps * 1e6) + 0.0022;
  s.problem = insert_row("insert into problem values (null,?,?,?,?,?,?,'stream','steady',0)", "iitiii", gpu->id,
                         subject.id, dtype_names[s.dtype], INT(wish->n[0]), INT(wish->n[1]), INT(wish->n[2]));
  int count = draw_candidates(&s, wish->variants, wish->only, all);
  double best_ms = INFINITY, at_s = 0.6;
  for (int i = 0; i < count; i++) {
    put_variant(&s, &all[i]);
    best_ms = fmin(best_ms, all[i].time_ms);
  }
  int first = 0;
  if (wish->kind == WISH_BOTH || wish->kind == WISH_PARTIAL) {
    long long run = put_run(&s, wish, true, 9 * count, "2026-11-20T17:02:11Z");
    int end = wish->kind == WISH_PARTIAL ? count : count / 3;
    for (; first < end; first++) put_measurement(run, &all[first], first + 1, &at_s, best_ms, false);
    at_s = 0.6;
  }
  if (wish->kind != WISH_PARTIAL) {
    long long run = put_run(&s, wish, wish->kind == WISH_FAILURES, 9 * count, "2026-11-21T09:14:03Z");
    for (int i = first; i < count; i++)
      put_measurement(run, &all[i], i - first + 1, &at_s, best_ms, wish->kind == WISH_FAILURES);
    if (wish->kind != WISH_FAILURES) put_finals(&s, all, count, run, "2026-11-21T09:15:20Z");
  }
  subject_close(&subject);
}

static void kind_empty(void) {}

static void put_all(struct gpu *gpu, const struct wish *wishes, size_t count) {
  put_gpu(gpu);
  for (size_t i = 0; i < count; i++) put_problem(gpu, &wishes[i]);
}

static void kind_h200(void) {
  static const struct wish wishes[] = {
      {"star7", NULL, DTYPE_F32, {512, 512, 512}, 300, -1, WISH_BOTH},
      {"star7", NULL, DTYPE_F64, {512, 512, 512}, 300, -1, WISH_WHOLE},
      {"star7", NULL, DTYPE_F32, {1024, 1024, 512}, 300, -1, WISH_WHOLE},
      {"star25", NULL, DTYPE_F32, {512, 512, 512}, 300, -1, WISH_WHOLE},
      {"star25", NULL, DTYPE_F64, {512, 512, 512}, 300, -1, WISH_WHOLE},
      {"box27", NULL, DTYPE_F32, {512, 512, 512}, 300, -1, WISH_WHOLE},
      {"heat2d", NULL, DTYPE_F32, {8192, 8192, 1}, 300, -1, WISH_WHOLE},
      {"heat2d", NULL, DTYPE_F64, {8192, 8192, 1}, 300, -1, WISH_PARTIAL},
      {"derivative_x", NULL, DTYPE_F32, {64, 64, 64}, 300, -1, WISH_WHOLE},
      {"derivative_y", NULL, DTYPE_F32, {256, 256, 256}, 300, -1, WISH_WHOLE},
      {"scan_z", NULL, DTYPE_F32, {512, 512, 512}, 300, -1, WISH_WHOLE},
      {"copy", NULL, DTYPE_F32, {512, 512, 512}, 300, -1, WISH_WHOLE},
      {"triad", NULL, DTYPE_F64, {512, 512, 512}, 300, -1, WISH_WHOLE},
      {"wave25", NULL, DTYPE_F32, {512, 512, 512}, 300, -1, WISH_FAILURES},
      {"gradient", NULL, DTYPE_F32, {256, 256, 256}, 300, -1, WISH_WHOLE},
      {"advect1d", NULL, DTYPE_F64, {16777216, 1, 1}, 200, -1, WISH_WHOLE},
      {"diffusion2d", NULL, DTYPE_F64, {4096, 4096, 1}, 200, -1, WISH_WHOLE},
  };
  put_all(&gpus[0], wishes, COUNT(wishes));
}

static void kind_small(void) { /* must not change, because the golden document has it */
  static const struct wish wishes[] = {
      {"star7", NULL, DTYPE_F32, {64, 64, 64}, 8, -1, WISH_BOTH},
      {"heat2d", NULL, DTYPE_F64, {256, 256, 1}, 6, -1, WISH_PARTIAL},
  };
  put_all(&gpus[0], wishes, COUNT(wishes));
}

static void kind_large(void) {
  static const struct wish wishes[] = {{"star7", NULL, DTYPE_F32, {512, 512, 512}, 6700, -1, WISH_WHOLE}};
  put_all(&gpus[0], wishes, COUNT(wishes));
}

static void put_copies(int problems) {
  kind_large();
  for (int i = 1; i < problems; i++) { /* copy the problems, with other grids */
    struct text sql = {0};
    text_printf(
        &sql,
        "insert into problem select id + %d, device_id, stencil_id, dtype, nx, ny, nz + 8 * %d, launch, cache, is_reproducible "
        "from problem where id = 1;"
        "create temp table t as select * from run where id = 1; update t set id = id + %d, problem_id = "
        "problem_id + %d;"
        "insert into run select * from t; drop table t;"
        "insert into variant select id + %d * 100000, source_hash || %d, stencil_id, template_id, parameters "
        "from variant where id < 100000;"
        "create temp table t as select * from measurement where run_id = 1;"
        "update t set id = id + %d * 100000, run_id = run_id + %d, variant_id = variant_id + %d * 100000;"
        "insert into measurement select * from t; drop table t;"
        "create temp table t as select * from best where id = 1; update t set id = id + %d, problem_id = "
        "problem_id + %d, run_id = run_id + %d,"
        " variant_id = variant_id + %d * 100000; insert into best select * from t; drop table t;",
        i, i, i, i, i, i, i, i, i, i, i, i, i);
    run_sql(text_string(&sql));
    text_free(&sql);
  }
}

static void kind_fifth(void) { put_copies(10); }
static void kind_million(void) { put_copies(50); }

static void kind_emulated(void) {
  static const struct wish wishes[] = {
      {"star7", NULL, DTYPE_F32, {64, 64, 64}, 20, -1, WISH_WHOLE},
      {"heat2d", NULL, DTYPE_F32, {256, 256, 1}, 20, -1, WISH_WHOLE},
  };
  put_all(&emulation, wishes, COUNT(wishes));
}

static void kind_failures(void) {
  static const struct wish wishes[] = {
      {"star7", NULL, DTYPE_F32, {512, 512, 512}, 40, -1, WISH_FAILURES},
      {"wave25", NULL, DTYPE_F64, {512, 512, 512}, 40, -1, WISH_FAILURES},
  };
  put_all(&gpus[0], wishes, COUNT(wishes));
}

static void kind_three(void) {
  static const struct wish wishes[] = {
      {"star7", NULL, DTYPE_F32, {512, 512, 512}, 150, -1, WISH_WHOLE},
      {"star7", NULL, DTYPE_F64, {512, 512, 512}, 150, -1, WISH_WHOLE},
      {"box27", NULL, DTYPE_F32, {512, 512, 512}, 150, -1, WISH_WHOLE},
      {"heat2d", NULL, DTYPE_F32, {8192, 8192, 1}, 150, -1, WISH_WHOLE},
  };
  for (int i = 0; i < MOST_DEVICES; i++) {
    drawn = 0; /* the same configurations on each GPU */
    put_all(&gpus[i], wishes, COUNT(wishes) - (i == 2 ? 2 : 0));
  }
}

static void kind_twins(void) { /* two GPUs with the same name */
  static const struct wish wishes[] = {{"star7", NULL, DTYPE_F32, {64, 64, 64}, 12, -1, WISH_WHOLE}};
  gpus[1] = gpus[0];
  gpus[1].uuid = "GPU-5d1f0a52-0c7e-4b55-9a55-2f1c4d9d7a02";
  for (int i = 0; i < 2; i++) put_all(&gpus[i], wishes, COUNT(wishes));
}

/* What an export without the search contains. Problem 1 has the winner, finalists, and what the run recorded; problem 2
 * has no record; problem 3 has only the winner. */
static void kind_elsewhere(void) {
  static const struct wish wishes[] = {{"star7", NULL, DTYPE_F32, {512, 512, 512}, 40, -1, WISH_WHOLE},
                                       {"star7", NULL, DTYPE_F64, {512, 512, 512}, 40, -1, WISH_WHOLE},
                                       {"heat2d", NULL, DTYPE_F32, {8192, 8192, 1}, 40, -1, WISH_WHOLE}};
  put_all(&gpus[0], wishes, COUNT(wishes));
  run_sql("update run set outcomes = (select json_group_object(outcome, n) from (select outcome, count(*) as n"
          " from measurement where run_id = 1 group by outcome)) where id = 1;"
          "delete from measurement where variant_id not in (select variant_id from finalist) or run_id = 3;"
          "delete from finalist where run_id = 3; update best set run_id = null where run_id = 3;"
          "delete from run where id = 3; update best set origin = 'winners.json'");
}

static void kind_replayed(void) { /* from a recording without samples, with one value for each variant */
  static const struct wish wishes[] = {{"star7", NULL, DTYPE_F32, {512, 512, 512}, 40, -1, WISH_WHOLE}};
  put_all(&gpus[0], wishes, COUNT(wishes));
  run_sql(
      "update measurement set sample_count = 1, samples = null, minimum_ms = median_ms, low_ms = median_ms, high_ms = median_ms "
      "where median_ms is not null;"
      "update finalist set sample_count = 1, minimum_ms = median_ms, low_ms = median_ms, high_ms = median_ms, "
      "ratio_low = ratio, ratio_high = ratio;"
      "update best set sample_count = 1, low_ms = time_ms, high_ms = time_ms, roof_ratio_low = null, roof_ratio_high = null");
}

static void kind_hostile(void) { /* texts that none of our tools would write */
  static const struct wish wishes[] = {
      {"star7", "<script>alert(1)</script>", DTYPE_F32, {64, 64, 64}, 12, -1, WISH_WHOLE}};
  gpus[0].name = "</script><img src=x onerror=alert(2)> \"H200\" & 'co' \xE2\x80\xA8\xFF";
  put_all(&gpus[0], wishes, COUNT(wishes));
  run_sql(
      "update measurement set outcome = 'wrong', reason = '<b onmouseover=alert(3)>bad</b>', median_ms = null, "
      "minimum_ms = null,"
      " low_ms = null, high_ms = null where id = (select min(id) from measurement where variant_id not in (select "
      "variant_id"
      " from finalist));"
      "update run set command = 'halotune tune \"</script><script>alert(4)</script>\"\xE2\x80\xAE' || 'exe.txt', host = '<i>host</i>', "
      "warnings = '<u>w</u>', strategy = '<img src=y onerror=alert(5)>'");
}

static const struct {
  const char *name;
  void (*make)(void);
} kinds[] = {{"empty", kind_empty},       {"h200", kind_h200},         {"small", kind_small},
             {"large", kind_large},       {"million", kind_million},   {"fifth", kind_fifth},
             {"emulated", kind_emulated}, {"failures", kind_failures}, {"three", kind_three},
             {"hostile", kind_hostile},   {"twins", kind_twins},       {"elsewhere", kind_elsewhere},
             {"replayed", kind_replayed}};

int main(int argc, char **argv) {
  size_t kind = 0, length;
  char *sql;
  while (argc == 3 && kind < COUNT(kinds) && strcmp(kinds[kind].name, argv[1]) != 0) kind++;
  bool is_text = argc == 3 && kind == COUNT(kinds) && strstr(argv[1], ".sql");
  if (argc != 3 || (kind == COUNT(kinds) && !is_text)) die("usage: make_db KIND FILE");
  remove(argv[2]);
  struct store *store;
  char marks[128];
  if (sqlite3_open(argv[2], &db) != SQLITE_OK) die(sqlite3_errmsg(db));
  snprintf(marks, sizeof marks, "pragma application_id = %d; pragma user_version = 4; pragma synchronous = off; begin",
           SCHEMA_APPLICATION_ID);
  run_sql(schema_4_sql);
  run_sql(marks);
  if (is_text) {
    if (file_read(argv[1], 1 << 20, &sql, &length) != HALOTUNE_OK) die(fail_text());
    run_sql(sql);
    free(sql);
  } else {
    if (kinds[kind].make != kind_empty) put_templates();
    kinds[kind].make();
  }
  run_sql("commit");
  sqlite3_close_v2(db); /* statements of insert() are still there */
  if (store_open(argv[2], STORE_WRITE, &store) != HALOTUNE_OK) die(fail_text());
  store_close(store);
  return 0;
}
