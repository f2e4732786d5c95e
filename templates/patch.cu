// patch: as in `direct`, each thread reads its taps from global memory. But its points lie together, VECTOR neighbours in x times POINTS_Y
// rows times POINTS_Z planes, so that most of the vectors that it reads serve several of its points, out of registers; and rows beyond the
// grid are those of their images, so that no thread takes another way there.
//
//      x -->     . a a .      Star of reach 1, VECTOR 2, POINTS_Y 2, POINTS_Z 1: the thread computes p of vectors that it reads as
//                b p p b      a whole, 4 above and below its points, 2 beside each row; and others in the planes before and behind.
//                b p p b
//                . a a .
//
// All loads of a patch may be under way at once, since nothing is written before all is computed.
//
// BAND: blocks take so many rows through all planes before they begin with the next ones, so that what blocks share of large planes is
// still in the L2 cache when the second one comes to it.
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#endif

#ifndef POINTS_Z
#define VECTOR 1
#define BLOCK_X 32
#define BLOCK_Y 4
#define BLOCK_Z 1
#define POINTS_Y 2
#define POINTS_Z 1
#define BAND 0
#define OVERLAP 0
#endif

constexpr int BLOCK_ROWS = BLOCK_Y*POINTS_Y, BLOCK_PLANES = BLOCK_Z*POINTS_Z;

// A thread's patch by its first point, which is in the box.
struct Patch {
  const Fields &f;
  const Geometry &g;
  const Coefficients &coefficients;
  index_t x, y, z;
};

// The vector in place of one that lies beyond the grid: its image, or where there is none the last one of the row.
__device__ __forceinline__ index_t vector_image(const Geometry &g, index_t x) {
  const index_t image = near_image_x(g, x), last = g.nx - VECTOR;
  return image < last ? image : last;
}

// Planes, where there are any.
__device__ __forceinline__ index_t plane_image(const Geometry &g, index_t z) {
#if DIMS > 2
  return near_image_z(g, z);
#else
  return z;
#endif
}
__device__ __forceinline__ bool is_zero_plane(const Geometry &g, index_t z) {
#if DIMS > 2
  return is_zero_z(g, z);
#else
  return false;
#endif
}

// Taps of one of the patch's points. Which of the point's neighbours they are is known to the compiler: a vector is loaded once however
// many taps of the patch fall into it.
struct VectorTaps {
  const Patch &p;
  int plane, row, lane;
  __device__ __forceinline__ real operator()(int input, int dx, int dy, int dz) const {
    const Geometry &g = p.g;
    const int position = lane + dx + 16*VECTOR;  // never negative: no radius is above 16
    const index_t x = p.x + (position/VECTOR - 16)*VECTOR, y = p.y + row + dy, z = p.z + plane + dz;
    real values[VECTOR];
    read_vector(p.f, input, g, vector_image(g, x), near_image_y(g, y), plane_image(g, z), values);
    return is_zero_x(g, x) || is_zero_y(g, y) || is_zero_plane(g, z) ? real(0) : values[position%VECTOR];
  }
};

// The results of one vector.
struct Results {
  real value[OUTPUTS][VECTOR];
};

__device__ __forceinline__ void compute(const Patch &p, int plane, int row, Results &results) {
#pragma unroll
  for (int lane = 0; lane < VECTOR; lane++) {
    real point[OUTPUTS];
    update(VectorTaps{p, plane, row, lane}, p.coefficients, point);
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) results.value[o][lane] = point[o];
  }
}

__device__ __forceinline__ void write(const Patch &p, int plane, int row, const Results &results) {
  const Geometry &g = p.g;
  const index_t y = p.y + row, z = p.z + plane;
  if (y >= g.y1 || z >= g.z1) return;
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) write_in_box(p.f, o, g, p.x, y, z, results.value[o]);
}

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  const BandedBlock block = banded_block<BAND, BLOCK_ROWS, BLOCK_PLANES>(g);
  const Patch p = {f, g, COEFFICIENT_VALUES,
                   g.x0/VECTOR*VECTOR + (index_t(blockIdx.x)*BLOCK_X + index_t(threadIdx.x))*VECTOR,
                   g.y0 + block.y*BLOCK_ROWS + index_t(threadIdx.y)*POINTS_Y,
                   g.z0 + block.z*BLOCK_PLANES + index_t(threadIdx.z)*POINTS_Z};
#if OVERLAP
  launch_dependents();
  wait_for_previous();
#endif
  if (p.x >= g.x1 || p.y >= g.y1 || p.z >= g.z1) return;
  Results results[POINTS_Z][POINTS_Y];
#pragma unroll
  for (int plane = 0; plane < POINTS_Z; plane++) {
#pragma unroll
    for (int row = 0; row < POINTS_Y; row++) compute(p, plane, row, results[plane][row]);
  }
#pragma unroll
  for (int plane = 0; plane < POINTS_Z; plane++) {
#pragma unroll
    for (int row = 0; row < POINTS_Y; row++) write(p, plane, row, results[plane][row]);
  }
}
