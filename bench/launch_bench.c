/* launch_bench.c: the cost of halotune_kernel_launch compared with cuLaunchKernel, for the same kernel and arguments,
 * on the GPU of this machine. Prints both, and fails if they differ by more than 200 ns.
 *   launch_bench [DATABASE]   it launches the kernel of a lookup of star7; build/starter.db by default */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory/sorted.h"
#include "base/system/clock.h"
#include "library/kernel/kernel_set.h"

enum { POINTS = 32, BATCH = 200, BATCHES = 400, LIMIT_NS = 200 };

struct bench {
  const struct cu *cu;
  halotune_kernel *kernel;
  CUstream stream;
  CUdeviceptr fields[2];
};

static halotune_status launch_ours(struct bench *b, int step) {
  const void *inputs[] = {(const void *)(uintptr_t)b->fields[step % 2]};
  void *outputs[] = {(void *)(uintptr_t)b->fields[1 - step % 2]};
  return halotune_kernel_launch(b->kernel, b->stream, inputs, outputs);
}

static halotune_status launch_driver(struct bench *b, int step) {
  struct kernel *k = &b->kernel->main->kernel;
  CUdeviceptr input = b->fields[step % 2], output = b->fields[1 - step % 2];
  void *arguments[] = {&input, &output, k->plan.geometry, k->plan.coefficients};
  CUresult result = b->cu->launch(k->function, k->plan.grid[0], k->plan.grid[1], k->plan.grid[2], k->plan.block[0],
                                  k->plan.block[1], k->plan.block[2], k->plan.shared_bytes, b->stream, arguments, NULL);
  return cu_check(b->cu, result, "cuLaunchKernel");
}

/* Nanoseconds of a call: the median over batches. Between batches the stream runs empty, so that its queue is never
 * full. Both calls alternate, so that other load affects both. */
static halotune_status measure_calls(struct bench *b, double *ours_ns, double *driver_ns) {
  static double times[2][BATCHES];
  halotune_status (*const launches[])(struct bench *, int) = {launch_ours, launch_driver};
  halotune_status status = HALOTUNE_OK;
  for (int batch = 0; batch < BATCHES && status == HALOTUNE_OK; batch++) {
    for (int way = 0; way < 2; way++) {
      double start = clock_ms();
      for (int i = 0; i < BATCH && status == HALOTUNE_OK; i++) status = launches[way](b, i);
      times[way][batch] = (clock_ms() - start) * 1e6 / BATCH;
      if (status == HALOTUNE_OK) status = cu_check(b->cu, b->cu->stream_synchronize(b->stream), "cuStreamSynchronize");
    }
  }
  for (int way = 0; way < 2; way++) qsort(times[way], BATCHES, sizeof(double), compare_doubles);
  *ours_ns = times[0][BATCHES / 2];
  *driver_ns = times[1][BATCHES / 2];
  return status;
}

static halotune_status run_bench(halotune_ctx *ctx, struct bench *b, double *ours_ns, double *driver_ns) {
  const size_t bytes = sizeof(float) * POINTS * POINTS * POINTS;
  halotune_problem problem = {.stencil = "star7", .grid = {POINTS, POINTS, POINTS}};
  halotune_config config;
  halotune_status status = halotune_lookup(ctx, &problem, &config);
  if (status == HALOTUNE_OK) status = halotune_kernel_create(ctx, &config, NULL, NULL, &b->kernel);
  if (status == HALOTUNE_OK && b->kernel->main->kernel.plan.input_maps.count > 0)
    status = fail(HALOTUNE_ARGUMENT,
                  "the kernel takes tensor maps, which the plain launch does not make: name another database");
  if (status == HALOTUNE_OK)
    status = cu_check(b->cu, b->cu->stream_create(&b->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  for (int i = 0; i < 2 && status == HALOTUNE_OK; i++) {
    status = cu_check(b->cu, b->cu->mem_alloc(&b->fields[i], bytes), "cuMemAlloc");
    if (status == HALOTUNE_OK)
      status = cu_check(b->cu, b->cu->fill_words(b->fields[i], 0, bytes / 4, b->stream), "cuMemsetD32Async");
  }
  return status == HALOTUNE_OK ? measure_calls(b, ours_ns, driver_ns) : status;
}

int main(int argc, char **argv) {
  const char *paths[] = {argc > 1 ? argv[1] : "build/starter.db"};
  halotune_ctx *ctx = NULL;
  struct cu cu;
  struct device device = {.ordinal = 0};
  struct bench bench = {.cu = &cu};
  double ours_ns = 0, driver_ns = 0;
  halotune_status status = cu_open(&cu);
  if (status == HALOTUNE_OK) status = device_open(&cu, 0, &device);
  if (status == HALOTUNE_OK) status = halotune_open(paths, 1, &ctx);
  if (status == HALOTUNE_OK) status = run_bench(ctx, &bench, &ours_ns, &driver_ns);
  if (status != HALOTUNE_OK) fprintf(stderr, "launch_bench: %s\n", fail_text());
  double more_ns = ours_ns - driver_ns;
  if (status == HALOTUNE_OK) {
    printf("cuLaunchKernel %.0f ns, halotune_kernel_launch %.0f ns: %.0f ns more, limit %d  %s\n", driver_ns, ours_ns,
           more_ns, LIMIT_NS, more_ns <= LIMIT_NS ? "ok" : "MISSED");
  }
  for (int i = 0; i < 2; i++) {
    if (bench.fields[i]) cu.mem_free(bench.fields[i]);
  }
  if (bench.stream) cu.stream_destroy(bench.stream);
  halotune_kernel_free(bench.kernel);
  halotune_close(ctx);
  device_close(&device);
  cu_close(&cu);
  return status != HALOTUNE_OK || more_ns > LIMIT_NS;
}
