// patch: a thread reads the taps of a patch of points from global memory, as in `direct`. But its points are neighbours: a vector of VECTOR
// points in x, POINTS_Y rows, POINTS_Z planes. So most vectors that a thread loads serve several of its points from registers. Images
// replace rows beyond the grid, so that all threads take the same path. There is no shared memory and no barrier.
//
//      x -->     . a a .      A star of reach 1, VECTOR 2, POINTS_Y 2, POINTS_Z 1. The thread computes the points p. It reads
//                b p p b      whole vectors: two of p, one above and one below (a), two beside each row (b). The drawing omits
//                b p p b      the vectors of the planes before and behind.
//                . a a .
//
// A thread writes after it has computed all its points, so that all its loads can be in flight at once.
//
// BAND: blocks compute a band of so many rows in all planes before they begin the next band. So the rows that two blocks share are still in
// the L2 cache when the second block reads them, even if planes are large.
//
// ARGUMENTS: the first read of a kernel's arguments in a launch takes as long as a read of memory. The compiler reads the pointers where the
// first tap needs them, which is behind the wait for the launch before. With `early` a block compares them with null before it waits, so that
// this time passes while the launch before still runs.
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#include "common.cuh"
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
#define ARGUMENTS_EARLY 1
#define ARGUMENTS 0
#endif

constexpr int BLOCK_ROWS = BLOCK_Y*POINTS_Y, BLOCK_PLANES = BLOCK_Z*POINTS_Z;

// The patch of a thread, given by its first point.
struct Patch {
  const Fields &f;
  const Geometry &g;
  const Coefficients &coefficients;
  index_t x, y, z;
};

// The vector that replaces one beyond the grid: its image. Beyond `skip` there is no image. The row's last vector is read, and is not used.
__device__ __forceinline__ index_t vector_image(const Geometry &g, index_t x) {
  const index_t image = near_image_x(g, x), last = g.nx - VECTOR;
  return image < last ? image : last;
}

// A stencil of two dimensions has no images of planes.
__device__ __forceinline__ index_t plane_image(const Geometry &g, index_t z) {
#if DIMS > 2
  return near_image_z(g, z);
#else
  return z;
#endif
}
#if PLAIN_ENDS
__device__ __forceinline__ bool is_zero_plane(const Geometry &g, index_t z) {
#if DIMS > 2
  return is_zero_z(g, z);
#else
  return false;
#endif
}
#endif

// Taps of one of the patch's points. The point is a constant after unrolling. So each vector is loaded once, however many taps of the patch
// fall into it.
struct PatchTaps {
  const Patch &p;
  int plane, row, lane;
  __device__ __forceinline__ real operator()(int input, int dx, int dy, int dz) const {
    const Geometry &g = p.g;
    const int position = lane + dx + 16*VECTOR;  // never negative: no radius is above 16
    const index_t x = p.x + (position/VECTOR - 16)*VECTOR, y = p.y + row + dy, z = p.z + plane + dz;
    real values[VECTOR];
    read_vector(p.f, input, g, vector_image(g, x), near_image_y(g, y), plane_image(g, z), values);
#if PLAIN_ENDS
    return is_zero_x(g, x) || is_zero_y(g, y) || is_zero_plane(g, z) ? real(0) : values[position%VECTOR];
#else
    return ghost_value(p.f, input, g, p.x + lane + dx, y, z, values[position%VECTOR]);
#endif
  }
};

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  const BandedBlock block = BAND > 0 ? banded_block<BAND, BLOCK_ROWS, BLOCK_PLANES>(g) : plain_block();
  const Patch p = {f, g, COEFFICIENT_VALUES,
                   g.x0/VECTOR*VECTOR + (index_t(blockIdx.x)*BLOCK_X + index_t(threadIdx.x))*VECTOR,
                   g.y0 + block.y*BLOCK_ROWS + index_t(threadIdx.y)*POINTS_Y,
                   g.z0 + block.z*BLOCK_PLANES + index_t(threadIdx.z)*POINTS_Z};
#if OVERLAP
  launch_dependents();
#if ARGUMENTS == ARGUMENTS_EARLY
  if (f.in[0] == nullptr || f.out[OUTPUTS - 1] == nullptr) return;  // no pointer is null
#endif
  wait_for_previous();
#endif
  if (p.x >= g.x1 || p.y >= g.y1 || p.z >= g.z1) return;
  real results[POINTS_Z][POINTS_Y][OUTPUTS][VECTOR];
#pragma unroll
  for (int plane = 0; plane < POINTS_Z; plane++) {
#pragma unroll
    for (int row = 0; row < POINTS_Y; row++) {
      update_vector(PatchTaps{p, plane, row, 0}, p.coefficients, results[plane][row]);
    }
  }
#pragma unroll
  for (int plane = 0; plane < POINTS_Z; plane++) {
#pragma unroll
    for (int row = 0; row < POINTS_Y; row++) {
      const index_t y = p.y + row, z = p.z + plane;
      if (y < g.y1 && z < g.z1) write_results(f, g, p.x, y, z, results[plane][row]);
    }
  }
}
