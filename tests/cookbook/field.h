/* field.h: fields of floats on the GPU of tests/fake_cuda, and star7 on the CPU, for the programs that run the recipes
 * of docs/cookbook.md. */
#ifndef COOKBOOK_FIELD_H
#define COOKBOOK_FIELD_H

#include <cuda.h>
#include <halotune.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double weights[7] = {0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};

static inline void cuda(CUresult result) {
  if (result == CUDA_SUCCESS) return;
  printf("the driver reported error %d\n", (int)result);
  exit(1);
}

static inline void halotune(halotune_status status) {
  if (status == HALOTUNE_OK) return;
  printf("%s: %s\n", halotune_strstatus(status), halotune_error(NULL));
  exit(1);
}

static inline void make_context_current(void) {
  CUdevice device;
  CUcontext primary;
  cuda(cuInit(0));
  cuda(cuDeviceGet(&device, 0));
  cuda(cuDevicePrimaryCtxRetain(&primary, device));
  cuda(cuCtxSetCurrent(primary));
}

/* Values that differ from point to point. */
static inline void fill(float *values, size_t count) {
  for (size_t i = 0; i < count; i++) values[i] = (float)(i * 7919 % 1009) / 1009;
}

static inline CUdeviceptr upload(const float *values, size_t count) {
  CUdeviceptr pointer;
  cuda(cuMemAlloc(&pointer, count * sizeof(float)));
  cuda(cuMemcpyHtoD(pointer, values, count * sizeof(float)));
  return pointer;
}

/* One step on the CPU: the outermost points keep their values. */
static inline void star7(const float *u, float *v, const long long n[3]) {
  const long long row = n[0], plane = n[0] * n[1];
  memcpy(v, u, (size_t)(plane * n[2]) * sizeof *v);
  for (long long z = 1; z < n[2] - 1; z++) {
    for (long long y = 1; y < n[1] - 1; y++) {
      for (long long x = 1; x < n[0] - 1; x++) {
        const long long at = x + row * y + plane * z;
        v[at] = (float)(weights[0] * u[at] + weights[1] * (u[at - 1] + u[at + 1] + u[at - row] + u[at + row] +
                                                           u[at - plane] + u[at + plane]));
      }
    }
  }
}

/* Compare a field of the GPU with the expected one. A NaN on one side is a difference. Returns the exit code. */
static inline int compare_field(CUdeviceptr pointer, const float *expected, size_t count) {
  float *values = (float *)malloc(count * sizeof *values), worst = 0;
  if (!values) return 1;
  cuda(cuCtxSynchronize());
  cuda(cuMemcpyDtoH(values, pointer, count * sizeof *values));
  for (size_t i = 0; i < count; i++) {
    const float difference = fabsf(values[i] - expected[i]);
    worst = isnan(difference) ? INFINITY : fmaxf(worst, difference); /* fmaxf alone would pass over NaN */
  }
  free(values);
  printf("largest difference %g\n", worst);
  return worst < 1e-5F ? 0 : 1;
}

/* The configuration for star7 on a grid. */
static inline halotune_config look_up(halotune_ctx *ctx, const long long grid[3]) {
  halotune_problem problem;
  halotune_config config;
  memset(&problem, 0, sizeof problem);
  problem.stencil = "star7";
  memcpy(problem.grid, grid, sizeof problem.grid);
  halotune(halotune_lookup(ctx, &problem, &config));
  return config;
}

#endif
