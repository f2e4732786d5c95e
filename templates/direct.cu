// direct: no staging. Each thread reads its taps from global memory and leaves their reuse to the caches.
//
// A block covers BLOCK_X*POINTS_X groups of VECTOR neighbours in x. A thread computes POINTS_X of these groups, BLOCK_X apart,
// so that a warp's accesses stay contiguous; in y and z its points lie BLOCK_Y and BLOCK_Z apart:
//
//      x -->   |t0 t0|t1 t1|t2 t2|t3 t3|t0 t0|t1 t1|t2 t2|t3 t3|      BLOCK_X 4, VECTOR 2, POINTS_X 2
//
// Groups begin at multiples of VECTOR from the row's start, where rows are aligned. A group that lies whole in the box, with
// all its taps inside the grid, is read and written as vectors; any other, point by point.
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#endif

#ifndef BLOCK_X
#define BLOCK_X 128
#define BLOCK_Y 1
#define BLOCK_Z 1
#define VECTOR 1
#define POINTS_X 1
#define POINTS_Y 1
#define POINTS_Z 1
#define MIN_BLOCKS 0
#endif

// Taps of the point at x + lane, taken from aligned vectors: offset and lane are constants after unrolling, so that each
// vector is loaded once however many taps fall into it.
struct VectorTaps {
  const Fields &f;
  const Geometry &g;
  index_t x, y, z;
  int lane;
  __device__ __forceinline__ real operator()(int input, int dx, int dy, int dz) const {
    const int position = lane + dx + 16*VECTOR;  // never negative: no radius is above 16
    const int group = position/VECTOR - 16, element = position%VECTOR;
    real values[VECTOR];
    read_vector(f, input, g, x + group*VECTOR, y + dy, z + dz, values);
    return values[element];
  }
};

// Taps of any point, by the boundary rules.
struct PointTaps {
  const Fields &f;
  const Geometry &g;
  index_t x, y, z;
  __device__ __forceinline__ real operator()(int input, int dx, int dy, int dz) const {
    return read_image(f, input, g, x + dx, y + dy, z + dz);
  }
};

// Whether the taps of [x, x + VECTOR) stay inside the grid.
__device__ __forceinline__ bool taps_inside(const Geometry &g, index_t x, index_t y, index_t z) {
  return x >= LOW_X && x + VECTOR + HIGH_X <= g.nx && y >= LOW_Y && y + HIGH_Y < g.ny && z >= LOW_Z && z + HIGH_Z < g.nz;
}

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  const index_t x_group = g.x0/VECTOR + index_t(blockIdx.x)*(BLOCK_X*POINTS_X) + threadIdx.x;
  const index_t y_first = g.y0 + index_t(blockIdx.y)*(BLOCK_Y*POINTS_Y) + threadIdx.y;
  const index_t z_first = g.z0 + index_t(blockIdx.z)*(BLOCK_Z*POINTS_Z) + threadIdx.z;
#pragma unroll
  for (int k = 0; k < POINTS_Z; k++) {
#pragma unroll
    for (int j = 0; j < POINTS_Y; j++) {
#pragma unroll
      for (int i = 0; i < POINTS_X; i++) {
        const index_t x = (x_group + i*BLOCK_X)*VECTOR, y = y_first + j*BLOCK_Y, z = z_first + k*BLOCK_Z;
        if (x >= g.x1 || y >= g.y1 || z >= g.z1) continue;
        if (x >= g.x0 && x + VECTOR <= g.x1 && taps_inside(g, x, y, z)) {
          real results[OUTPUTS][VECTOR];
#pragma unroll
          for (int lane = 0; lane < VECTOR; lane++) {
            real point[OUTPUTS];
            update(VectorTaps{f, g, x, y, z, lane}, COEFFICIENT_VALUES, point);
#pragma unroll
            for (int o = 0; o < OUTPUTS; o++) results[o][lane] = point[o];
          }
#pragma unroll
          for (int o = 0; o < OUTPUTS; o++) write_vector(f, o, g, x, y, z, results[o]);
        } else {
          for (int lane = 0; lane < VECTOR; lane++) {
            if (x + lane < g.x0 || x + lane >= g.x1) continue;
            real point[OUTPUTS];
            update(PointTaps{f, g, x + lane, y, z}, COEFFICIENT_VALUES, point);
#pragma unroll
            for (int o = 0; o < OUTPUTS; o++) write_point(f, o, g, x + lane, y, z, point[o]);
          }
        }
      }
    }
  }
}
