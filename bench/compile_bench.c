/* compile_bench.c: how many compiles per second the pool does with one worker and with more. All sources differ, and
 * there is no cache. Usage: compile_bench [MOST_WORKERS [KERNELS]]; without MOST_WORKERS, one for each usable core.
 *
 * Rounds with different numbers of workers alternate, and the best round of each number counts. Other load, and a
 * virtual machine that runs two processes on one core, can only make a round slower. */
#include <stdio.h>
#include <stdlib.h>

#include "base/system/clock.h"
#include "base/system/cores.h"
#include "gpu/workers/compile_pool.h"

enum { KERNELS = 200, WARM_UP = 2, ROUNDS = 3, MAX_COUNTS = 16 };

/* Write a z-march over a 7-point stencil with its planes in registers, like the tuner's templates. Each `number` gives
 * a different source. */
static void write_source(int number, struct text *out) {
  text_printf(out, "#define COEFFICIENT %d.25f\n#define BLOCK_X %d\n#define PLANES %d\n", number, 32 << (number % 2),
              4 + number % 5);
  text_printf(out, "%s",
              "extern \"C\" __global__ void __launch_bounds__(256) march(const float *__restrict__ u, float "
              "*__restrict__ v, int nx, int ny, long plane) {\n"
              "  int x = blockIdx.x * BLOCK_X + threadIdx.x + 1, y = blockIdx.y * 4 + threadIdx.y + 1;\n"
              "  if (x >= nx - 1 || y >= ny - 1) return;\n"
              "  long at = (blockIdx.z * PLANES + 1) * plane + (long)y * nx + x;\n"
              "  float below = u[at - plane], here = u[at];\n"
              "#pragma unroll\n"
              "  for (int z = 0; z < PLANES; z++, at += plane) {\n"
              "    float above = u[at + plane];\n"
              "    v[at] = COEFFICIENT * here + (u[at - 1] + u[at + 1] + u[at - nx] + u[at + nx] + below + above);\n"
              "    below = here, here = above;\n"
              "  }\n}\n");
}

static int fail_bench(void) {
  fprintf(stderr, "compile_bench: %s\n", fail_text());
  return EXIT_FAILURE;
}

/* Compile sources first to first + count - 1. Returns false if one did not compile. */
static bool compile_all(struct compile_pool *pool, int first, int count) {
  static const char arch[] = "sm_90";
  int submitted = 0, done = 0;
  while (done < count) {
    struct compile_result result;
    bool have;
    while (submitted < count && compile_pool_has_room(pool)) {
      struct text source = {0};
      write_source(first + submitted, &source);
      struct compile_request request = {.source = text_string(&source), .name = "bench.cu", .arch = arch};
      halotune_status status = compile_pool_submit(pool, (uint64_t)submitted++, &request);
      text_free(&source);
      if (status != HALOTUNE_OK) return false;
    }
    if (compile_pool_wait(pool, -1, &result, &have) != HALOTUNE_OK || !have) return false;
    bool fine = result.outcome == COMPILE_OK;
    if (!fine) fail(HALOTUNE_COMPILE, "%s: %s", compile_outcome_name(result.outcome), result.compiled.log);
    compile_result_free(&result);
    if (!fine) return false;
    done++;
  }
  return true;
}

/* Compiles per second with this number of warm workers; 0 on failure. */
static double measure_rate(int workers, int kernels) {
  struct compile_pool *pool;
  double rate = 0;
  const struct compile_pool_options options = {.workers = workers};
  if (compile_pool_open(&options, &pool) != HALOTUNE_OK) return 0;
  if (compile_all(pool, kernels, WARM_UP * workers)) {
    double start_ms = clock_ms();
    if (compile_all(pool, 0, kernels)) rate = kernels / (clock_ms() - start_ms) * 1e3;
  }
  compile_pool_close(pool);
  return rate;
}

/* Fill in 1, 2, 4, ... and `most` itself. Returns how many these are. */
static int worker_counts(int most, int counts[MAX_COUNTS]) {
  int count = 0;
  for (int workers = 1; workers < most && count < MAX_COUNTS - 1; workers *= 2) counts[count++] = workers;
  counts[count++] = most;
  return count;
}

int main(int argc, char **argv) {
  int counts[MAX_COUNTS];
  double best[MAX_COUNTS] = {0};
  int usable = cores_usable();
  int most = argc > 1 ? (int)strtol(argv[1], NULL, 10) : usable;
  int kernels = argc > 2 ? (int)strtol(argv[2], NULL, 10) : KERNELS;
  int count = worker_counts(most, counts);
  printf("%d kernels, %d usable cores, compiles a second in %d rounds\n", kernels, usable, ROUNDS);
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < count; i++) {
      double rate = measure_rate(counts[i], kernels);
      if (rate <= 0) return fail_bench();
      printf("%s%8.1f", i == 0 ? "" : "  ", rate);
      if (rate > best[i]) best[i] = rate;
    }
    printf("\n");
  }
  printf("workers  compiles/s  speedup  efficiency\n");
  for (int i = 0; i < count; i++) {
    printf("%7d  %10.1f  %7.2f  %10.2f\n", counts[i], best[i], best[i] / best[0], best[i] / best[0] / counts[i]);
  }
  return EXIT_SUCCESS;
}
