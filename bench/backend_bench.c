/* backend_bench.c: runs variants on a backend, without a search. Each one is verified, timed, and verified again. The
 * fastest then runs in rounds with the roof's copy and the empty kernel. It tests the backend; it is not a tuner.
 *   backend_bench cuda|host STENCIL f32|f64 NX,NY,NZ TEMPLATE|all SAMPLE SEED stream|graph steady|cold
 * Prints a line for each variant: outcome, time, GB/s of compulsory traffic, error, reason. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/clock.h"
#include "tuner/cli/options/pick_variants.h"
#include "tuner/measure/backends/backend.h"
#include "tuner/verify/compare.h"

enum { SAMPLES = 5, SAMPLE_US = 200, MOST_BATCH = 200, ROUNDS = 20, FINAL_SLOT = 1 };

#define NEED(call)                                                     \
  do {                                                                 \
    if ((call) != HALOTUNE_OK) {                                       \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, fail_text()); \
      exit(1);                                                         \
    }                                                                  \
  } while (0)

struct bench {
  struct backend_handle backend;
  struct compiler *compiler;
  struct problem problem;
  struct picked picked;
  struct scene scene;
};

struct variant {
  struct variant_spec spec;
  struct generated generated;
  struct compiled compiled;
};

static halotune_status make_variant(struct bench *b, const struct verify_variant *picked, struct variant *out) {
  *out = (struct variant){.spec = problem_variant(&b->problem, picked->template, &picked->configuration)};
  halotune_status status = generate(&out->spec, &out->generated);
  if (status != HALOTUNE_OK || !b->compiler) return status;
  const struct compile_request request = {
      .source = out->generated.source, .name = out->generated.launch.kernel, .arch = b->problem.arch};
  return compiler_compile(b->compiler, &request, &out->compiled);
}

static struct candidate candidate_of(const struct bench *b, const struct variant *v) {
  return (struct candidate){&v->spec, &v->generated, b->compiler ? &v->compiled : NULL, false};
}

static int batch_for(double time_ms) {
  return time_ms > 0 ? (int)fmax(1, fmin(MOST_BATCH, ceil(SAMPLE_US * 1e-3 / time_ms))) : 1;
}

/* The fastest of some samples after a warm-up. */
static double take_fastest(struct bench *b, int slot, double guess_ms, struct verdict *verdict) {
  double times_ms[SAMPLES], best_ms = guess_ms;
  for (int i = 0; i < 3; i++) {
    int batch = batch_for(best_ms), failed;
    const struct sample_plan plan = {
        .slots = &slot, .batches = &batch, .slot_count = 1, .rounds = SAMPLES, .warm = true};
    NEED(b->backend.table->sample(b->backend.state, &plan, times_ms, &failed, verdict));
    if (failed >= 0) return NAN;
    best_ms = INFINITY;
    for (int k = 0; k < SAMPLES; k++) best_ms = fmin(best_ms, times_ms[k]);
  }
  return best_ms;
}

static double gigabytes(const struct bench *b) {
  return (double)grid_points(&b->problem.grid) * b->problem.loaded.analysis->bytes_per_point[b->problem.dtype] * 1e-9;
}

/* Verify and time a variant. Returns its time, or NAN if it has none. */
static double try_variant(struct bench *b, const struct variant *v, int slot) {
  struct verdict verdict, again, loaded;
  struct candidate candidate = candidate_of(b, v);
  double start_ms = clock_ms(), time_ms = NAN;
  NEED(b->backend.table->load(b->backend.state, slot, &candidate, &verdict));
  loaded = verdict;
  double load_ms = clock_ms() - start_ms;
  if (verdict.outcome == OUTCOME_MEASURED) time_ms = take_fastest(b, slot, verdict.run_ms, &verdict);
  double sample_ms = clock_ms() - start_ms - load_ms;
  again = verdict;
  if (verdict.outcome == OUTCOME_MEASURED) NEED(b->backend.table->recheck(b->backend.state, slot, &again));
  printf("outcome %d %10.5f ms %8.1f GB/s error %.3g units | load %.1f ms, samples %.1f ms, recheck %.1f ms | %s %s",
         verdict.outcome, time_ms, gigabytes(b) / (time_ms * 1e-3), loaded.worst.max_error_units, load_ms, sample_ms,
         clock_ms() - start_ms - load_ms - sample_ms, v->spec.template->name, v->generated.launch.kernel);
  printf(" %s%s%s\n", verdict.reason,
         again.outcome == OUTCOME_MEASURED ? "" : " RECHECK: ", again.outcome == OUTCOME_MEASURED ? "" : again.reason);
  if (again.outcome == OUTCOME_MEASURED && slot != FINAL_SLOT) NEED(b->backend.table->unload(b->backend.state, slot));
  return again.outcome == OUTCOME_MEASURED ? time_ms : NAN;
}

/* Run the winner, the copy and the empty kernel in turn, and print the median of each. */
static void run_finals(struct bench *b, const struct variant *best, double best_ms) {
  static const char *const names[] = {"fastest", "empty kernel", "memcpy"};
  const int slots[] = {FINAL_SLOT, SLOT_EMPTY, SLOT_MEMCPY};
  const int batches[] = {batch_for(best_ms), 20, batch_for(best_ms)};
  static double times_ms[ROUNDS * 3];
  struct gpu_reading reading;
  struct verdict verdict;
  int failed;
  if (isnan(try_variant(b, best, FINAL_SLOT))) return;
  double start_ms = clock_ms();
  NEED(b->backend.table->keep_warm(b->backend.state, 50));
  printf("kept warm for %.1f ms\n", clock_ms() - start_ms);
  const struct sample_plan plan = {.slots = slots, .batches = batches, .slot_count = 3, .rounds = ROUNDS, .warm = true};
  NEED(b->backend.table->sample(b->backend.state, &plan, times_ms, &failed, &verdict));
  if (failed >= 0) printf("slot %d: %s\n", failed, verdict.reason);
  for (int i = 0; i < 3; i++) {
    double low = INFINITY, high = 0;
    for (int r = 0; r < ROUNDS; r++) low = fmin(low, times_ms[3 * r + i]), high = fmax(high, times_ms[3 * r + i]);
    printf("%-12s %10.5f to %.5f ms, %.1f GB/s\n", names[i], low, high, gigabytes(b) / (low * 1e-3));
  }
  b->backend.table->read(b->backend.state, &reading);
  printf("SM %d MHz, memory %d MHz, %d C, %.1f W, throttle 0x%llx\n", reading.sm_mhz, reading.memory_mhz,
         reading.temperature_c, reading.power_w, (unsigned long long)reading.throttle);
}

int main(int argc, char **argv) {
  static const struct option_row options[] = {PROBLEM_OPTIONS, TEMPLATE_OPTIONS, PICK_OPTIONS, {0}};
  static const struct command command = {.name = "backend_bench", .options = options};
  static struct bench bench;
  struct bench *b = &bench;
  if (argc < 10) return 2;
  struct invocation invocation = {.command = &command, .arguments = argv + 2, .argument_count = 1};
  const struct {
    const char *option, *value;
  } given[] = {{"dtype", argv[3]}, {"grid", argv[4]}, {"template", argv[5]}, {"sample", argv[6]}, {"seed", argv[7]}};
  for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
    for (int k = 0; options[k].name; k++) {
      bool all = strcmp(given[i].option, "template") == 0 && strcmp(argv[5], "all") == 0;
      if (strcmp(options[k].name, given[i].option) == 0 && !all) invocation.values[k] = given[i].value;
    }
  }
  if (strcmp(argv[1], "cuda") == 0) {
    NEED(compiler_open(&(struct compiler_options){.no_cache = false}, &b->compiler));
    NEED(backend_cuda_open(&(struct backend_cuda_options){.compiler = b->compiler}, &b->backend));
  } else {
    NEED(backend_host_open("sm_90", &b->backend));
  }
  NEED(problem_open(&invocation, &b->problem));
  NEED(pick_variants(&invocation, &b->problem, 1, &b->picked));
  printf("%s, driver %s, CUDA %d\n%s", b->backend.facts.device.name, b->backend.facts.driver, b->backend.facts.cuda,
         b->backend.facts.warnings);
  struct scene_request request = {.stencil = b->problem.loaded.stencil,
                                  .analysis = b->problem.loaded.analysis,
                                  .dtype = b->problem.dtype,
                                  .coefficients = b->problem.coefficients,
                                  .input = INPUT_RANDOM,
                                  .seed = 1,
                                  .steps = 1};
  request.domain = domain_dense(request.stencil, request.analysis, &b->problem.grid);
  NEED(scene_make(&request, &b->scene));
  double start_ms = clock_ms();
  const struct backend_problem problem = {
      .scene = &b->scene,
      .launch = strcmp(argv[8], "graph") == 0 ? LAUNCH_GRAPH : LAUNCH_STREAM,
      .cache = strcmp(argv[9], "cold") == 0 ? CACHE_COLD : CACHE_STEADY,
      .roof_elements = (long long)(gigabytes(b) * 1e9 / 2 / (double)dtype_bytes(b->problem.dtype))};
  NEED(b->backend.table->set_problem(b->backend.state, &problem));
  printf("problem set in %.1f ms\n", clock_ms() - start_ms);
  double best_ms = INFINITY;
  struct variant best = {.generated = {0}};
  for (long i = 0; i < b->picked.count; i++) {
    struct variant v;
    if (make_variant(b, &b->picked.variants[i], &v) == HALOTUNE_OK) {
      double time_ms = try_variant(b, &v, 0);
      if (time_ms < best_ms) {
        best_ms = time_ms;
        best = v;
      }
    } else {
      printf("left out: %.200s\n", fail_text());
    }
  }
  if (best.generated.source) run_finals(b, &best, best_ms);
  backend_close(&b->backend);
  compiler_close(b->compiler);
  scene_free(&b->scene);
  return 0;
}
