// zmarch: a block owns a tile in x and y and marches through Z_SLICING planes; what a plane needs of its neighbours is kept
// while marching, so that each value comes from global memory about once.
//
// A thread owns VECTOR neighbours in x and POINTS_Y in y, a column of groups. BLOCK_X 4, VECTOR 2, BLOCK_Y 2, POINTS_Y 2:
//
//      x -->   |0 0 1 1 2 2 3 3|         z      step 0   step 1   step 2
//              |0 0 1 1 2 2 3 3|         |      next     next+1   ...       next: the plane HIGH_Z ahead, loaded in this step
//      y       |4 4 5 5 6 6 7 7|         v      curr     next               curr: the plane that is computed
//              |4 4 5 5 6 6 7 7|                prev     curr               prev: LOW_Z planes behind
//
// STORAGE says where the planes are:
//      planes     all in shared memory, with their halo: a ring of one plane more than taps reach, so that one barrier a step
//                 is enough: the plane that is overwritten was last read two steps ago
//      registers  a thread keeps the planes of its own column in a queue; the current plane is in shared memory, too, for the
//                 neighbours in x and y (two of them, by turns, for the same reason). Taps off the axes have no place there
//      direct     the queue alone; all else is read from global memory, and found in the first-level cache
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#endif

#ifndef BLOCK_X
#define BLOCK_X 32
#define BLOCK_Y 8
#define VECTOR 4
#define POINTS_Y 1
#define Z_SLICING 8
#define STORAGE_PLANES 0
#define STORAGE_REGISTERS 1
#define STORAGE_DIRECT 2
#define STORAGE STORAGE_DIRECT
#define PREFETCH 0
#define UNROLL 1
#define PADDING 0
#endif

constexpr int AT_ONCE = UNROLL;  // a pragma takes no macro
constexpr int THREADS = BLOCK_X*BLOCK_Y, TILE_X = BLOCK_X*VECTOR, TILE_Y = BLOCK_Y*POINTS_Y;

// How far shared memory reaches beyond the tile: in x by whole groups, so that groups stay aligned.
__device__ constexpr int whole_groups(int points) { return (points + VECTOR - 1)/VECTOR*VECTOR; }
constexpr int BEFORE_X = whole_groups(LOW_X), AFTER_X = whole_groups(HIGH_X);
constexpr int SHARED_ROW = BEFORE_X + TILE_X + AFTER_X + PADDING, SHARED_ROWS = LOW_Y + TILE_Y + HIGH_Y;
constexpr int SHARED_PLANE = SHARED_ROW*SHARED_ROWS, SHARED_PLANES = STORAGE == STORAGE_PLANES ? LOW_Z + HIGH_Z + 2 : 2;

// The planes of a column that a thread keeps in registers: those that taps reach, and one more where it is fetched ahead.
constexpr int REACH = LOW_Z + 1 + HIGH_Z, QUEUE = STORAGE == STORAGE_PLANES ? 1 : REACH + PREFETCH;

struct March {
  const Fields &f;
  const Geometry &g;
  const Coefficients &coefficients;
  real *shared;
  index_t x, y;           // the tile's first point
  int own_x, own_y;       // the thread's first point, from there
  bool in_grid[POINTS_Y]; // whether the group of each row lies in the grid as a whole

  // Where shared memory holds the point at an offset from the tile's first, in a plane of a staged input.
  __device__ __forceinline__ real *cell(int slot, int plane, int dx, int dy) const {
    return shared + (slot*SHARED_PLANES + plane)*SHARED_PLANE + (dy + LOW_Y)*SHARED_ROW + dx + BEFORE_X;
  }
};

// ---- reading

// A group of N in x that may lie beyond the grid in part, or be needed by nobody: then by the boundary rules, or 0.
template <int N>
__device__ __forceinline__ void read_group(const March &m, int input, index_t x, index_t y, index_t z, bool inside, real (&out)[N]) {
  const Geometry &g = m.g;
  if (inside && z >= 0 && z < g.nz) {
    read_vector(m.f, input, g, x, y, z, out);
    return;
  }
  const bool needed = y >= g.y0 - LOW_Y && y < g.y1 + HIGH_Y && z >= g.z0 - LOW_Z && z < g.z1 + HIGH_Z;
#pragma unroll
  for (int lane = 0; lane < N; lane++) out[lane] = 0;
  if (!needed) return;
  // A loop, so that the boundary rules stand in the code once; what it finds is put in place without an index.
#pragma unroll 1
  for (int i = 0; i < N; i++) {
    const bool wanted = x + i >= g.x0 - LOW_X && x + i < g.x1 + HIGH_X;
    const real value = wanted ? read_image(m.f, input, g, x + i, y, z) : real(0);
#pragma unroll
    for (int lane = 0; lane < N; lane++) out[lane] = lane == i ? value : out[lane];
  }
}

__device__ __forceinline__ bool is_in_grid(const Geometry &g, index_t x, index_t y) {
  return x >= 0 && x + VECTOR <= g.nx && y >= 0 && y < g.ny;
}

// The thread's own column in plane z.
__device__ __forceinline__ void read_own(const March &m, int input, index_t z, real (&out)[POINTS_Y][VECTOR]) {
#pragma unroll
  for (int j = 0; j < POINTS_Y; j++) read_group(m, input, m.x + m.own_x, m.y + m.own_y + j, z, m.in_grid[j], out[j]);
}

// Bring a group of the tile or its halo to shared memory.
__device__ __forceinline__ void stage_group(const March &m, int slot, int plane, int dx, int dy, index_t z) {
  real values[VECTOR];
  read_group(m, staged_input(slot), m.x + dx, m.y + dy, z, is_in_grid(m.g, m.x + dx, m.y + dy), values);
  store_vector(m.cell(slot, plane, dx, dy), values);
}

// The whole of plane z, threads in a line going over it pass after pass.
__device__ __forceinline__ void stage_plane(const March &m, int plane, index_t z) {
  constexpr int width = (BEFORE_X + TILE_X + AFTER_X)/VECTOR;
  const int thread = threadIdx.y*BLOCK_X + threadIdx.x;
#pragma unroll
  for (int slot = 0; slot < STAGED; slot++) {
#pragma unroll 1
    for (int i = thread; i < width*SHARED_ROWS; i += THREADS) {
      stage_group(m, slot, plane, i%width*VECTOR - BEFORE_X, i/width - LOW_Y, z);
    }
  }
}

// What lies around the tile in plane z, without corners: first the rows beyond it in y, then the groups beside it in x.
__device__ __forceinline__ void stage_halo(const March &m, int plane, index_t z) {
  constexpr int beyond = (LOW_Y + HIGH_Y)*BLOCK_X, sides = (BEFORE_X + AFTER_X)/VECTOR, count = beyond + sides*TILE_Y;
  const int thread = threadIdx.y*BLOCK_X + threadIdx.x;
#pragma unroll
  for (int slot = 0; slot < STAGED; slot++) {
#pragma unroll 1
    for (int i = thread; i < count; i += THREADS) {
      if (i < beyond) {
        const int row = i/BLOCK_X;
        stage_group(m, slot, plane, i%BLOCK_X*VECTOR, row < LOW_Y ? row - LOW_Y : TILE_Y + row - LOW_Y, z);
      } else {
        const int side = (i - beyond)/TILE_Y*VECTOR;
        stage_group(m, slot, plane, side < BEFORE_X ? side - BEFORE_X : TILE_X + side - BEFORE_X, (i - beyond)%TILE_Y, z);
      }
    }
  }
}

// ---- computing

typedef real Queue[STAGED][QUEUE][POINTS_Y][VECTOR];  // plane dz of the taps is entry dz + LOW_Z

// Taps of one point of a thread. Offsets, row and lane are constants after unrolling: what is in registers is taken from
// there, and each aligned vector of shared or global memory is loaded once however many taps fall into it.
struct Taps {
  const March &m;
  const Queue &queue;
  const int (&planes)[REACH];  // which plane of the ring holds each plane that taps reach
  index_t z;
  int row, lane;

  __device__ __forceinline__ real operator()(int input, int dx, int dy, int dz) const {
    const int position = lane + dx + 16*VECTOR;  // never negative: no radius is above 16
    const int group = position/VECTOR - 16, element = position%VECTOR, slot = staged_slot(input);
    real values[VECTOR];
    if (slot < 0) {  // read at the point only
      read_vector(m.f, input, m.g, m.x + m.own_x, m.y + m.own_y + row, z, values);
    } else if (STORAGE == STORAGE_PLANES) {
      load_vector(m.cell(slot, planes[dz + LOW_Z], m.own_x + group*VECTOR, m.own_y + row + dy), values);
    } else if (group == 0 && row + dy >= 0 && row + dy < POINTS_Y) {
      return queue[slot][dz + LOW_Z][row + dy][element];
    } else if (STORAGE == STORAGE_REGISTERS) {
      load_vector(m.cell(slot, planes[0], m.own_x + group*VECTOR, m.own_y + row + dy), values);
    } else {
      read_vector(m.f, input, m.g, m.x + m.own_x + group*VECTOR, m.y + m.own_y + row + dy, z + dz, values);
    }
    return values[element];
  }
};

// Taps of any point, by the boundary rules.
struct PointTaps {
  const March &m;
  index_t x, y, z;
  __device__ __forceinline__ real operator()(int input, int dx, int dy, int dz) const {
    return read_image(m.f, input, m.g, x + dx, y + dy, z + dz);
  }
};

__device__ __forceinline__ void compute_point(const March &m, index_t x, index_t y, index_t z) {
  real results[OUTPUTS];
  update(PointTaps{m, x, y, z}, m.coefficients, results);
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) write_point(m.f, o, m.g, x, y, z, results[o]);
}

// The thread's points in plane z, all at once: as vectors.
__device__ __forceinline__ void compute_whole(const March &m, const Queue &queue, const int (&planes)[REACH], index_t z) {
  real results[POINTS_Y][OUTPUTS][VECTOR];
#pragma unroll
  for (int row = 0; row < POINTS_Y; row++) {
#pragma unroll
    for (int lane = 0; lane < VECTOR; lane++) {
      real point[OUTPUTS];
      update(Taps{m, queue, planes, z, row, lane}, m.coefficients, point);
#pragma unroll
      for (int o = 0; o < OUTPUTS; o++) results[row][o][lane] = point[o];
    }
  }
#pragma unroll
  for (int row = 0; row < POINTS_Y; row++) {
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) write_vector(m.f, o, m.g, m.x + m.own_x, m.y + m.own_y + row, z, results[row][o]);
  }
}

// Those that lie in the box, one by one.
__device__ __forceinline__ void compute_rest(const March &m, index_t z) {
  const Geometry &g = m.g;
#pragma unroll 1
  for (int i = 0; i < VECTOR*POINTS_Y; i++) {
    const index_t x = m.x + m.own_x + i%VECTOR, y = m.y + m.own_y + i/VECTOR;
    if (x >= g.x0 && x < g.x1 && y >= g.y0 && y < g.y1) compute_point(m, x, y, z);
  }
}

// Whether all of the thread's points are in the box and none of their taps leaves the grid in x or y.
__device__ __forceinline__ bool is_whole(const March &m) {
  const Geometry &g = m.g;
  const index_t x = m.x + m.own_x, y = m.y + m.own_y;
  // In shared memory the boundary rules have been applied; else whole groups must lie in the row.
  const int before = STORAGE == STORAGE_DIRECT ? BEFORE_X : 0, after = STORAGE == STORAGE_DIRECT ? AFTER_X : 0;
  const int below = STORAGE == STORAGE_DIRECT ? LOW_Y : 0, above = STORAGE == STORAGE_DIRECT ? HIGH_Y : 0;
  return x >= g.x0 && x + VECTOR <= g.x1 && y >= g.y0 && y + POINTS_Y <= g.y1 && x >= before &&
         x + VECTOR + after <= g.nx && y >= below && y + POINTS_Y + above <= g.ny;
}

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  March m = {f, g, COEFFICIENT_VALUES, SHARED_MEMORY(real), g.x0/VECTOR*VECTOR + index_t(blockIdx.x)*TILE_X,
             g.y0 + index_t(blockIdx.y)*TILE_Y, int(threadIdx.x)*VECTOR, int(threadIdx.y)*POINTS_Y, {}};
#pragma unroll
  for (int j = 0; j < POINTS_Y; j++) m.in_grid[j] = is_in_grid(g, m.x + m.own_x, m.y + m.own_y + j);
  const bool whole = is_whole(m);
  const index_t first = g.z0 + index_t(blockIdx.z)*Z_SLICING;
  Queue queue;
  int planes[REACH];
#pragma unroll
  for (int p = 0; p < REACH; p++) planes[p] = STORAGE == STORAGE_PLANES ? p : 0;

  // Before the first step: all planes but the last that it needs, one entry too far, since a step begins by moving on.
  if (STORAGE == STORAGE_PLANES) {
#pragma unroll 1
    for (int p = 0; p < REACH - 1; p++) stage_plane(m, p + 1, first - LOW_Z + p);
  } else {
#pragma unroll
    for (int slot = 0; slot < STAGED; slot++) {
#pragma unroll
      for (int p = 0; p < QUEUE - 1; p++) read_own(m, staged_input(slot), first - LOW_Z + p, queue[slot][p + 1]);
    }
  }

#pragma unroll AT_ONCE
  for (int k = 0; k < Z_SLICING; k++) {
    const index_t z = first + k;
    if (z >= g.z1) break;  // for all threads of the block
    if (STORAGE == STORAGE_PLANES) {
#pragma unroll
      for (int p = 0; p < REACH; p++) planes[p] = planes[p] == SHARED_PLANES - 1 ? 0 : planes[p] + 1;
      stage_plane(m, planes[REACH - 1], z + HIGH_Z);
      __syncthreads();
    } else {
#pragma unroll
      for (int slot = 0; slot < STAGED; slot++) {
#pragma unroll
        for (int p = 0; p < QUEUE - 1; p++) {
#pragma unroll
          for (int j = 0; j < POINTS_Y; j++) {
#pragma unroll
            for (int lane = 0; lane < VECTOR; lane++) queue[slot][p][j][lane] = queue[slot][p + 1][j][lane];
          }
        }
        read_own(m, staged_input(slot), z + HIGH_Z + PREFETCH, queue[slot][QUEUE - 1]);
      }
    }
    if (STORAGE == STORAGE_REGISTERS) {
      planes[0] = 1 - planes[0];
#pragma unroll
      for (int slot = 0; slot < STAGED; slot++) {
#pragma unroll
        for (int j = 0; j < POINTS_Y; j++) store_vector(m.cell(slot, planes[0], m.own_x, m.own_y + j), queue[slot][LOW_Z][j]);
      }
      stage_halo(m, planes[0], z);
      __syncthreads();
    }
    const bool z_inside = STORAGE != STORAGE_DIRECT || (z >= LOW_Z && z + HIGH_Z < g.nz);
    if (whole && z_inside) compute_whole(m, queue, planes, z);
    else compute_rest(m, z);
  }
}
