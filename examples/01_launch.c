/* 01_launch.c: runs the winner on your own arrays and your own stream, together with the CUDA runtime. It is plain C,
 * without nvcc.
 *
 *   cc 01_launch.c $(pkg-config --cflags --libs halotune) -I/usr/local/cuda/include -L/usr/local/cuda/lib64 \
 *       -lcudart -lm -o launch
 *
 * It applies star7, the 7-point stencil in three dimensions with seven weights, measures its time, and compares some
 * points with the CPU. */
#include <cuda_runtime_api.h>
#include <halotune.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 512, NY = 512, NZ = 256, LAUNCHES = 100, CHECKS = 10000 };

static const double weights[7] = {0.3, 0.1, 0.15, 0.1, 0.05, 0.2, 0.1}; /* in the order of kernels/star7.yaml */

static void cuda(cudaError_t error) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
  exit(1);
}

static void halotune(halotune_status status) {
  if (status == HALOTUNE_OK) return;
  fprintf(stderr, "%s: %s\n", halotune_strstatus(status), halotune_error(NULL));
  exit(1);
}

/* The largest error at some points that the kernel computed. */
static double largest_error(const float *u, const float *v) {
  const long row = NX, plane = (long)NX * NY;
  double worst = 0;
  srand(1);
  for (int i = 0; i < CHECKS; i++) {
    long x = 1 + rand() % (NX - 2), y = 1 + rand() % (NY - 2), z = 1 + rand() % (NZ - 2), at = x + row * y + plane * z;
    double want = weights[0] * u[at] + weights[1] * u[at - 1] + weights[2] * u[at + 1] + weights[3] * u[at - row] +
                  weights[4] * u[at + row] + weights[5] * u[at - plane] + weights[6] * u[at + plane];
    double difference = fabs(want - v[at]);
    worst = isnan(difference) ? INFINITY : fmax(worst, difference); /* fmax alone would pass over NaN */
  }
  return worst;
}

int main(void) {
  const size_t points = (size_t)NX * NY * NZ, bytes = points * sizeof(float);
  float *u = malloc(bytes), *v = malloc(bytes);
  void *device_u, *device_v;
  cudaStream_t stream;
  if (!u || !v) return 1;
  for (size_t i = 0; i < points; i++) u[i] = (float)rand() / (float)RAND_MAX;
  cuda(cudaStreamCreate(&stream));
  cuda(cudaMalloc(&device_u, bytes));
  cuda(cudaMalloc(&device_v, bytes));
  cuda(cudaMemcpy(device_u, u, bytes, cudaMemcpyHostToDevice));

  /* Look up and make the kernel once. Without a named device, the lookup uses that of the current context. */
  halotune_ctx *ctx;
  halotune_config config;
  halotune_kernel *kernel;
  halotune_kernel_facts facts;
  halotune_problem problem;
  memset(&problem, 0, sizeof problem);
  problem.stencil = "star7";
  problem.dtype = HALOTUNE_F32;
  problem.grid[0] = NX, problem.grid[1] = NY, problem.grid[2] = NZ;
  halotune(halotune_open(NULL, 0, &ctx));
  halotune(halotune_lookup(ctx, &problem, &config));
  halotune(halotune_kernel_create(ctx, &config, weights, NULL, &kernel));
  halotune_kernel_info(kernel, &facts);
  printf("%s: %s %s, code from: %s\n", halotune_match_name(config.match), facts.template_name, facts.parameters,
         facts.code);

  /* Launch as often as you like. */
  const void *inputs[] = {device_u};
  void *outputs[] = {device_v};
  cudaEvent_t start, stop;
  float time_ms;
  cuda(cudaEventCreate(&start));
  cuda(cudaEventCreate(&stop));
  halotune(halotune_kernel_launch(kernel, stream, inputs, outputs)); /* the first launch checks the pointers */
  cuda(cudaEventRecord(start, stream));
  for (int i = 0; i < LAUNCHES; i++) halotune(halotune_kernel_launch(kernel, stream, inputs, outputs));
  cuda(cudaEventRecord(stop, stream));
  cuda(cudaMemcpyAsync(v, device_v, bytes, cudaMemcpyDeviceToHost, stream));
  cuda(cudaStreamSynchronize(stream));
  cuda(cudaEventElapsedTime(&time_ms, start, stop));
  time_ms /= LAUNCHES;
  double error = largest_error(u, v);
  printf("%.4f ms, %.0f GB/s; largest error of %d points: %.1e\n", time_ms, 2.0 * (double)bytes / time_ms * 1e-6,
         CHECKS, error);

  halotune_kernel_free(kernel);
  halotune_close(ctx);
  cudaFree(device_u);
  cudaFree(device_v);
  free(u);
  free(v);
  return error < 1e-5 ? 0 : 1;
}
