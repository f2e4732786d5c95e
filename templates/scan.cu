// scan: the inclusive sum along an axis. A register carries the sum of the earlier part of a line.
//
// METHOD_MARCH, along y or z: a thread owns VECTOR neighbouring lines in x. In each turn the BLOCK_Y threads of a column load POINTS points
// of the lines each and sum them. After a barrier they read the other threads' sums from shared memory:
//
//      axis      thread 0: 1 2 3        own sums:  1 3 6        and written:  1 3 6          POINTS 3, BLOCK_Y 2
//       |        thread 1: 4 5 6                   4 9 15       6 +           10 15 21
//       v        thread 0: 7 8 9        carried: 21             ...
//
// METHOD_SHUFFLE, along x: BLOCK_X threads scan a row. In each turn a thread loads POINTS vectors of VECTOR neighbours. Shuffles add the
// sums of earlier lanes of its warp; shared memory adds those of earlier warps of the row. A warp scans several short rows.
//
//      x -->     | t0 | t1 | t2 | ... | t31 |     own sums; then + those of all lanes before; then + what is carried
//
// METHOD_TILE, along x: a block loads 32 rows to shared memory, 32 columns at a time. After a barrier one warp sums them, each lane one
// row. PADDING avoids bank conflicts between the lanes.
#ifndef HALOTUNE_PRELUDE
#include "example_scan.cuh"
#include "common.cuh"
#endif

#ifndef METHOD
#define METHOD_MARCH 0
#define METHOD_SHUFFLE 1
#define METHOD_TILE 2
#define METHOD METHOD_MARCH
#define BLOCK_X 32
#define BLOCK_Y 4
#define VECTOR 1
#define POINTS 4
#define PADDING 0
#endif

constexpr int WARP = 32, TILE = 32, LANES = BLOCK_X < WARP ? BLOCK_X : WARP;  // LANES: lanes of a warp in the same row

struct Columns {
  const Fields &f;
  const Geometry &g;
  index_t x, across;  // the thread's first line in x; the other axis' index
  __device__ __forceinline__ index_t begin() const { return AXIS == 2 ? g.z0 : g.y0; }  // of the box
  __device__ __forceinline__ index_t end() const { return AXIS == 2 ? g.z1 : g.y1; }
  __device__ __forceinline__ index_t y(index_t i) const { return AXIS == 2 ? across : i; }
  __device__ __forceinline__ index_t z(index_t i) const { return AXIS == 2 ? i : across; }
};

__device__ __forceinline__ void march(const Fields &f, const Geometry &g) {
  const Columns c = {f, g, g.x0/VECTOR*VECTOR + (index_t(blockIdx.x)*BLOCK_X + index_t(threadIdx.x))*VECTOR,
                     AXIS == 2 ? g.y0 + index_t(blockIdx.y) : g.z0 + index_t(blockIdx.z)};
  real *totals = SHARED_MEMORY(real);
  real carried[VECTOR] = {};
  int turn = 0;  // totals have two places, used in turn: one barrier a turn is enough
#pragma unroll 1
  for (index_t chunk = 0; chunk < c.end(); chunk += BLOCK_Y*POINTS, turn = 1 - turn) {
    const index_t first = chunk + index_t(threadIdx.y)*POINTS;
    real sums[POINTS][VECTOR];
#pragma unroll
    for (int p = 0; p < POINTS; p++) {
      if (first + p < c.end()) {
        read_in_row(f, 0, g, c.x, c.y(first + p), c.z(first + p), sums[p]);
      } else {
#pragma unroll
        for (int lane = 0; lane < VECTOR; lane++) sums[p][lane] = 0;
      }
    }
#pragma unroll
    for (int p = 1; p < POINTS; p++) {
#pragma unroll
      for (int lane = 0; lane < VECTOR; lane++) sums[p][lane] += sums[p - 1][lane];
    }
    real before[VECTOR] = {}, all[VECTOR];
    if (BLOCK_Y > 1) {
      sum_column<BLOCK_X, BLOCK_Y>(totals + turn*BLOCK_Y*BLOCK_X*VECTOR, sums[POINTS - 1], before, all);
    } else {
#pragma unroll
      for (int lane = 0; lane < VECTOR; lane++) all[lane] = sums[POINTS - 1][lane];
    }
#pragma unroll
    for (int p = 0; p < POINTS; p++) {
#pragma unroll
      for (int lane = 0; lane < VECTOR; lane++) sums[p][lane] += carried[lane] + before[lane];
      if (first + p >= c.begin() && first + p < c.end()) write_in_box(f, 0, g, c.x, c.y(first + p), c.z(first + p), sums[p]);
    }
#pragma unroll
    for (int lane = 0; lane < VECTOR; lane++) carried[lane] += all[lane];
  }
}

__device__ __forceinline__ void scan_rows(const Fields &f, const Geometry &g) {
  constexpr int warps = BLOCK_X/LANES;  // of a row
  const int warp = threadIdx.x/WARP;
  const index_t y = g.y0 + index_t(blockIdx.y)*BLOCK_Y + threadIdx.y, z = g.z0 + index_t(blockIdx.z);
  const bool has_row = y < g.y1;
  real *totals = SHARED_MEMORY(real) + threadIdx.y*2*POINTS*warps;
  real carried = 0;
  int turn = 0;
#pragma unroll 1
  for (index_t chunk = 0; chunk < g.x1; chunk += POINTS*BLOCK_X*VECTOR, turn = 1 - turn) {
    real sums[POINTS][VECTOR], before[POINTS], all[POINTS];
#pragma unroll
    for (int p = 0; p < POINTS; p++) {
      const index_t x = chunk + (p*BLOCK_X + index_t(threadIdx.x))*VECTOR;
#pragma unroll
      for (int lane = 0; lane < VECTOR; lane++) sums[p][lane] = 0;
      if (has_row) read_in_row(f, 0, g, x, y, z, sums[p]);
    }
#pragma unroll
    for (int p = 0; p < POINTS; p++) {
#pragma unroll
      for (int lane = 1; lane < VECTOR; lane++) sums[p][lane] += sums[p][lane - 1];
      before[p] = sum_lanes<LANES>(sums[p][VECTOR - 1], all[p]);
    }
    if (warps > 1) {
#pragma unroll
      for (int p = 0; p < POINTS; p++) {
        if (threadIdx.x%WARP == 0) totals[(turn*POINTS + p)*warps + warp] = all[p];
      }
      __syncthreads();
    }
#pragma unroll
    for (int p = 0; p < POINTS; p++) {
      real row = all[p];
      if (warps > 1) {
        row = 0;
#pragma unroll
        for (int w = 0; w < warps; w++) {
          const real total = totals[(turn*POINTS + p)*warps + w];
          if (w < warp) before[p] += total;
          row += total;
        }
      }
#pragma unroll
      for (int lane = 0; lane < VECTOR; lane++) sums[p][lane] += carried + before[p];
      carried += row;
      if (has_row) write_in_box(f, 0, g, chunk + (p*BLOCK_X + index_t(threadIdx.x))*VECTOR, y, z, sums[p]);
    }
  }
}

__device__ __forceinline__ void scan_tiles(const Fields &f, const Geometry &g) {
  real *tile = SHARED_MEMORY(real);
  const index_t y = g.y0 + index_t(blockIdx.y)*TILE, z = g.z0 + index_t(blockIdx.z);
  const int column = threadIdx.x;
  real carried = 0;
#pragma unroll 1
  for (index_t x = column; x - column < g.x1; x += TILE) {
#pragma unroll
    for (int row = threadIdx.y; row < TILE; row += BLOCK_Y) {
      tile[row*(TILE + PADDING) + column] = y + row < g.y1 && x < g.nx ? read_point(f, 0, g, x, y + row, z) : real(0);
    }
    __syncthreads();
    if (threadIdx.y == 0) {
#pragma unroll
      for (int i = 0; i < TILE; i++) {
        real &cell = tile[int(threadIdx.x)*(TILE + PADDING) + i];  // each lane has a row now
        cell = carried += cell;
      }
    }
    __syncthreads();
    // Between the two barriers other threads access these cells. Outside them, only this thread writes and refills them.
#pragma unroll
    for (int row = threadIdx.y; row < TILE; row += BLOCK_Y) {
      if (in_box(g, x, y + row, z)) write_point(f, 0, g, x, y + row, z, tile[row*(TILE + PADDING) + column]);
    }
  }
}

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  if (METHOD == METHOD_MARCH) march(f, g);
  else if (METHOD == METHOD_SHUFFLE) scan_rows(f, g);
  else scan_tiles(f, g);
}
