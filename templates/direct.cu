// direct: no staging. Each thread reads its taps from global memory. Caches serve the values that several taps read.
//
// A block covers BLOCK_X*POINTS_X vectors of VECTOR neighbours in x. A thread computes POINTS_X of these vectors, BLOCK_X apart,
// so that a warp's accesses stay contiguous. In y and z its points lie BLOCK_Y and BLOCK_Z apart:
//
//      x -->   |t0 t0|t1 t1|t2 t2|t3 t3|t0 t0|t1 t1|t2 t2|t3 t3|      BLOCK_X 4, VECTOR 2, POINTS_X 2
//
// There is no shared memory and no barrier. A thread accesses a vector as a whole if it lies in the box and its taps lie in the grid, and
// otherwise point by point. Where rows are aligned, vectors begin at multiples of VECTOR from the start of a row.
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#include "common.cuh"
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

// One of the thread's vectors, given by its first point.
struct Place {
  index_t x, y, z;
};
__device__ __forceinline__ Place place_of(const Geometry &g, int i, int j, int k) {
  const index_t column = g.x0/VECTOR + index_t(blockIdx.x)*(BLOCK_X*POINTS_X) + index_t(threadIdx.x) + i*BLOCK_X;
  return {column*VECTOR, g.y0 + index_t(blockIdx.y)*(BLOCK_Y*POINTS_Y) + index_t(threadIdx.y) + j*BLOCK_Y,
          g.z0 + index_t(blockIdx.z)*(BLOCK_Z*POINTS_Z) + index_t(threadIdx.z) + k*BLOCK_Z};
}

// Whether the vector lies in the box, and all its taps in the grid.
__device__ __forceinline__ bool is_whole(const Geometry &g, Place p) {
  return p.x >= g.x0 && p.x + VECTOR <= g.x1 && p.y < g.y1 && p.z < g.z1 && (!IMAGES || taps_inside<VECTOR>(g, p.x, p.y, p.z));
}

__device__ __forceinline__ void compute_whole(const Fields &f, const Geometry &g, const Coefficients &coefficients, Place p) {
  real results[OUTPUTS][VECTOR];
  update_vector(VectorTaps<VECTOR>{f, g, p.x, p.y, p.z}, coefficients, results);
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) write_vector(f, o, g, p.x, p.y, p.z, results[o]);
}

// Compute the thread's whole vectors. Then compute the points of the others in a loop, so that the boundary rules appear once in the code.
__device__ __forceinline__ void compute_vectors(const Fields &f, const Geometry &g, const Coefficients &coefficients) {
  bool all_whole = true;
#pragma unroll
  for (int k = 0; k < POINTS_Z; k++) {
#pragma unroll
    for (int j = 0; j < POINTS_Y; j++) {
#pragma unroll
      for (int i = 0; i < POINTS_X; i++) {
        const Place p = place_of(g, i, j, k);
        const bool whole = is_whole(g, p);
        if (whole) compute_whole(f, g, coefficients, p);
        all_whole = all_whole && whole;
      }
    }
  }
  if (all_whole) return;
#pragma unroll 1
  for (int n = 0; n < POINTS_X*POINTS_Y*POINTS_Z*VECTOR; n++) {
    Place p = place_of(g, n/VECTOR%POINTS_X, n/(VECTOR*POINTS_X)%POINTS_Y, n/(VECTOR*POINTS_X*POINTS_Y));
    if (is_whole(g, p)) continue;
    p.x += n%VECTOR;
    compute_point(PointTaps{f, g, p.x, p.y, p.z}, coefficients, f, g, p.x, p.y, p.z);
  }
}

// Compute the thread's points, where no vector is wider than a point and no tap lies beyond the grid.
__device__ __forceinline__ void compute_points(const Fields &f, const Geometry &g, const Coefficients &coefficients) {
#pragma unroll
  for (int k = 0; k < POINTS_Z; k++) {
#pragma unroll
    for (int j = 0; j < POINTS_Y; j++) {
#pragma unroll
      for (int i = 0; i < POINTS_X; i++) {
        const Place p = place_of(g, i, j, k);
        compute_point(PointTaps{f, g, p.x, p.y, p.z}, coefficients, f, g, p.x, p.y, p.z);
      }
    }
  }
}

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  if (VECTOR == 1 && !IMAGES) compute_points(f, g, COEFFICIENT_VALUES);
  else compute_vectors(f, g, COEFFICIENT_VALUES);
}
