/* sweep_bench.c: a seeded sample of variants on a real GPU: each compiled, compared with the reference at every 61st point, and
 * timed by its fastest of several batches, beside a copy of the same bytes. A look at templates, not a tuner: no interleaving,
 * no clocks.
 *   sweep_bench STENCIL f32|f64 NX,NY,NZ TEMPLATE SAMPLE SEED [NAME=VALUE,...]
 * Prints a line for each variant, fastest first: GStencil/s, share of the copy, time, registers, parameters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/compile_pool.h"
#include "gpu/kernel.h"
#include "tuner/cli/pick.h"
#include "tuner/verify/compare.h"

enum { BATCHES = 5, BATCH_US = 2000, CHECK_EVERY = 61 };

struct row {
  const struct verify_variant *variant;
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
  struct row *rows;
  struct scene scene;
  CUdeviceptr inputs[MAX_FIELDS], outputs[MAX_FIELDS];
  CUstream stream;
  CUevent start, end;
  size_t bytes; /* of a field */
  void *host;   /* room for one field */
  double copy_ms;
};

#define NEED(call)                                                       \
  do {                                                                   \
    if ((call) != HALOTUNE_OK) {                                         \
      fprintf(stderr, "%s\n", fail_text());                              \
      exit(1);                                                           \
    }                                                                    \
  } while (0)
#define CU(call) NEED(cu_check(&b->cu, b->cu.call, #call))

static void compile_all(struct bench *b, struct compile_pool *pool) {
  long next = 0, done = 0, count = b->picked.count;
  while (done < count) {
    while (next < count && compile_pool_has_room(pool)) {
      struct row *row = &b->rows[next];
      row->variant = &b->picked.variants[next];
      struct variant_spec spec = problem_variant(&b->problem, row->variant->template, &row->variant->configuration);
      if (generate(&spec, &row->generated) != HALOTUNE_OK) {
        snprintf(row->outcome, sizeof row->outcome, "left out: %.150s", fail_text());
        next++, done++;
        continue;
      }
      struct compile_request request = {.source = row->generated.source, .name = row->generated.launch.kernel, .arch = b->problem.arch};
      NEED(compile_pool_submit(pool, (uint64_t)next++, &request));
    }
    struct compile_result result;
    bool have;
    if (done == count) break;
    NEED(compile_pool_wait(pool, -1, &result, &have));
    if (!have) continue;
    struct row *row = &b->rows[result.id];
    row->ready = result.outcome == COMPILE_OK;
    if (!row->ready) snprintf(row->outcome, sizeof row->outcome, "%.190s", result.compiled.log);
    row->compiled = result.compiled;
    done++;
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
  struct scene_request request = {.stencil = stencil, .analysis = b->problem.loaded.analysis, .dtype = b->problem.dtype,
                                  .coefficients = b->problem.coefficients, .input = INPUT_RANDOM, .seed = 1, .steps = 1};
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

/* The copy of as many bytes as the stencil moves at least. */
static void time_copy(struct bench *b) {
  const struct stencil *stencil = b->problem.loaded.stencil;
  double best = INFINITY;
  for (int i = 0; i < 3 * BATCHES; i++) {
    float time_ms;
    CU(event_record(b->start, b->stream));
    for (int k = 0; k < 4; k++) CU(copy_async(b->outputs[0], b->inputs[0], b->bytes, b->stream));
    CU(event_record(b->end, b->stream));
    CU(event_synchronize(b->end));
    CU(event_time(&time_ms, b->start, b->end));
    best = fmin(best, (double)time_ms / 4);
  }
  b->copy_ms = best * (stencil->input_count + stencil->output_count) / 2;
}

static bool check(struct bench *b, struct row *row) {
  const struct stencil *stencil = b->problem.loaded.stencil;
  const struct grid *grid = &b->problem.grid;
  for (int o = 0; o < stencil->output_count; o++) {
    CU(to_host(b->host, b->outputs[o], b->bytes));
    long points = grid_points(grid);
    for (long i = 0; i < points; i += CHECK_EVERY) {
      long x = i % grid->n[0], y = i / grid->n[0] % grid->n[1], z = i / grid->n[0] / grid->n[1];
      const struct box *box = &b->scene.box;
      if (x < box->low[0] || x >= box->high[0] || y < box->low[1] || y >= box->high[1] || z < box->low[2] || z >= box->high[2]) continue;
      double got = b->problem.dtype == DTYPE_F32 ? (double)((float *)b->host)[i] : ((double *)b->host)[i];
      double allowed = b->scene.allowed_units * compare_rounding(b->problem.dtype) * b->scene.magnitudes[o][i];
      if (fabs(got - b->scene.want[o][i]) <= allowed) continue;
      snprintf(row->outcome, sizeof row->outcome, "WRONG at (%ld, %ld, %ld): %g, not %g", x, y, z, got, b->scene.want[o][i]);
      return false;
    }
  }
  return true;
}

static void time_kernel(struct bench *b, struct row *row, struct kernel *kernel, struct kernel_fields *fields) {
  double best = INFINITY;
  int count = 1;
  for (int i = 0; i < BATCHES + 2; i++) {
    float time_ms;
    CU(event_record(b->start, b->stream));
    for (int k = 0; k < count; k++) NEED(cu_check(&b->cu, kernel_launch(kernel, fields, b->stream), "launch"));
    CU(event_record(b->end, b->stream));
    CU(event_synchronize(b->end));
    CU(event_time(&time_ms, b->start, b->end));
    if (i > 1) best = fmin(best, (double)time_ms / count);
    count = (int)fmax(1, fmin(200, BATCH_US * 1e-3 / ((double)time_ms / count)));
  }
  row->time_ms = best;
}

static void run_row(struct bench *b, struct row *row) {
  const struct stencil *stencil = b->problem.loaded.stencil;
  struct kernel kernel;
  struct kernel_fields fields;
  struct variant_spec spec = problem_variant(&b->problem, row->variant->template, &row->variant->configuration);
  struct kernel_plan plan;
  kernel_plan_make(&row->generated.launch, stencil, spec.dtype, &spec.domain, b->problem.coefficients, &plan);
  halotune_status status = kernel_load(&b->cu, row->compiled.cubin, &plan, &kernel);
  if (status == HALOTUNE_OK) status = kernel_bind(&kernel, b->inputs, b->outputs, &fields);
  if (status != HALOTUNE_OK) {
    snprintf(row->outcome, sizeof row->outcome, "%.190s", fail_text());
    return;
  }
  for (int i = 0; i < stencil->output_count; i++) CU(fill_words(b->outputs[i], 0x7fc00000u, b->bytes / 4, b->stream));
  status = cu_check(&b->cu, kernel_launch(&kernel, &fields, b->stream), "launch");
  if (status == HALOTUNE_OK) {
    CU(stream_synchronize(b->stream));
    if (check(b, row)) time_kernel(b, row, &kernel, &fields);
  } else {
    snprintf(row->outcome, sizeof row->outcome, "%.190s", fail_text());
  }
  kernel_fields_free(&kernel, &fields);
  kernel_unload(&kernel);
}

static int compare_rows(const void *left, const void *right) {
  const struct row *a = left, *c = right;
  double x = a->time_ms > 0 ? a->time_ms : INFINITY, y = c->time_ms > 0 ? c->time_ms : INFINITY;
  return (x > y) - (x < y);
}

static void print_rows(const struct bench *b) {
  double points = (double)grid_points(&b->problem.grid);
  printf("# %s, copy of the same bytes %.4f ms\n", b->device.facts.name, b->copy_ms);
  for (long i = 0; i < b->picked.count; i++) {
    const struct row *row = &b->rows[i];
    printf("%7.1f %5.3f %8.4f %3d ", row->time_ms > 0 ? points / row->time_ms * 1e-6 : 0,
           row->time_ms > 0 ? b->copy_ms / row->time_ms : 0, row->time_ms,
           row->ready && row->compiled.report.count > 0 ? row->compiled.report.kernels[0].registers : 0);
    printf("%s", row->variant->template->name);
    for (int p = 0; p < row->variant->template->parameter_count; p++) {
      const struct parameter *parameter = &row->variant->template->parameters[p];
      printf(" %s=%s", parameter->name, parameter->words[row->variant->configuration.choice[p]]);
    }
    printf("  %s\n", row->outcome);
  }
}

int main(int argc, char **argv) {
  static const struct option_row options[] = {PROBLEM_OPTIONS, TEMPLATE_OPTIONS, PICK_OPTIONS, {0}};
  static const struct command command = {.name = "sweep_bench", .options = options};
  static struct bench bench;
  struct bench *b = &bench;
  struct invocation invocation = {.command = &command, .arguments = argv + 1, .argument_count = 1};
  if (argc < 7) return 2;
  const struct { const char *option, *value; } given[] = {{"dtype", argv[2]}, {"grid", argv[3]}, {"template", argv[4]},
                                                          {"sample", argv[5]}, {"seed", argv[6]}, {"set", argc > 7 ? argv[7] : NULL}};
  for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
    for (int k = 0; options[k].name; k++) {
      bool all = strcmp(given[i].option, "template") == 0 && strcmp(argv[4], "all") == 0;
      if (strcmp(options[k].name, given[i].option) == 0 && !all) invocation.values[k] = given[i].value;
    }
  }
  struct compile_pool *pool;
  NEED(compile_pool_open(&(struct compile_pool_options){0}, &pool));
  NEED(problem_open(&invocation, &b->problem));
  NEED(pick_variants(&invocation, &b->problem, 1, &b->picked));
  b->rows = calloc((size_t)b->picked.count + 1, sizeof *b->rows);
  compile_all(b, pool);
  compile_pool_close(pool);
  NEED(cu_open(&b->cu));
  NEED(device_open(&b->cu, 0, &b->device));
  CU(stream_create(&b->stream, 0));
  CU(event_create(&b->start, 0));
  CU(event_create(&b->end, 0));
  make_fields(b);
  time_copy(b);
  for (long i = 0; i < b->picked.count; i++) {
    if (b->rows[i].ready) run_row(b, &b->rows[i]);
  }
  if (b->picked.count > 0) qsort(b->rows, (size_t)b->picked.count, sizeof *b->rows, compare_rows);
  print_rows(b);
  return 0;
}
