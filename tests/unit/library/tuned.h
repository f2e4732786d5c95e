/* tuned.h: databases for tests of lookup, with real stencils, templates and sources. Cubins are made up, so no compiler
 * is needed. */
#ifndef LIBRARY_TUNED_H
#define LIBRARY_TUNED_H

#include "gpu/architecture/arch.h"
#include "include/halotune.h"
#include "stencil/generate/generate.h"
#include "stencil/template/space.h"
#include "stencil/template/template_read.h"
#include "tests/unit/small_cubin.h"
#include "tests/unit/stores.h"
#include "tests/unit/template/templates.h"

/* The GPUs of the tests. */
enum tuned_gpu { GPU_H200, GPU_H100, GPU_A100, GPU_EMULATION };

static inline struct device_facts tuned_device(enum tuned_gpu gpu) {
  static const char *const names[] = {"NVIDIA H200", "NVIDIA H100 PCIe", "NVIDIA A100", "emulation of sm_90"};
  static const char *const uuids[] = {"GPU-200", "GPU-100", "GPU-a100", "emulation-sm_90"};
  static const int sms[] = {132, 114, 108, 132};
  struct device_facts facts = {.capability = gpu == GPU_A100 ? 80 : 90,
                               .sm_count = sms[gpu],
                               .clock_khz = 1980000,
                               .memory_clock_khz = 3201000,
                               .bus_bits = gpu == GPU_H100 ? 5120 : 6144,
                               .l2_bytes = 62914560,
                               .memory_bytes = 1L << 37};
  snprintf(facts.name, sizeof facts.name, "%s", names[gpu]);
  snprintf(facts.uuid, sizeof facts.uuid, "%s", uuids[gpu]);
  facts.limits = arch_device_limits(arch_find(facts.capability / 10, facts.capability % 10));
  return facts;
}

/* A row of a database. */
struct tuned {
  enum tuned_gpu gpu;
  const char *stencil, *template; /* in kernels/ and templates/ */
  const char *set;                /* "vector=4 block_x=64" */
  enum dtype dtype;
  long n[MAX_DIMS];
  enum launch_mode launch;
  enum cache_mode cache;
  bool reproducible;
  double time_ms;
};

/* Store one row. The test fails if the store or the rules refuse it. */
static inline void tuned_put_stencil(struct store *store, const struct tuned *t, struct stencil *stencil,
                                     const char *stencil_text, const struct template *template) {
  static const float samples[] = {1, 1, 1};
  struct analysis *analysis;
  double coefficients[MAX_COEFFICIENTS];
  struct grid grid = {{t->n[0], t->n[1], t->n[2]}};
  struct device_facts device = tuned_device(t->gpu);
  struct generated generated;
  int64_t variant = 0;
  CHECK_OK(analysis_make(stencil, &analysis));
  CHECK_OK(stencil_coefficients(stencil, &grid, coefficients));
  struct variant_spec spec = {.stencil = stencil,
                              .analysis = analysis,
                              .template = template,
                              .dtype = t->dtype,
                              .domain = domain_dense(stencil, analysis, &grid),
                              .coefficients = coefficients,
                              .limits = device.limits,
                              .reproducible = t->reproducible,
                              .most_steps = LAUNCH_MOST_STEPS};
  spec.configuration = configuration_for(&spec, t->set);
  CHECK_OK(generate(&spec, &generated));
  struct problem_key key = {store_device(store, &device, t->gpu == GPU_EMULATION),
                            store_stencil(store, stencil, analysis),
                            t->dtype,
                            grid,
                            t->launch,
                            t->cache,
                            t->reproducible,
                            generated.launch.steps};
  long long bytes = (long long)analysis->bytes_per_point[t->dtype] * grid.n[0] * grid.n[1] * grid.n[2];
  struct run_start start = {.problem = store_problem(store, &key),
                            .command = "halotune tune",
                            .host = "test",
                            .driver = "580.1",
                            .nvrtc = "13.0",
                            .strategy = "random",
                            .cuda = 13000,
                            .bytes = bytes,
                            .text = store_stencil_text(store, key.stencil, stencil_text)};
  int64_t run = store_run_begin(store, &start);
  CHECK(run > 0, "%s", fail_text());
  struct variant_key variant_key = {key.stencil, store_template(store, template), template, &spec.configuration,
                                    generated.hash};
  struct timing timing = {3, t->time_ms, t->time_ms, t->time_ms * 0.99, t->time_ms * 1.01, samples};
  struct measurement measurement = {.outcome = OUTCOME_MEASURED, .reason = "", .number = 1, .timing = timing};
  CHECK_OK(store_measurement(store, run, &variant_key, &measurement, &variant));
  struct finalist finalist = {variant, 1, timing, 1, 1, 1, true, false, 0, 0, 0};
  struct best best = {.problem = start.problem,
                      .variant = variant,
                      .run = run,
                      .driver = "580.1",
                      .nvrtc = "13.0",
                      .arch = device.capability == 80 ? "sm_80" : "sm_90",
                      .second_grid = "",
                      .timing = timing,
                      .default_ms = NAN,
                      .roof_ms = t->time_ms * 0.9,
                      .roof_ratio = 0.9,
                      .roof_ratio_low = 0.89,
                      .roof_ratio_high = 0.91,
                      .empty_ms = NAN,
                      .bytes = bytes,
                      .registers = 40,
                      .occupancy = 1,
                      .launch = &generated.launch,
                      .coefficients = coefficients,
                      .coefficient_count = stencil->coefficient_count,
                      .source = generated.source,
                      .cubin = &small_cubin,
                      .cubin_bytes = sizeof small_cubin};
  struct run_end end = {true, "", NAN, NAN, NAN, "", NAN};
  CHECK_OK(store_final(store, run, &finalist, 1, &best, &end, NULL));
  generated_free(&generated);
  analysis_free(analysis);
}

/* A template of templates/. Each one is read once, and stays until the program ends. */
static inline const struct template *tuned_template(const char *name) {
  static struct template *kept[16];
  static int count;
  char path[128];
  for (int i = 0; i < count; i++) {
    if (strcmp(kept[i]->name, name) == 0) return kept[i];
  }
  CHECK(count < (int)COUNT(kept), "tests use more than %d templates", count);
  snprintf(path, sizeof path, "templates/%s.yaml", name);
  CHECK_OK(template_read(path, &kept[count]));
  return kept[count++];
}

static inline void tuned_put_template(struct store *store, const struct tuned *t, const struct template *template) {
  struct stencil *stencil;
  char path[128], *text = NULL;
  size_t length = 0;
  CHECK_OK(stencil_of_kernels(t->stencil, &stencil));
  snprintf(path, sizeof path, "kernels/%s.yaml", t->stencil);
  CHECK_OK(file_read(path, MAX_STENCIL_BYTES, &text, &length));
  tuned_put_stencil(store, t, stencil, text, template);
  stencil_free(stencil);
  free(text);
}

static inline void tuned_put(struct store *store, const struct tuned *t) {
  tuned_put_template(store, t, tuned_template(t->template));
}

/* Make a database with these rows. */
static inline void tuned_make(const char *path, const struct tuned rows[], size_t count) {
  struct store *store;
  CHECK_OK(store_open(path, STORE_WRITE, &store));
  for (size_t i = 0; i < count; i++) tuned_put(store, &rows[i]);
  store_close(store);
}

/* Make a database with these rows, and open it alone. Returns the ctx; NULL if it cannot be opened. */
static inline halotune_ctx *tuned_open(const char *path, const struct tuned rows[], size_t count) {
  halotune_ctx *ctx = NULL;
  tuned_make(path, rows, count);
  CHECK_OK(halotune_open(&path, 1, &ctx));
  return ctx;
}

/* Run SQL on a database. */
static inline void tuned_change(const char *path, const char *sql) {
  sqlite3 *connection;
  char *error = NULL;
  CHECK(sqlite3_open(path, &connection) == SQLITE_OK, "%s", path);
  CHECK(sqlite3_exec(connection, sql, NULL, NULL, &error) == SQLITE_OK, "%s: %s", sql, error);
  sqlite3_close(connection);
}

/* Set up a group of tests: a folder, and rows that are opened. To be ended with tuned_end, which returns 0. */
static inline int tuned_begin(struct work *work, const struct tuned *rows, size_t count, halotune_ctx **ctx) {
  *work = work_begin();
  *ctx = tuned_open(work->path, rows, count);
  return *ctx ? 0 : -1;
}

static inline int tuned_end(struct work *work, halotune_ctx *ctx) {
  halotune_close(ctx);
  work_end(work);
  return 0;
}

#endif
