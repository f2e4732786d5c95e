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

// The first point of a group of the thread's.
struct Group {
  index_t x, y, z;
};
__device__ __forceinline__ Group group_of(const Geometry &g, int i, int j, int k) {
  const index_t column = g.x0/VECTOR + index_t(blockIdx.x)*(BLOCK_X*POINTS_X) + index_t(threadIdx.x) + i*BLOCK_X;
  return {column*VECTOR, g.y0 + index_t(blockIdx.y)*(BLOCK_Y*POINTS_Y) + index_t(threadIdx.y) + j*BLOCK_Y,
          g.z0 + index_t(blockIdx.z)*(BLOCK_Z*POINTS_Z) + index_t(threadIdx.z) + k*BLOCK_Z};
}

// Whether the group lies in the box as a whole, with all its taps inside the grid.
__device__ __forceinline__ bool is_whole(const Geometry &g, Group p) {
  return p.x >= g.x0 && p.x + VECTOR <= g.x1 && p.y < g.y1 && p.z < g.z1 && taps_inside(g, p.x, p.y, p.z);
}

__device__ __forceinline__ void compute_whole(const Fields &f, const Geometry &g, const Coefficients &coefficients, Group p) {
  real results[OUTPUTS][VECTOR];
#pragma unroll
  for (int lane = 0; lane < VECTOR; lane++) {
    real point[OUTPUTS];
    update(VectorTaps{f, g, p.x, p.y, p.z, lane}, coefficients, point);
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) results[o][lane] = point[o];
  }
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) write_vector(f, o, g, p.x, p.y, p.z, results[o]);
}

__device__ __forceinline__ void compute_point(const Fields &f, const Geometry &g, const Coefficients &coefficients, Group p) {
  real point[OUTPUTS];
  if (!in_box(g, p.x, p.y, p.z)) return;
  update(PointTaps{f, g, p.x, p.y, p.z}, coefficients, point);
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) write_point(f, o, g, p.x, p.y, p.z, point[o]);
}

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  bool all_whole = true;
#pragma unroll
  for (int k = 0; k < POINTS_Z; k++) {
#pragma unroll
    for (int j = 0; j < POINTS_Y; j++) {
#pragma unroll
      for (int i = 0; i < POINTS_X; i++) {
        const Group p = group_of(g, i, j, k);
        const bool whole = is_whole(g, p);
        if (whole) compute_whole(f, g, COEFFICIENT_VALUES, p);
        all_whole = all_whole && whole;
      }
    }
  }
  if (all_whole) return;
  // What is left, at the ends of the grid and of the box: in a loop, so that the boundary rules stand in the code once.
#pragma unroll 1
  for (int n = 0; n < POINTS_X*POINTS_Y*POINTS_Z*VECTOR; n++) {
    const int i = n/VECTOR%POINTS_X, j = n/(VECTOR*POINTS_X)%POINTS_Y, k = n/(VECTOR*POINTS_X*POINTS_Y);
    Group p = group_of(g, i, j, k);
    if (is_whole(g, p)) continue;
    p.x += n%VECTOR;
    compute_point(f, g, COEFFICIENT_VALUES, p);
  }
}
