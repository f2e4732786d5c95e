// scatter_direct: a thread marches along z and computes its own points only. It reads planes from global memory; the L1 cache serves the
// values that neighbours share. A plane that comes in is added to the sums of all planes that its taps reach. It is then dropped, so
// registers hold sums instead of planes. There is no barrier: warps advance independently.
//
// Seen from the side for reach 1, while plane p is read:
//
//      sums of p - 1   [+ + + +]   complete after p: finished and written
//      sums of p       [+ + + +]   most of their taps lie in p
//      sums of p + 1   [+ + + +]   begin with p
//
// A thread computes VECTOR neighbours in x times POINTS_Y neighbours in y, so that a loaded vector serves several points. With BLOCK_X 4,
// BLOCK_Y 2, VECTOR 2, POINTS_Y 2, left: numbers of threads; right: what thread 1 reads for a star of reach 1:
//
//      x -->   |0 0|1 1|2 2|3 3|            . . r r . . . .     Threads 0 to 3 have threadIdx.y 0,
//              |0 0|1 1|2 2|3 3|            r r r r r r . .     threads 4 to 7 have 1.
//      y       |4 4|5 5|6 6|7 7|            r r r r r r . .
//              |4 4|5 5|6 6|7 7|            . . r r . . . .
//
// AHEAD: a thread prefetches its own points into the L2 cache, AHEAD planes before it reads them.
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#include "common.cuh"
#endif

#ifndef Z_SLICING
#define VECTOR 4
#define BLOCK_X 32
#define BLOCK_Y 8
#define POINTS_Y 2
#define AHEAD 0
#define Z_SLICING 64
#endif

constexpr int TILE_X = BLOCK_X*VECTOR, TILE_Y = BLOCK_Y*POINTS_Y;

// How far taps reach before and after a vector, in points of whole vectors.
constexpr int BEFORE_X = round_up(LOW_X, VECTOR), AFTER_X = round_up(HIGH_X, VECTOR);

struct Thread {
  const Fields &f;
  const Geometry &g;
  index_t x, y;             // its first point
  index_t z_first, z_last;  // the planes that it computes: z_first <= z < z_last
};

// Read a vector of the current plane, at an offset from the thread's first point. A vector beside the grid reads as 0.
__device__ __forceinline__ void read_near(const Thread &t, int input, int dx, int dy, index_t z, real (&values)[VECTOR]) {
  const index_t x = t.x + dx;
  if (dx == 0 || (x >= 0 && x < t.g.nx)) {
    read_vector(t.f, input, t.g, x, t.y + dy, z, values);
    return;
  }
#pragma unroll
  for (int lane = 0; lane < VECTOR; lane++) values[lane] = real(0);
}

// What taps of the thread's points read of a plane: rows of vectors. Vectors beside a row are loaded only if a tap reads them.
constexpr int ROWS = LOW_Y + POINTS_Y + HIGH_Y, WIDTH = BEFORE_X + VECTOR + AFTER_X;
struct Patch {
  real value[STAGED][ROWS][WIDTH];
};

__device__ __forceinline__ void read_patch(const Thread &t, index_t z, Patch &patch) {
#pragma unroll
  for (int s = 0; s < STAGED; s++) {
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
      const bool beside = !STAR || (row >= LOW_Y && row < LOW_Y + POINTS_Y);
#pragma unroll
      for (int i = 0; i < WIDTH/VECTOR; i++) {
        const int dx = i*VECTOR - BEFORE_X;
        real values[VECTOR];
        if (dx != 0 && !beside) continue;
        read_near(t, staged_input(s), dx, row - LOW_Y, z, values);
#pragma unroll
        for (int lane = 0; lane < VECTOR; lane++) patch.value[s][row][i*VECTOR + lane] = values[lane];
      }
    }
  }
}

// Prefetch the thread's own points of a plane.
__device__ __forceinline__ void ask_ahead(const Thread &t, index_t z) {
#pragma unroll
  for (int s = 0; s < STAGED; s++) {
#pragma unroll
    for (int j = 0; j < POINTS_Y; j++) prefetch_l2(t.f.in[staged_input(s)] + at(t.g, t.x, t.y + j, z));
  }
}

// Taps of one of the thread's points. The point and the offsets are constants after unrolling, so each tap is a register.
struct PlaneTaps {
  const Patch &patch;
  int row, lane;
  __device__ __forceinline__ real operator()(int input, int dx, int dy) const {
    return patch.value[staged_slot(input)][row + dy + LOW_Y][lane + dx + BEFORE_X];
  }
};

// Write the outputs that plane p completes. An output is complete delay(o) planes after its own plane came in.
__device__ __forceinline__ void write_complete(const Thread &t, index_t p, const Coefficients &coefficients,
                                               const real (&sums)[POINTS_Y][VECTOR][FORMS][PLANES]) {
  const Geometry &g = t.g;
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) {
    const index_t z = p - delay(o);
    if (z < t.z_first || z >= t.z_last) continue;
    real inputs[POINTS_Y][INPUTS][VECTOR];  // what finish() reads
    if (FINISH_READS) {
#pragma unroll
      for (int input = 0; input < INPUTS; input++) {
        if (!finish_reads(o, input)) continue;
#pragma unroll
        for (int j = 0; j < POINTS_Y; j++) read_vector(t.f, input, g, t.x, t.y + j, z, inputs[j][input]);
      }
    }
    real results[POINTS_Y][VECTOR];
#pragma unroll
    for (int j = 0; j < POINTS_Y; j++) {
#pragma unroll
      for (int lane = 0; lane < VECTOR; lane++) results[j][lane] = finish(o, FinishTaps<VECTOR>{inputs[j], lane}, coefficients, sums[j][lane]);
    }
#pragma unroll
    for (int j = 0; j < POINTS_Y; j++) write_in_box(t.f, o, g, t.x, t.y + j, z, results[j]);
  }
}

__device__ __forceinline__ void march(const Thread &t, const Weights &weights, const Coefficients &coefficients) {
  real sums[POINTS_Y][VECTOR][FORMS][PLANES] = {};
  const index_t last = t.z_last + longest_delay();
#pragma unroll 1
  for (index_t p = t.z_first - LOW_Z; p < last; p++) {
    Patch patch;
    if (AHEAD > 0 && p + AHEAD < last) ask_ahead(t, p + AHEAD);
    read_patch(t, p, patch);
#pragma unroll
    for (int j = 0; j < POINTS_Y; j++) {
#pragma unroll
      for (int lane = 0; lane < VECTOR; lane++) add_plane(PlaneTaps{patch, j, lane}, weights, sums[j][lane]);
    }
    write_complete(t, p, coefficients, sums);
  }
}

// Compute the thread's points one by one. This is rare: the code is short and needs few registers.
__device__ __forceinline__ void march_points(const Thread &t, const Coefficients &coefficients) {
#pragma unroll 1
  for (index_t z = t.z_first; z < t.z_last; z++) {
#pragma unroll 1
    for (int i = 0; i < VECTOR*POINTS_Y; i++) {
      const index_t x = t.x + i%VECTOR, y = t.y + i/VECTOR;
      compute_point(PointTaps{t.f, t.g, x, y, z}, coefficients, t.f, t.g, x, y, z);
    }
  }
}

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  const Thread t = {f, g, g.x0/VECTOR*VECTOR + index_t(blockIdx.x)*TILE_X + int(threadIdx.x)*VECTOR,
                    g.y0 + index_t(blockIdx.y)*TILE_Y + int(threadIdx.y)*POINTS_Y,
                    share_begin<Z_SLICING>(g, blockIdx.z), share_begin<Z_SLICING>(g, blockIdx.z + 1)};
  if (t.x + VECTOR <= g.x0 || t.x >= g.x1 || t.y >= g.y1) return;
  if (is_interior<VECTOR, VECTOR, POINTS_Y>(t, t.x, t.y)) march(t, weights_of(COEFFICIENT_VALUES), COEFFICIENT_VALUES);
  else march_points(t, COEFFICIENT_VALUES);
}
