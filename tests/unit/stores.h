/* stores.h: databases for tests, in their own folders, and rows to store in them. */
#ifndef TESTS_UNIT_STORES_H
#define TESTS_UNIT_STORES_H

#include <ftw.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/identity/hash.h"
#include "db/store/schema.h"
#include "db/store/store.h"
#include "stencil/cuda/cuda_tokens.h"
#include "stencil/generate/generate.h"
#include "stencil/template/template_read.h"
#include "tests/unit/stencils.h"
#include "tests/unit/unit.h"

/* A folder that is empty at first. work_end removes it. */
struct work {
  char folder[64], path[96]; /* path: of a database in the folder */
};

static inline struct work work_begin(void) {
  struct work work = {"/tmp/halotune-store-XXXXXX", ""};
  CHECK(mkdtemp(work.folder), "mkdtemp");
  snprintf(work.path, sizeof work.path, "%s/made/halotune.db", work.folder);
  return work;
}

static inline int work_remove(const char *path, const struct stat *facts, int type, struct FTW *place) {
  (void)facts, (void)type, (void)place;
  return remove(path);
}

static inline void work_end(const struct work *work) { nftw(work->folder, work_remove, 8, FTW_DEPTH | FTW_PHYS); }

/* Hash the content of a file. */
static inline struct hash hash_of_file(const char *path) {
  char *bytes = NULL;
  size_t length = 0;
  CHECK_OK(file_read(path, 1 << 28, &bytes, &length));
  struct hash hash = hash_bytes(bytes, length);
  free(bytes);
  return hash;
}

/* SQL that makes a database what version 4 was, behind schema_4_sql and with the database attached as `new`. */
static const char back_to_4[] =
    "insert into device select id, uuid, name, capability, sm_count, clock_khz, memory_clock_khz, bus_bits, l2_bytes,"
    " memory_bytes, max_threads, max_threads_sm, max_registers, registers_sm, max_shared_bytes, warp_size, is_emulation"
    " from new.device;"
    "insert into stencil select s.id, substr(s.hash, 1, 32), s.name, x.text from new.stencil s join new.stencil_text x on"
    " x.stencil_id = s.id group by s.id;"
    "insert into template select id, substr(hash, 1, 32), name, yaml, cuda from new.template;"
    "insert into problem select id, device_id, stencil_id, dtype, nx, ny, nz, launch, cache, is_reproducible from new.problem;"
    "insert into variant select id, substr(source_hash, 1, 32), stencil_id, template_id, parameters from new.variant;"
    "insert into run select id, problem_id, state, reason, started, ended, command, host, version, driver, cuda, nvrtc, seed,"
    " strategy, budget_s, space, bytes, empty_ms, copy_ms, memcpy_ms, warnings, 1, outcomes from new.run;"
    "alter table new.measurement drop column gpu; alter table new.measurement drop column why; insert into measurement select * from new.measurement;"
    " alter table new.finalist drop column energy_mj; alter table new.finalist drop column energy_low_mj;"
    " alter table new.finalist drop column energy_high_mj; insert into finalist select * from new.finalist;"
    "insert into best select id, problem_id, variant_id, run_id, is_current, 1, 'tuned', date, time_ms, low_ms, high_ms,"
    " sample_count, default_ms, roof_ms, roof_ratio, roof_ratio_low, roof_ratio_high, empty_ms, bytes, rms_error, max_error,"
    " max_error_units, second_grid, registers, shared_bytes, occupancy, launch, coefficients, steps, driver, nvrtc, arch,"
    " source, cubin from new.best;"
    "pragma application_id = 1212238927; pragma user_version = 4";

/* SQL that makes a database of version 4 what version 1 was. */
static const char back_to_1[] =
    "pragma foreign_keys = off; create table old (id integer primary key, device_id integer not null references device (id),"
    " stencil_id integer not null references stencil (id), dtype text not null, nx integer not null, ny integer not null,"
    " nz integer not null, launch text not null, cache text not null,"
    " unique (stencil_id, device_id, dtype, nx, ny, nz, launch, cache)) strict;"
    "insert into old select id, device_id, stencil_id, dtype, nx, ny, nz, launch, cache from problem;"
    "drop table problem; alter table old rename to problem; drop index measurement_wrong;"
    "alter table run drop column outcomes; alter table run drop column is_trusted; pragma user_version = 1";

/* SQL that makes a database what version 5 was before it had numbers of steps. */
static const char back_to_5[] =
    "pragma foreign_keys = off; drop table prediction; alter table measurement drop column gpu; alter table measurement drop column why; create table old (id integer primary key, device_id integer not null references device (id),"
    " stencil_id integer not null references stencil (id), dtype text not null, nx integer not null, ny integer not null,"
    " nz integer not null, launch text not null, cache text not null, is_reproducible integer not null,"
    " origin_id integer not null references origin (id),"
    " unique (stencil_id, device_id, dtype, nx, ny, nz, launch, cache, is_reproducible)) strict;"
    "insert into old select id, device_id, stencil_id, dtype, nx, ny, nz, launch, cache, is_reproducible, origin_id from"
    " problem; drop table problem; alter table old rename to problem; pragma user_version = 5";

static const char back_to_6[] =
    "alter table measurement drop column gpu; alter table measurement drop column why; pragma user_version = 6";
static const char back_to_7[] = "alter table measurement drop column why; pragma user_version = 7";
static const char back_to_8[] =
    "alter table run drop column objective; alter table run drop column power_limit_w; alter table run drop column idle_w;"
    " alter table finalist drop column energy_mj; alter table finalist drop column energy_low_mj;"
    " alter table finalist drop column energy_high_mj; alter table best drop column objective;"
    " alter table best drop column energy_mj; pragma user_version = 8";

/* Replace a database by what it would be in an older version: 1, or 4 to 9. */
static inline void make_older(const char *path, int version) {
  char older[128], attach[192], *error = NULL;
  sqlite3 *connection = NULL;
  snprintf(older, sizeof older, "%.100s.older", path);
  snprintf(attach, sizeof attach, "attach '%.100s' as new", path);
  const char *const scripts[] = {schema_4_sql, attach, back_to_4, "detach new", version == 1 ? back_to_1 : ""};
  if (version == 9) {
    CHECK_EQ(SQLITE_OK, sqlite3_open(path, &connection), "%s", path);
    CHECK_EQ(SQLITE_OK, sqlite3_exec(connection, "pragma user_version = 9", NULL, NULL, &error), "%s", error);
    sqlite3_close(connection);
    return;
  }
  if (version >= 5) {
    CHECK_EQ(SQLITE_OK, sqlite3_open(path, &connection), "%s", path);
    const char *const script = version == 5 ? back_to_5 : version == 6 ? back_to_6 : back_to_7;
    CHECK(sqlite3_exec(connection, back_to_8, NULL, NULL, &error) == SQLITE_OK, "%s", error);
    if (version < 8) CHECK(sqlite3_exec(connection, script, NULL, NULL, &error) == SQLITE_OK, "%s", error);
    sqlite3_close(connection);
    return;
  }
  CHECK_EQ(SQLITE_OK, sqlite3_open(older, &connection), "%s", older);
  for (size_t i = 0; i < COUNT(scripts); i++)
    CHECK(sqlite3_exec(connection, scripts[i], NULL, NULL, &error) == SQLITE_OK, "script %zu: %s", i, error);
  sqlite3_close(connection);
  CHECK_EQ(0, rename(older, path), "%s", path);
}

/* The template zmarch with `vector` as the last parameter of its own: it has the same identity. */
static inline struct template *zmarch_in_another_order(const struct template *zmarch) {
  static const char line[] = "  vector: {values: [1, 2, 4], default: 4}\n";
  struct template *reordered;
  char *yaml = strdup(zmarch->yaml);
  char *at = strstr(yaml, line), *end = strstr(yaml, "common: ");
  CHECK(at && end > at, "the parameters");
  memmove(at, at + strlen(line), (size_t)(end - at) - strlen(line));
  memcpy(end - strlen(line), line, strlen(line));
  const struct source source = source_of("zmarch", yaml, strlen(yaml));
  CHECK_OK(template_parse(&source, zmarch->cuda, &reordered));
  CHECK_EQ(0, memcmp(&zmarch->hash, &reordered->hash, sizeof reordered->hash), "one identity");
  free(yaml);
  return reordered;
}

static inline int64_t number_of(struct store *store, const char *sql) {
  sqlite3_stmt *query = NULL;
  int64_t number = -1;
  if (sqlite3_prepare_v2(store_connection(store), sql, -1, &query, NULL) == SQLITE_OK &&
      sqlite3_step(query) == SQLITE_ROW) {
    number = sqlite3_column_int64(query, 0);
  } else {
    print_error("# %s: %s\n", sql, sqlite3_errmsg(store_connection(store)));
  }
  sqlite3_finalize(query);
  return number;
}

/* One problem of star7 with the template zmarch, in an open database. */
struct bench_case {
  struct stencil *stencil;
  struct analysis *analysis;
  struct template *template;
  char *stencil_text;
  struct configuration configuration;
  struct launch launch;
  int64_t device, stencil_id, text_id, template_id, problem;
};

static const struct device_facts case_device = {
    "NVIDIA H200", "GPU-01234567-89ab-cdef-0123-456789abcdef",   90, 132, 1980000, 3201000, 6144, 62914560,
    150754820096,  {90, 1024, 2048, 255, 65536, 232448, 32, 132}};

static inline void case_load(struct bench_case *c) {
  size_t length;
  *c = (struct bench_case){
      .launch = {.kernel = "star7_zmarch", .block = {32, 8, 1}, .grid = {4, 64, 8}, .index_bytes = 4}};
  CHECK_OK(stencil_of_kernels("star7", &c->stencil));
  CHECK_OK(analysis_make(c->stencil, &c->analysis));
  CHECK_OK(template_read("templates/zmarch.yaml", &c->template));
  CHECK_OK(file_read("kernels/star7.yaml", MAX_STENCIL_BYTES, &c->stencil_text, &length));
  c->configuration = configuration_default(c->template);
}

/* Generate the configuration on a grid of nx x 256 x 128 points. Returns what `generate` does. */
static inline halotune_status case_source_make(const struct bench_case *c, long nx, struct generated *out) {
  const struct grid grid = {{nx, 256, 128}};
  double coefficients[MAX_COEFFICIENTS];
  CHECK_OK(stencil_coefficients(c->stencil, &grid, coefficients));
  const struct variant_spec spec = {.stencil = c->stencil,
                                    .analysis = c->analysis,
                                    .template = c->template,
                                    .configuration = c->configuration,
                                    .dtype = DTYPE_F32,
                                    .domain = domain_dense(c->stencil, c->analysis, &grid),
                                    .coefficients = coefficients,
                                    .limits = case_device.limits,
                                    .most_steps = 1};
  return generate(&spec, out);
}

/* The launch that the template gives on this grid, if its rules allow the grid. Most cases ask for the same one, and to
 * generate it takes most of the time of a case. */
static inline void case_generate(struct bench_case *c, long nx) {
  static struct {
    struct identity template;
    struct configuration configuration;
    long nx;
    struct launch launch;
  } last;
  struct generated generated;
  if (last.nx != nx || memcmp(&last.template, &c->template->hash, sizeof last.template) != 0 ||
      memcmp(&last.configuration, &c->configuration, sizeof last.configuration) != 0) {
    if (case_source_make(c, nx, &generated) != HALOTUNE_OK) return; /* rules exclude it on some grids */
    last.template = c->template->hash, last.configuration = c->configuration;
    last.nx = nx, last.launch = generated.launch;
    generated_free(&generated);
  }
  c->launch = last.launch;
}

static inline void case_put(struct bench_case *c, struct store *store, long nx) {
  c->device = store_device(store, &case_device, false);
  c->stencil_id = store_stencil(store, c->stencil, c->analysis);
  c->text_id = store_stencil_text(store, c->stencil_id, c->stencil_text);
  c->template_id = store_template(store, c->template);
  struct problem_key key = {c->device,     c->stencil_id, DTYPE_F32, {{nx, 256, 128}},
                            LAUNCH_STREAM, CACHE_STEADY,  false,     1};
  c->problem = store_problem(store, &key);
  case_generate(c, nx);
  CHECK(c->device > 0 && c->stencil_id > 0 && c->template_id > 0 && c->problem > 0, "%s", fail_text());
}

static inline void case_free(struct bench_case *c) {
  template_free(c->template);
  analysis_free(c->analysis);
  stencil_free(c->stencil);
  free(c->stencil_text);
}

/* A run begins later than all results before it: dates have milliseconds. */
static inline int64_t case_run(const struct bench_case *c, struct store *store, const char *driver) {
  const struct timespec moment = {0, 2000000};
  nanosleep(&moment, NULL);
  struct run_start start = {
      c->problem, "halotune tune star7", "host", driver, "13.0", "exhaustive", 13000, 7, 60, 1234, 1 << 27,
      c->text_id, OBJECTIVE_TIME,        700};
  int64_t run = store_run_begin(store, &start);
  CHECK(run > 0, "%s", fail_text());
  return run;
}

/* A source with this number in it. Valid until the next call. */
static inline const char *case_source(uint64_t number) {
  static char source[64];
  snprintf(source, sizeof source, "__global__ void star7_zmarch() { int n = %d; }\n", (int)number);
  return source;
}

/* The configuration of a numbered variant: that of the case for number 1, and others with the same launch for numbers
 * up to 45 at least. So no two of these variants have their source or their configuration in common, and a verdict is
 * about one of them. Valid for 16 calls. */
static inline const struct configuration *case_configuration(const struct bench_case *c, uint64_t number) {
  static const char *const names[] = {"unroll", "min_blocks", "prefetch", "load_path", "streaming"};
  static struct configuration made[16];
  static int next;
  struct configuration *out = &made[next++ % (int)COUNT(made)];
  uint64_t left = number - 1;
  if (number == 1) return &c->configuration;
  *out = c->configuration;
  for (size_t i = 0; i < COUNT(names); i++) {
    for (int p = 0; p < c->template->parameter_count; p++) {
      const struct parameter *parameter = &c->template->parameters[p];
      if (strcmp(parameter->name, names[i]) != 0) continue;
      const uint64_t count = (uint64_t)parameter->value_count;
      out->choice[p] = (unsigned char)((out->choice[p] + left % count) % count);
      left /= count;
    }
  }
  return out;
}

static inline struct variant_key case_variant(const struct bench_case *c, uint64_t number) {
  const char *source = case_source(number);
  struct variant_key key = {c->stencil_id, c->template_id, c->template, case_configuration(c, number), {{0}}};
  CHECK_OK(source_hash(source, &key.source));
  return key;
}

static const float case_samples[] = {0.33f, 0.325f, 0.3241f};

static inline struct measurement case_measurement(long number) {
  return (struct measurement){.outcome = OUTCOME_MEASURED,
                              .reason = "",
                              .number = number,
                              .at_s = 0.5,
                              .timing = {3, 0.325, 0.3241, 0.3240, 0.33, case_samples},
                              .rms_error = 1e-8,
                              .max_error = 3e-7,
                              .max_error_units = 1.5,
                              .registers = 40,
                              .shared_bytes = 9216,
                              .spill_bytes = 0,
                              .occupancy = 0.75,
                              .blocks_per_sm = 6,
                              .threads = 256,
                              .blocks = 2048,
                              .compile_ms = 88.5,
                              .before = {1755, -1, -1, -1, -1},
                              .after = {1980, 3201, 45, 512.5, 4},
                              .attempts = 1};
}

static const double case_coefficients[] = {0.4, 0.1, 0.11, 0.09, 0.1, 0.12, 0.08};
static const char case_cubin[] = "\177ELF\0cubin";

static inline struct best case_best(const struct bench_case *c, int64_t run, int64_t variant, uint64_t number,
                                    double time_ms) {
  return (struct best){.problem = c->problem,
                       .variant = variant,
                       .run = run,
                       .driver = "580.1",
                       .nvrtc = "13.0",
                       .arch = "sm_90",
                       .second_grid = "509x251x127",
                       .timing = {20, time_ms, time_ms, time_ms * 0.99, time_ms * 1.01, NULL},
                       .default_ms = 0.4,
                       .roof_ms = 0.26,
                       .roof_ratio = 0.8,
                       .roof_ratio_low = 0.79,
                       .roof_ratio_high = 0.81,
                       .empty_ms = 0.002,
                       .bytes = 1 << 27,
                       .rms_error = 1e-8,
                       .max_error = 3e-7,
                       .max_error_units = 1.5,
                       .registers = 40,
                       .shared_bytes = 9216,
                       .occupancy = 0.75,
                       .launch = &c->launch,
                       .coefficients = case_coefficients,
                       .coefficient_count = (int)COUNT(case_coefficients),
                       .source = case_source(number),
                       .cubin = case_cubin,
                       .cubin_bytes = sizeof case_cubin};
}

static const struct run_end case_end = {true, "", 0.002, 0.26, 0.27, "", NAN};

/* Store a complete run of the variants from `first` on. The first one wins with this time. Returns the winner's id. */
static inline int64_t case_tune(struct bench_case *c, struct store *store, uint64_t first, int variants,
                                double time_ms) {
  int64_t run = case_run(c, store, "580.1"), winner = 0;
  for (int i = 0; i < variants; i++) {
    struct measurement measurement = case_measurement(i + 1);
    struct variant_key key = case_variant(c, first + (uint64_t)i);
    CHECK_OK(store_measurement(store, run, &key, &measurement, i == 0 ? &winner : NULL));
  }
  struct finalist finalist = {
      winner, 1, {3, time_ms, time_ms, time_ms, time_ms, case_samples}, 1, 1, 1, true, false, NAN, NAN, NAN};
  struct best best = case_best(c, run, winner, first, time_ms);
  CHECK_OK(store_final(store, run, &finalist, 1, &best, &case_end, NULL));
  return winner;
}

/* Make a database with a complete run of so many variants. */
static inline void make_database(const char *path, long variants) {
  struct store *store;
  struct bench_case c;
  CHECK_OK(store_open(path, STORE_WRITE, &store));
  case_load(&c);
  case_put(&c, store, 512);
  case_tune(&c, store, 1, (int)variants, 0.3);
  case_free(&c);
  store_close(store);
}

static inline void run_sql(const char *path, const char *sql) {
  sqlite3 *connection = NULL;
  CHECK_EQ(SQLITE_OK, sqlite3_open(path, &connection), "%s", path);
  CHECK_EQ(SQLITE_OK, sqlite3_exec(connection, sql, NULL, NULL, NULL), "%s", sqlite3_errmsg(connection));
  sqlite3_close(connection);
}

#endif
