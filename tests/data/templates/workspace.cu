// workspace: a thread for each point, and a workspace that nothing reads. A test of verifications with a workspace.
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#include "common.cuh"
#endif

#ifndef BLOCK_X
#define BLOCK_X 32
#endif

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  const index_t x = g.x0 + index_t(blockIdx.x)*BLOCK_X + threadIdx.x, y = g.y0 + blockIdx.y, z = g.z0 + blockIdx.z;
  if (!in_box(g, x, y, z)) return;
  real results[OUTPUTS];
  update(PointTaps{f, g, x, y, z}, COEFFICIENT_VALUES, results);
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) write_point(f, o, g, x, y, z, results[o]);
}
