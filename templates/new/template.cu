// TEMPLATE_NAME: each thread computes POINTS_Y rows of one column, and reads its taps from global memory.
//
//      x -->   |t0|t1|t2|t3|t0|t1|t2|t3|      BLOCK_X 4: two blocks
//
// To compile this file alone: `nvcc -cubin -I FOLDER TEMPLATE_NAME.cu`. FOLDER is the one that holds example.cuh and common.cuh. The parameters
// then have the values below.
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#include "common.cuh"
#endif

#ifndef BLOCK_X
#define BLOCK_X 32
#define BLOCK_Y 4
#define POINTS_Y 1
#endif

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  const index_t x = g.x0 + index_t(blockIdx.x)*BLOCK_X + threadIdx.x;
  const index_t z = g.z0 + blockIdx.z;
#pragma unroll
  for (int j = 0; j < POINTS_Y; j++) {
    const index_t y = g.y0 + (index_t(blockIdx.y)*POINTS_Y + j)*BLOCK_Y + threadIdx.y;
    if (!in_box(g, x, y, z)) continue;  // the last blocks reach beyond what is to be computed
    real results[OUTPUTS];
    update(PointTaps{f, g, x, y, z}, COEFFICIENT_VALUES, results);
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) write_point(f, o, g, x, y, z, results[o]);
  }
}
