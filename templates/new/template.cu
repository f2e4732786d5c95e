// TEMPLATE_NAME: a thread for each point, which reads its taps from global memory.
//
//      x -->   |t0|t1|t2|t3|t0|t1|t2|t3|      BLOCK_X 4: two blocks
//
// The two lines below are for a compiler that is given this file alone: nvcc -cubin -I FOLDER_OF_EXAMPLE_CUH TEMPLATE_NAME.cu
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#include "common.cuh"
#endif

// Each parameter of TEMPLATE_NAME.yaml, in capitals. The tuner sets them; these are the values of a file compiled alone.
#ifndef BLOCK_X
#define BLOCK_X 32
#define BLOCK_Y 8
#endif

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  // The box is what has to be computed. Blocks reach beyond it, where its extents are no multiples of theirs.
  const index_t x = g.x0 + index_t(blockIdx.x)*BLOCK_X + threadIdx.x;
  const index_t y = g.y0 + index_t(blockIdx.y)*BLOCK_Y + threadIdx.y;
  const index_t z = g.z0 + blockIdx.z;
  if (!in_box(g, x, y, z)) return;
  real results[OUTPUTS];
  update(PointTaps{f, g, x, y, z}, COEFFICIENT_VALUES, results);
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) write_point(f, o, g, x, y, z, results[o]);
}
