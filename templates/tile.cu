// tile: a block loads a tile of each staged input with its halo to shared memory. After a barrier it computes the tile.
//
// The tile is TILE_X*TILE_Y*TILE_Z points. In x a thread computes vectors of VECTOR neighbours, BLOCK_X vectors apart, so that a warp's
// accesses stay contiguous. In y and z its points are neighbours, so that a value in a register serves several points. With BLOCK_X 4,
// VECTOR 1, TILE_X 8, BLOCK_Y 2, TILE_Y 4, by the number of the thread:
//
//      x -->   |0 1 2 3 0 1 2 3|     Threads 0 to 3 have threadIdx.y 0, threads 4 to 7 have 1.
//              |0 1 2 3 0 1 2 3|
//      y       |4 5 6 7 4 5 6 7|
//              |4 5 6 7 4 5 6 7|
//
// HALO_LOAD says which threads load the halo. The drawing shows a tile of 4*2 points and reach 1. No thread loads the values h:
//
//      edge           flat           overlap        mixed
//      . 0 1 2 3 .    0 1 2 3 4 5    0 1 2 3 4 5    h h h h h h
//      0|0 1 2 3|1    6 7 0 1 2 3    6 7 8 9 a b    h|0 1 2 3|h
//      4|4 5 6 7|5    4 5 6 7 0 1    c d e f g i    h|4 5 6 7|h
//      . 4 5 6 7 .    2 3 4 5 6 7    j k l m n o    h h h h h h
//
//   edge     each thread loads its own points; threads at an edge also load the halo, and its corners if taps reach them
//   flat     the threads, numbered in a line, load the tile with its halo in several passes
//   overlap  each value of the tile with its halo has a thread; only the threads of the tile compute
//   mixed    the threads load only the tile; taps outside the tile are read from global memory
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#include "common.cuh"
#endif

#ifndef TILE_X
#define HALO_LOAD_EDGE 0
#define HALO_LOAD_FLAT 1
#define HALO_LOAD_OVERLAP 2
#define HALO_LOAD_MIXED 3
#define HALO_LOAD HALO_LOAD_EDGE
#define TILE_X 32
#define BLOCK_X 32
#define VECTOR 1
#define TILE_Y 8
#define BLOCK_Y 8
#define TILE_Z 4
#define BLOCK_Z 1
#define PADDING 0
#endif

constexpr bool OVERLAP = HALO_LOAD == HALO_LOAD_OVERLAP, MIXED = HALO_LOAD == HALO_LOAD_MIXED;

// What a thread computes: vectors in x, points in y and z.
constexpr int VECTORS_X = TILE_X/(BLOCK_X*VECTOR), POINTS_Y = TILE_Y/BLOCK_Y, POINTS_Z = TILE_Z/BLOCK_Z;

// How far shared memory reaches beyond the tile. In x it reaches by whole vectors, so that vectors stay aligned.
constexpr int HALO = MIXED ? 0 : 1, BEFORE_X = HALO*round_up(LOW_X, VECTOR), AFTER_X = HALO*round_up(HIGH_X, VECTOR);
constexpr int BEFORE_Y = HALO*LOW_Y, AFTER_Y = HALO*HIGH_Y, BEFORE_Z = HALO*LOW_Z, AFTER_Z = HALO*HIGH_Z;

// Shared memory in elements: a row, a plane of rows, and a volume of planes for each staged input.
constexpr int SHARED_ROW = BEFORE_X + TILE_X + AFTER_X + PADDING;
constexpr int SHARED_PLANE = SHARED_ROW*(BEFORE_Y + TILE_Y + AFTER_Y);
constexpr int SHARED_VOLUME = SHARED_PLANE*(BEFORE_Z + TILE_Z + AFTER_Z);

// The place of a vector of N points in shared memory. Its point is given relative to the tile's first point. The place is counted in
// vectors and then multiplied, so that the compiler knows its alignment.
template <int N> __device__ __forceinline__ int cell(int x, int y, int z) {
  return ((z + BEFORE_Z)*(SHARED_PLANE/N) + (y + BEFORE_Y)*(SHARED_ROW/N) + (x + BEFORE_X)/N)*N;
}

struct Tile {
  const Fields &f;
  const Geometry &g;
  index_t x, y, z;  // the tile's first point
  const Coefficients &coefficients;
  real *shared;
};

// Load a vector of N points of each staged input, at an offset from the tile's first point. INSIDE: the vector is known to lie in the grid.
// A vector that leaves the grid is loaded point by point, by the boundary rules.
template <int N, bool INSIDE> __device__ __forceinline__ void load_points(const Tile &t, int dx, int dy, int dz) {
  const index_t x = t.x + dx, y = t.y + dy, z = t.z + dz;
  const bool inside = INSIDE || (x >= 0 && x + N <= t.g.nx && y >= 0 && y < t.g.ny && z >= 0 && z < t.g.nz);
#pragma unroll
  for (int slot = 0; slot < STAGED; slot++) {
    real *to = t.shared + slot*SHARED_VOLUME + cell<N>(dx, dy, dz);
    if (inside) {
      real values[N];
      read_vector(t.f, staged_input(slot), t.g, x, y, z, values);
      store_vector(to, values);
    } else {
#pragma unroll 1
      for (int lane = 0; lane < N; lane++) to[lane] = read_needed(t.f, staged_input(slot), t.g, x + lane, y, z);
    }
  }
}

// The place of a point of the halo along an axis, relative to the tile's first point. The points of both sides are numbered in sequence.
template <int TILE, int LOW> __device__ __forceinline__ int in_halo(int i) { return i < LOW ? i - LOW : TILE + i - LOW; }

// Load one part of the tile with its halo. Along each axis, a thread loads its own points, or each BLOCK-th point of the halo.
template <bool INSIDE, bool HALO_X, bool HALO_Y, bool HALO_Z> __device__ __forceinline__ void load_part(const Tile &t) {
  constexpr int count_x = HALO_X ? divide_up(LOW_X + HIGH_X, BLOCK_X) : VECTORS_X;
  constexpr int count_y = HALO_Y ? divide_up(LOW_Y + HIGH_Y, BLOCK_Y) : POINTS_Y;
  constexpr int count_z = HALO_Z ? divide_up(LOW_Z + HIGH_Z, BLOCK_Z) : POINTS_Z;
  constexpr int width = HALO_X ? 1 : VECTOR, at_once = INSIDE ? 4 : 1;
  const int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
#pragma unroll at_once
  for (int k = 0; k < count_z; k++) {
#pragma unroll at_once
    for (int j = 0; j < count_y; j++) {
#pragma unroll at_once
      for (int i = 0; i < count_x; i++) {
        const int x = tx + i*BLOCK_X, y = ty + j*BLOCK_Y, z = tz + k*BLOCK_Z;  // in the halo
        if ((HALO_X && x >= LOW_X + HIGH_X) || (HALO_Y && y >= LOW_Y + HIGH_Y) || (HALO_Z && z >= LOW_Z + HIGH_Z)) continue;
        load_points<width, INSIDE>(t, HALO_X ? in_halo<TILE_X, LOW_X>(x) : x*VECTOR,
                                   HALO_Y ? in_halo<TILE_Y, LOW_Y>(y) : ty*POINTS_Y + j,
                                   HALO_Z ? in_halo<TILE_Z, LOW_Z>(z) : tz*POINTS_Z + k);
      }
    }
  }
}

template <bool INSIDE> __device__ __forceinline__ void load_flat(const Tile &t) {
  constexpr int width = (BEFORE_X + TILE_X + AFTER_X)/VECTOR, height = BEFORE_Y + TILE_Y + AFTER_Y;
  constexpr int vectors = width*height*(BEFORE_Z + TILE_Z + AFTER_Z), at_once = INSIDE ? 4 : 1;
  const int thread = (int(threadIdx.z)*BLOCK_Y + int(threadIdx.y))*BLOCK_X + int(threadIdx.x);
#pragma unroll at_once
  for (int i = thread; i < vectors; i += BLOCK_X*BLOCK_Y*BLOCK_Z) {
    load_points<VECTOR, INSIDE>(t, i%width*VECTOR - BEFORE_X, i/width%height - BEFORE_Y, i/(width*height) - BEFORE_Z);
  }
}

template <bool INSIDE> __device__ __forceinline__ void load_tile(const Tile &t) {
  if (OVERLAP) {
    load_points<1, INSIDE>(t, int(threadIdx.x) - LOW_X, int(threadIdx.y) - LOW_Y, int(threadIdx.z) - LOW_Z);
    return;
  }
  if (HALO_LOAD == HALO_LOAD_FLAT) {
    load_flat<INSIDE>(t);
    return;
  }
  // The thread's own points, the halo along each axis, the corners. Only taps off the axes read the corners.
  load_part<INSIDE, false, false, false>(t);
  if (MIXED) return;
  load_part<INSIDE, true, false, false>(t);
  load_part<INSIDE, false, true, false>(t);
  load_part<INSIDE, false, false, true>(t);
  if (STAR) return;
  load_part<INSIDE, true, true, false>(t);
  load_part<INSIDE, true, false, true>(t);
  load_part<INSIDE, false, true, true>(t);
  load_part<INSIDE, true, true, true>(t);
}

// Whether a tap of a point of the tile stays in the tile.
__device__ __forceinline__ bool is_in_tile(int x, int y, int z, int dx, int dy, int dz) {
  return (dx == 0 || unsigned(x + dx) < TILE_X) && (dy == 0 || unsigned(y + dy) < TILE_Y) && (dz == 0 || unsigned(z + dz) < TILE_Z);
}

// Taps of one lane of a vector of N points. They are read from aligned vectors. Offsets and lane are constants after unrolling. So each
// vector is loaded once, however many taps fall into it.
template <int N> struct Taps {
  const Tile &t;
  int x, y, z;  // the vector's first point, relative to the tile's first
  int lane;
  __device__ __forceinline__ real operator()(int input, int dx, int dy, int dz) const {
    real values[N];
    const int slot = staged_slot(input);
    if (INPUTS > STAGED && slot < 0) {  // read at the point only
      read_vector(t.f, input, t.g, t.x + x, t.y + y, t.z + z, values);
      return values[lane];
    }
    if (MIXED && !is_in_tile(x, y, z, dx, dy, dz)) return read_image(t.f, input, t.g, t.x + x + dx, t.y + y + dy, t.z + z + dz);
    const int position = lane + dx + 16*N;  // never negative: no radius is above 16
    load_vector(t.shared + slot*SHARED_VOLUME + cell<N>(x + (position/N - 16)*N, y + dy, z + dz), values);
    return values[position%N];
  }
};

// Compute the thread's points at one place in x. All are computed before the first is written, so that a value that several points need is
// loaded once. At the ends of the grid and of the box, points are computed one by one.
__device__ __forceinline__ void compute_column(const Tile &t, int dx, int dy, int dz) {
  const Geometry &g = t.g;
  const index_t x = t.x + dx, y = t.y + dy, z = t.z + dz;
  if (x + VECTOR <= g.x0 || x >= g.x1) return;
  if (x + VECTOR <= g.nx && y + POINTS_Y <= g.y1 && z + POINTS_Z <= g.z1) {
    real results[POINTS_Y*POINTS_Z][OUTPUTS][VECTOR];
#pragma unroll
    for (int i = 0; i < POINTS_Y*POINTS_Z; i++) {
      update_vector(Taps<VECTOR>{t, dx, dy + i%POINTS_Y, dz + i/POINTS_Y}, t.coefficients, results[i]);
    }
#pragma unroll
    for (int i = 0; i < POINTS_Y*POINTS_Z; i++) {
      write_results(t.f, g, t.x + dx, t.y + (dy + i%POINTS_Y), t.z + (dz + i/POINTS_Y), results[i]);
    }
  } else if (VECTOR*POINTS_Y*POINTS_Z > 1) {
#pragma unroll 1
    for (int i = 0; i < VECTOR*POINTS_Y*POINTS_Z; i++) {
      const int px = dx + i%VECTOR, py = dy + i/VECTOR%POINTS_Y, pz = dz + i/(VECTOR*POINTS_Y);
      compute_point(Taps<1>{t, px, py, pz, 0}, t.coefficients, t.f, g, t.x + px, t.y + py, t.z + pz);
    }
  }
}

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  const Tile t = {f, g, g.x0/VECTOR*VECTOR + index_t(blockIdx.x)*TILE_X, g.y0 + index_t(blockIdx.y)*TILE_Y,
                  g.z0 + index_t(blockIdx.z)*TILE_Z, COEFFICIENT_VALUES, SHARED_MEMORY(real)};
  // Whether the tile and the halo that is loaded lie in the grid.
  const bool inside = t.x >= BEFORE_X && t.x + TILE_X + AFTER_X <= g.nx && t.y >= BEFORE_Y && t.y + TILE_Y + AFTER_Y <= g.ny &&
                      t.z >= BEFORE_Z && t.z + TILE_Z + AFTER_Z <= g.nz;
  if (inside) load_tile<true>(t);
  else load_tile<false>(t);
  __syncthreads();
  if constexpr (OVERLAP) {
    const int dx = int(threadIdx.x) - LOW_X, dy = int(threadIdx.y) - LOW_Y, dz = int(threadIdx.z) - LOW_Z;
    if (unsigned(dx) < TILE_X && unsigned(dy) < TILE_Y && unsigned(dz) < TILE_Z) compute_column(t, dx, dy, dz);
  } else {
#pragma unroll
    for (int i = 0; i < VECTORS_X; i++) {
      compute_column(t, (int(threadIdx.x) + i*BLOCK_X)*VECTOR, int(threadIdx.y)*POINTS_Y, int(threadIdx.z)*POINTS_Z);
    }
  }
}
