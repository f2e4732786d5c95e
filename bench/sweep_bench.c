/* sweep_bench.c: runs a seeded sample of variants on a real GPU. Each is compiled, compared with the reference in some
 * planes, and timed by the fastest of several batches, as is a copy of the same bytes. Then it tries, for ROUNDS
 * rounds, the variants that differ from one of the best in one parameter. At the end the best variants alternate with
 * the copy. It tests templates; it is not a tuner.
 *   sweep_bench STENCIL f32|f64 NX,NY,NZ TEMPLATE|all SAMPLE SEED [ROUNDS [NAME=VALUE,...]]
 * Prints a line for each variant, fastest first: GStencil/s, share of the copy, time, registers, parameters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/sorted.h"
#include "gpu/driver/kernel.h"
#include "gpu/workers/compile_pool.h"
#include "tuner/cli/options/pick_variants.h"
#include "tuner/verify/compare.h"

enum {
  BATCHES = 5,
  BATCH_US = 2000,
  CHECK_EVERY = 61,
  BEST = 4,
  FINALISTS = 5,
  FINAL_TURNS = 9,
  MOST_ROWS = 20000,
  MOST_LINES = 60
};

struct row {
  struct verify_variant variant;
  struct generated generated;
  struct compiled compiled;
  bool ready;
  char outcome[200];
  double time_ms;
};

struct bench {
  struct cu cu;
  struct device device;
  struct problem problem;
  struct picked picked;
  const char *set; /* parameters that are fixed; may be NULL */
  struct row *rows;
  long count;
  struct scene scene;
  CUdeviceptr inputs[MAX_FIELDS], outputs[MAX_FIELDS];
  CUstream stream;
  CUevent start, end;
  size_t bytes; /* of a field */
  void *host;   /* room for one field */
  double copy_ms;
};

#define NEED(call)                          \
  do {                                      \
    if ((call) != HALOTUNE_OK) {            \
      fprintf(stderr, "%s\n", fail_text()); \
      exit(1);                              \
    }                                       \
  } while (0)
#define CU(call) NEED(cu_check(&b->cu, b->cu.call, #call))

/* Compile the rows from `first` on. */
static void compile_all(struct bench *b, struct compile_pool *pool, long first) {
  long next = first, done = first;
  while (done < b->count) {
    while (next < b->count && compile_pool_has_room(pool)) {
      struct row *row = &b->rows[next];
      struct variant_spec spec = problem_variant(&b->problem, row->variant.template, &row->variant.configuration);
      if (generate(&spec, &row->generated) != HALOTUNE_OK) {
        snprintf(row->outcome, sizeof row->outcome, "left out: %.150s", fail_text());
        next++, done++;
        continue;
      }
      struct compile_request request = {
          .source = row->generated.source, .name = row->generated.launch.kernel, .arch = b->problem.arch};
      NEED(compile_pool_submit(pool, (uint64_t)next++, &request));
    }
    struct compile_result result;
    bool have;
    if (done == b->count) break;
    NEED(compile_pool_wait(pool, -1, &result, &have));
    if (!have) continue;
    struct row *row = &b->rows[result.id];
    row->ready = result.outcome == COMPILE_OK;
    if (!row->ready) snprintf(row->outcome, sizeof row->outcome, "%.190s", result.compiled.log);
    row->compiled = result.compiled;
    done++;
  }
}

/* Compile the rows in this process, which profilers can follow: SWEEP_IN_PROCESS=1. */
static void compile_here(struct bench *b, long first) {
  struct nvrtc nvrtc;
  NEED(nvrtc_open(&nvrtc));
  for (long i = first; i < b->count; i++) {
    struct row *row = &b->rows[i];
    struct variant_spec spec = problem_variant(&b->problem, row->variant.template, &row->variant.configuration);
    if (generate(&spec, &row->generated) != HALOTUNE_OK) continue;
    struct compile_request request = {
        .source = row->generated.source, .name = row->generated.launch.kernel, .arch = b->problem.arch};
    row->ready = compile_source(&nvrtc, &request, &row->compiled) == HALOTUNE_OK;
  }
  nvrtc_close(&nvrtc);
}

static void add_row(struct bench *b, const struct verify_variant *variant) {
  for (long i = 0; i < b->count; i++) {
    if (b->rows[i].variant.template == variant->template &&
        memcmp(&b->rows[i].variant.configuration, &variant->configuration, sizeof variant->configuration) == 0)
      return;
  }
  if (b->count < MOST_ROWS) b->rows[b->count++] = (struct row){.variant = *variant};
}

/* Whether the command line fixes a parameter. */
static bool is_fixed(const struct bench *b, const char *name) {
  size_t length = strlen(name);
  for (const char *at = b->set; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    if (strncmp(at, name, length) == 0 && at[length] == '=') return true;
  }
  return false;
}

/* Add the variants that differ from one of the best rows in one parameter. */
static void add_neighbours(struct bench *b) {
  struct verify_variant best[BEST];
  long count = b->count < BEST ? b->count : BEST;
  for (long i = 0; i < count; i++) best[i] = b->rows[i].variant;
  for (long i = 0; i < count; i++) {
    for (int p = 0; p < best[i].template->parameter_count; p++) {
      const struct parameter *parameter = &best[i].template->parameters[p];
      for (int v = 0; v < parameter->value_count && !is_fixed(b, parameter->name); v++) {
        struct verify_variant variant = best[i];
        variant.configuration.choice[p] = (unsigned char)v;
        add_row(b, &variant);
      }
    }
  }
}

static void *packed(struct bench *b, const double *values) {
  size_t points = (size_t)grid_points(&b->problem.grid);
  for (size_t i = 0; i < points; i++) {
    if (b->problem.dtype == DTYPE_F32) ((float *)b->host)[i] = (float)values[i];
    else ((double *)b->host)[i] = values[i];
  }
  return b->host;
}

static void make_fields(struct bench *b) {
  const struct stencil *stencil = b->problem.loaded.stencil;
  struct scene_request request = {.stencil = stencil,
                                  .analysis = b->problem.loaded.analysis,
                                  .dtype = b->problem.dtype,
                                  .coefficients = b->problem.coefficients,
                                  .input = INPUT_RANDOM,
                                  .seed = 1,
                                  .steps = 1};
  request.domain = domain_dense(stencil, b->problem.loaded.analysis, &b->problem.grid);
  NEED(scene_make(&request, &b->scene));
  b->bytes = (size_t)grid_points(&b->problem.grid) * dtype_bytes(b->problem.dtype);
  b->host = malloc(b->bytes);
  for (int i = 0; i < stencil->input_count; i++) {
    CU(mem_alloc(&b->inputs[i], b->bytes));
    CU(to_device(b->inputs[i], packed(b, b->scene.inputs[i]), b->bytes));
  }
  for (int i = 0; i < stencil->output_count; i++) CU(mem_alloc(&b->outputs[i], b->bytes));
}

/* Time a copy of the stencil's compulsory traffic. */
static double time_copy(struct bench *b, int turns) {
  const struct stencil *stencil = b->problem.loaded.stencil;
  double best = INFINITY;
  for (int i = 0; i < turns; i++) {
    float time_ms;
    CU(event_record(b->start, b->stream));
    for (int k = 0; k < 4; k++) CU(copy_async(b->outputs[0], b->inputs[0], b->bytes, b->stream));
    CU(event_record(b->end, b->stream));
    CU(event_synchronize(b->end));
    CU(event_time(&time_ms, b->start, b->end));
    best = fmin(best, (double)time_ms / 4);
  }
  return best * (stencil->input_count + stencil->output_count) / 2;
}

/* The planes that are compared: the first and last ones, and some between. */
static bool is_checked(long z, long nz) { return z < 10 || z >= nz - 10 || z % CHECK_EVERY == 0; }

static bool check_row(struct bench *b, struct row *row) {
  const struct stencil *stencil = b->problem.loaded.stencil;
  const struct grid *grid = &b->problem.grid;
  const struct box *box = &b->scene.box;
  size_t element = dtype_bytes(b->problem.dtype), plane = (size_t)(grid->n[0] * grid->n[1]);
  for (int o = 0; o < stencil->output_count; o++) {
    for (long z = box->low[2]; z < box->high[2]; z++) {
      if (!is_checked(z, grid->n[2])) continue;
      CU(to_host(b->host, b->outputs[o] + (size_t)z * plane * element, plane * element));
      for (size_t k = 0; k < plane; k++) {
        long x = (long)k % grid->n[0], y = (long)k / grid->n[0];
        size_t i = (size_t)z * plane + k;
        if (x < box->low[0] || x >= box->high[0] || y < box->low[1] || y >= box->high[1]) continue;
        double got = b->problem.dtype == DTYPE_F32 ? (double)((float *)b->host)[k] : ((double *)b->host)[k];
        double allowed = b->scene.allowed_units * compare_rounding(b->problem.dtype) * b->scene.magnitudes[o][i];
        if (fabs(got - b->scene.want[o][i]) <= allowed) continue;
        snprintf(row->outcome, sizeof row->outcome, "WRONG at (%ld, %ld, %ld): %g, not %g", x, y, z, got,
                 b->scene.want[o][i]);
        return false;
      }
    }
  }
  return true;
}

static double time_kernel(struct bench *b, struct kernel *kernel, struct kernel_fields *fields, int batches) {
  double best = INFINITY;
  int count = 1;
  for (int i = 0; i < batches + 2; i++) {
    float time_ms;
    CU(event_record(b->start, b->stream));
    for (int k = 0; k < count; k++) NEED(cu_check(&b->cu, kernel_launch(kernel, fields, b->stream), "launch"));
    CU(event_record(b->end, b->stream));
    CU(event_synchronize(b->end));
    CU(event_time(&time_ms, b->start, b->end));
    if (i > 1) best = fmin(best, (double)time_ms / count);
    count = (int)fmax(1, fmin(200, BATCH_US * 1e-3 / ((double)time_ms / count)));
  }
  return best;
}

/* Verify and time a row, or only time it again. Returns the time in ms; 0 if it failed. */
static double run_row(struct bench *b, struct row *row, bool verify, int batches) {
  const struct stencil *stencil = b->problem.loaded.stencil;
  struct kernel kernel;
  struct kernel_fields fields;
  struct variant_spec spec = problem_variant(&b->problem, row->variant.template, &row->variant.configuration);
  struct kernel_plan plan;
  double time_ms = 0;
  kernel_plan_make(&row->generated.launch, stencil, spec.dtype, &spec.domain, b->problem.coefficients, &plan);
  halotune_status status = kernel_load(&b->cu, row->compiled.cubin, &plan, &kernel);
  if (status == HALOTUNE_OK) status = kernel_bind(&kernel, b->inputs, b->outputs, &fields);
  if (status != HALOTUNE_OK) {
    snprintf(row->outcome, sizeof row->outcome, "%.190s", fail_text());
    return 0;
  }
  for (int i = 0; i < stencil->output_count && verify; i++)
    CU(fill_words(b->outputs[i], 0x7fc00000u, b->bytes / 4, b->stream));
  status = cu_check(&b->cu, kernel_launch(&kernel, &fields, b->stream), "launch");
  if (status == HALOTUNE_OK) {
    CU(stream_synchronize(b->stream));
    if (!verify || check_row(b, row)) time_ms = time_kernel(b, &kernel, &fields, batches);
  } else {
    snprintf(row->outcome, sizeof row->outcome, "%.190s", fail_text());
  }
  kernel_fields_free(&kernel, &fields);
  kernel_unload(&kernel);
  return time_ms;
}

static void run_all(struct bench *b, long first) {
  for (long i = first; i < b->count; i++) {
    if (b->rows[i].ready) b->rows[i].time_ms = run_row(b, &b->rows[i], true, BATCHES);
  }
}

/* Run the best variants and the copy alternately, and print the median of their ratios. */
static void run_finals(struct bench *b) {
  double shares[FINALISTS][FINAL_TURNS];
  long count = b->count < FINALISTS ? b->count : FINALISTS;
  while (count > 0 && b->rows[count - 1].time_ms <= 0) count--;
  for (int turn = 0; turn < FINAL_TURNS; turn++) {
    double copy_ms = time_copy(b, 4);
    for (long i = 0; i < count; i++) shares[i][turn] = copy_ms / run_row(b, &b->rows[i], false, 2);
  }
  for (long i = 0; i < count; i++) {
    qsort(shares[i], FINAL_TURNS, sizeof(double), compare_doubles);
    printf("# finalist %ld: share of copy %.4f, from %.4f to %.4f\n", i + 1, shares[i][FINAL_TURNS / 2], shares[i][0],
           shares[i][FINAL_TURNS - 1]);
  }
}

static int compare_rows(const void *left, const void *right) {
  const struct row *a = left, *c = right;
  double x = a->time_ms > 0 ? a->time_ms : INFINITY, y = c->time_ms > 0 ? c->time_ms : INFINITY;
  return (x > y) - (x < y);
}

static void print_rows(const struct bench *b) {
  double points = (double)grid_points(&b->problem.grid);
  printf("# %s, %s %s, copy of the same bytes %.4f ms, %ld variants\n", b->device.facts.name,
         b->problem.loaded.stencil->name, dtype_names[b->problem.dtype], b->copy_ms, b->count);
  for (long i = 0; i < b->count && i < MOST_LINES; i++) {
    const struct row *row = &b->rows[i];
    printf("%7.1f %5.3f %8.4f %3d ", row->time_ms > 0 ? points / row->time_ms * 1e-6 : 0,
           row->time_ms > 0 ? b->copy_ms / row->time_ms : 0, row->time_ms,
           row->ready && row->compiled.report.count > 0 ? row->compiled.report.kernels[0].registers : 0);
    printf("%s", row->variant.template->name);
    for (int p = 0; p < row->variant.template->parameter_count; p++) {
      const struct parameter *parameter = &row->variant.template->parameters[p];
      printf(" %s=%s", parameter->name, parameter->words[row->variant.configuration.choice[p]]);
    }
    printf("  %s\n", row->outcome);
  }
}

static void open_device(struct bench *b) {
  NEED(cu_open(&b->cu));
  NEED(device_open(&b->cu, 0, &b->device));
  CU(stream_create(&b->stream, 0));
  CU(event_create(&b->start, 0));
  CU(event_create(&b->end, 0));
  make_fields(b);
  b->copy_ms = time_copy(b, 3 * BATCHES);
}

int main(int argc, char **argv) {
  static const struct option_row options[] = {PROBLEM_OPTIONS, TEMPLATE_OPTIONS, PICK_OPTIONS("1"), {0}};
  static const struct command command = {.name = "sweep_bench", .options = options};
  static struct bench bench;
  struct bench *b = &bench;
  struct invocation invocation = {.command = &command, .arguments = argv + 1, .argument_count = 1};
  if (argc < 7) return 2;
  const struct {
    const char *option, *value;
  } given[] = {{"dtype", argv[2]},  {"grid", argv[3]}, {"template", argv[4]},
               {"sample", argv[5]}, {"seed", argv[6]}, {"set", argc > 8 ? argv[8] : NULL}};
  int rounds = argc > 7 ? atoi(argv[7]) : 0;
  b->set = argc > 8 ? argv[8] : NULL;
  for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
    for (int k = 0; options[k].name; k++) {
      bool all = strcmp(given[i].option, "template") == 0 && strcmp(argv[4], "all") == 0;
      if (strcmp(options[k].name, given[i].option) == 0 && !all) invocation.values[k] = given[i].value;
    }
  }
  struct compile_pool *pool = NULL;
  if (!getenv("SWEEP_IN_PROCESS")) NEED(compile_pool_open(&(struct compile_pool_options){0}, &pool));
  NEED(problem_open(&invocation, &b->problem));
  NEED(pick_variants(&invocation, &b->problem, 1, &b->picked));
  b->rows = calloc(MOST_ROWS, sizeof *b->rows);
  for (long i = 0; i < b->picked.count; i++) add_row(b, &b->picked.variants[i]);
  for (int round = 0; round <= rounds; round++) {
    long first = b->count;
    if (round == 0) first = 0;
    else add_neighbours(b);
    if (pool) compile_all(b, pool, first);
    else compile_here(b, first);
    if (round == 0) open_device(b);
    run_all(b, first);
    qsort(b->rows, (size_t)b->count, sizeof *b->rows, compare_rows);
  }
  compile_pool_close(pool);
  run_finals(b);
  print_rows(b);
  return 0;
}
