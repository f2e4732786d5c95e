// zmarch: a block covers a tile in x and y and marches through Z_SLICING planes in z. It reads each value of a plane from global memory
// once, when the plane enters the march, and keeps it for all planes whose taps reach it.
//
// In a plane, a thread computes a vector of VECTOR neighbours in x in each of POINTS_Y rows, so that a value in a register serves several
// points. With BLOCK_X 4, BLOCK_Y 2, VECTOR 2, POINTS_Y 2, by the number of the thread:
//
//      x -->   |0 0|1 1|2 2|3 3|     Threads 0 to 3 have threadIdx.y 0, threads 4 to 7 have 1.
//              |0 0|1 1|2 2|3 3|
//      y       |4 4|5 5|6 6|7 7|
//              |4 4|5 5|6 6|7 7|
//
// STORAGE says where planes lie while the block computes plane z. If they go through shared memory, there is one barrier a plane. The
// drawing shows them from the side for reach 1. A plane enters as z + HIGH_Z and leaves after it was z - LOW_Z:
//
//               planes            registers         direct
//      z - 1    [s s s s s s]       r r r r           r r r r         s  shared memory, for all threads of the block
//      z        [s s s s s s]     [s r r r r s]     g r r r r g       r  registers of the thread whose points they are
//      z + 1    [s s s s s s]       r r r r           r r r r         g  global memory, mostly found in the L1 cache
//                ^ halo  ^ halo
//
// If taps lie off the axes, a thread keeps in registers all points of a plane that its taps read, including its neighbours' points. It
// loads them when the plane is new: from shared memory (registers) or from global memory (direct).
//
// PREFETCH: while the block computes a plane, the next one is loaded, to registers or, asynchronously, to shared memory.
//
// BAND: blocks compute a band of so many rows in all planes before they begin the next band. So the rows that two blocks share are still in
// the L2 cache when the second block reads them, even if planes are large.
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#include "common.cuh"
#endif

#ifndef Z_SLICING
#define STORAGE_PLANES 0
#define STORAGE_REGISTERS 1
#define STORAGE_DIRECT 2
#define STORAGE STORAGE_REGISTERS
#define PREFETCH_NONE 0
#define PREFETCH_REGISTERS 1
#define PREFETCH_ASYNC 2
#define PREFETCH PREFETCH_NONE
#define VECTOR 4
#define BLOCK_X 32
#define BLOCK_Y 8
#define POINTS_Y 1
#define UNROLL 1
#define BAND 0
#define Z_SLICING 8
#define PADDING 0
#endif

constexpr bool IN_PLANES = STORAGE == STORAGE_PLANES, IN_REGISTERS = STORAGE == STORAGE_REGISTERS;
constexpr bool DIRECT = STORAGE == STORAGE_DIRECT, ASYNC = PREFETCH == PREFETCH_ASYNC;

constexpr int TILE_X = BLOCK_X*VECTOR, TILE_Y = BLOCK_Y*POINTS_Y, THREADS = BLOCK_X*BLOCK_Y;

// The halo beside a vector or a tile in x: in whole vectors, and in elements.
constexpr int VECTORS_BEFORE = divide_up(LOW_X, VECTOR), VECTORS_AFTER = divide_up(HIGH_X, VECTOR);
constexpr int SIDE_VECTORS = VECTORS_BEFORE + VECTORS_AFTER;
constexpr int BEFORE_X = VECTORS_BEFORE*VECTOR, AFTER_X = VECTORS_AFTER*VECTOR;

// A thread's queue of planes in registers, from z - LOW_Z to z + HIGH_Z.
constexpr int QUEUE = LOW_Z + 1 + HIGH_Z;

// A thread's patch of a plane: its own points and, if taps lie off the axes, the points around them.
constexpr int PATCH_LOW_Y = STAR || IN_PLANES ? 0 : LOW_Y, PATCH_HIGH_Y = STAR || IN_PLANES ? 0 : HIGH_Y;
constexpr int PATCH_BEFORE = STAR || IN_PLANES ? 0 : VECTORS_BEFORE, PATCH_AFTER = STAR || IN_PLANES ? 0 : VECTORS_AFTER;
constexpr int PATCH_ROWS = PATCH_LOW_Y + POINTS_Y + PATCH_HIGH_Y, PATCH_VECTORS = PATCH_BEFORE + 1 + PATCH_AFTER;

struct Patch {
  real value[STAGED][PATCH_ROWS][PATCH_VECTORS*VECTOR];
};

// Shared memory in elements: a row, a plane of rows, and a slot with such a plane for each staged input.
constexpr int SHARED_ROW = BEFORE_X + TILE_X + AFTER_X + PADDING;
constexpr int SHARED_PLANE = SHARED_ROW*(LOW_Y + TILE_Y + HIGH_Y);
constexpr int SLOT = STAGED*SHARED_PLANE;

// Shared memory is a ring of slots: slots that are read, and one that receives the next plane meanwhile. So one barrier a plane is enough.
constexpr int READ_SLOTS = IN_PLANES ? LOW_Z + 1 + HIGH_Z : 1, SLOTS = READ_SLOTS + 1;

// The halo of a plane is fetched when the plane enters. But if registers keep the planes and no tap lies off the axes, only the plane being
// computed needs a halo. Then its halo is fetched in its turn.
constexpr bool HALO_IN_TURN = IN_REGISTERS && STAR, HALO_ON_ENTRY = IN_PLANES || (IN_REGISTERS && !STAR);

// The threads of a block share the vectors of the halo: first the rows before and after the tile, then its sides. Corners belong to the
// rows; only taps off the axes read them.
constexpr int HALO_CORNER = STAR ? 0 : VECTORS_BEFORE;
constexpr int HALO_ROW_VECTORS = BLOCK_X + (STAR ? 0 : SIDE_VECTORS), HALO_ROWS = (LOW_Y + HIGH_Y)*HALO_ROW_VECTORS;
constexpr int HALO_VECTORS = HALO_ROWS + TILE_Y*SIDE_VECTORS, HALO_PASSES = divide_up(HALO_VECTORS, THREADS);

struct Block {
  const Fields &f;
  const Geometry &g;
  const Coefficients &coefficients;
  index_t x, y;             // the tile's first point
  index_t z_first, z_last;  // the block computes the planes z_first <= z < z_last
};

// The thread's first point, relative to the tile's first point.
__device__ __forceinline__ int own_x() { return int(threadIdx.x)*VECTOR; }
__device__ __forceinline__ int own_y() { return int(threadIdx.y)*POINTS_Y; }

// The place of a point of a staged input in a slot of shared memory. The point is given relative to the tile's first point.
__device__ __forceinline__ real *cell(int slot, int s, int x, int y) {
  return SHARED_MEMORY(real) + slot + s*SHARED_PLANE + ((y + LOW_Y)*SHARED_ROW + x + BEFORE_X);
}

// The planes that a block keeps.
struct Planes {
#if STORAGE != STORAGE_PLANES
  Patch queue[QUEUE];  // in registers
#endif
#if STORAGE != STORAGE_DIRECT
  int slots[SLOTS];    // where shared memory holds each plane, from z - LOW_Z; the last slot is free
#endif
};

// A block marches without boundary rules if its tile is interior. With storage direct, no thread waits for another. So each thread tests
// only its own points.
__device__ __forceinline__ bool marches_inside(const Block &b) {
  if (DIRECT) return is_interior<VECTOR, VECTOR, POINTS_Y>(b, b.x + own_x(), b.y + own_y());
  return is_interior<VECTOR, TILE_X, TILE_Y>(b, b.x, b.y);
}

// Whether a vector may be read as a whole. In an interior block, a vector lies in the grid either as a whole or not at all.
template <bool INTERIOR> __device__ __forceinline__ bool is_inside(const Geometry &g, index_t x, index_t y, index_t z) {
  if (INTERIOR) return x >= 0 && x < g.nx;
  return x >= 0 && x + VECTOR <= g.nx && y >= 0 && y < g.ny && z >= 0 && z < g.nz;
}

// Fetch a vector point by point, in a loop that selects the register, so that the boundary rules appear once in the code.
__device__ __forceinline__ void choose_lanes(const Block &b, int input, index_t x, index_t y, index_t z, real (&values)[VECTOR]) {
#pragma unroll 1
  for (int i = 0; i < VECTOR; i++) {
    const real value = read_needed(b.f, input, b.g, x + i, y, z);
#pragma unroll
    for (int lane = 0; lane < VECTOR; lane++) values[lane] = lane == i ? value : values[lane];
  }
}

// Fetch a vector to registers, at an offset from the tile's first point.
template <bool INTERIOR>
__device__ __forceinline__ void fetch_vector(const Block &b, int input, int dx, int dy, index_t z, real (&values)[VECTOR]) {
  const index_t x = b.x + dx, y = b.y + dy;
  if (is_inside<INTERIOR>(b.g, x, y, z)) {
    read_vector(b.f, input, b.g, x, y, z, values);
    return;
  }
#pragma unroll
  for (int lane = 0; lane < VECTOR; lane++) values[lane] = real(0);
  // With storage direct, march_points computes such vectors.
  if (!DIRECT && !INTERIOR) choose_lanes(b, input, x, y, z, values);
}

// Copy a vector to shared memory asynchronously, at an offset from the tile's first point.
template <bool INTERIOR>
__device__ __forceinline__ void copy_vector(const Block &b, int input, int dx, int dy, index_t z, real *to) {
  const index_t x = b.x + dx, y = b.y + dy;
  if (is_inside<INTERIOR>(b.g, x, y, z)) {
    async_copy<VECTOR*int(sizeof(real))>(to, b.f.in[input] + at(b.g, x, y, z));
    return;
  }
#pragma unroll 1
  for (int lane = 0; lane < VECTOR; lane++) to[lane] = INTERIOR ? real(0) : read_needed(b.f, input, b.g, x + lane, y, z);
}

// The vector of the halo that the thread fetches in a pass.
struct HaloVector {
  bool exists;
  int x, y;  // relative to the tile's first point
};

__device__ __forceinline__ HaloVector halo_vector(int pass) {
  const int i = int(threadIdx.y)*BLOCK_X + int(threadIdx.x) + pass*THREADS, side = i - HALO_ROWS;
  const int row = i/HALO_ROW_VECTORS, in_row = i%HALO_ROW_VECTORS - HALO_CORNER;
  const int in_side = side%at_least_one(SIDE_VECTORS) - VECTORS_BEFORE;
  if (i < HALO_ROWS) return {true, in_row*VECTOR, row < LOW_Y ? row - LOW_Y : TILE_Y + row - LOW_Y};
  return {i < HALO_VECTORS, in_side < 0 ? in_side*VECTOR : TILE_X + in_side*VECTOR, side/at_least_one(SIDE_VECTORS)};
}

// The values that are fetched for the turn of one plane.
struct Incoming {
#if PREFETCH != PREFETCH_ASYNC
  Patch patch;  // of the plane that enters
#endif
#if STORAGE != STORAGE_DIRECT && PREFETCH != PREFETCH_ASYNC
  real halo[STAGED][at_least_one(HALO_PASSES)][VECTOR];  // of the plane that is stored to shared memory
#endif
#if STORAGE == STORAGE_DIRECT && STAR
  // Of the plane in turn: what taps along x and y read beside the thread's own points, first before them, then after them.
  real rows[STAGED][at_least_one(LOW_Y + HIGH_Y)][VECTOR];
  real sides[STAGED][POINTS_Y][at_least_one(SIDE_VECTORS)*VECTOR];
#endif
#if INPUTS > STAGED
  real at_point[INPUTS][POINTS_Y][VECTOR];  // of the plane in turn: inputs that are read at the point only
#endif
};

template <bool INTERIOR> __device__ __forceinline__ void fetch_halo(const Block &b, const Planes &p, index_t z, Incoming &in) {
#pragma unroll
  for (int pass = 0; pass < HALO_PASSES; pass++) {
    const HaloVector v = halo_vector(pass);
    if (!v.exists) continue;
#pragma unroll
    for (int s = 0; s < STAGED; s++) {
      const int input = staged_input(s);
      if (ASYNC) copy_vector<INTERIOR>(b, input, v.x, v.y, z, cell(p.slots[SLOTS - 1], s, v.x, v.y));
      else fetch_vector<INTERIOR>(b, input, v.x, v.y, z, in.halo[s][pass]);
    }
  }
}

// Fetch the plane that enters: to registers, or asynchronously to the free slot.
template <bool INTERIOR>
__device__ __forceinline__ void fetch_entering(const Block &b, const Planes &p, index_t z, Incoming &in) {
  constexpr int low_y = DIRECT ? PATCH_LOW_Y : 0, high_y = DIRECT ? PATCH_HIGH_Y : 0;
  constexpr int before = DIRECT ? PATCH_BEFORE : 0, after = DIRECT ? PATCH_AFTER : 0;
#pragma unroll
  for (int s = 0; s < STAGED; s++) {
#pragma unroll
    for (int j = -low_y; j < POINTS_Y + high_y; j++) {
#pragma unroll
      for (int i = -before; i <= after; i++) {
        const int input = staged_input(s), x = own_x() + i*VECTOR, y = own_y() + j;
        if (ASYNC) {
          copy_vector<INTERIOR>(b, input, x, y, z, cell(p.slots[SLOTS - 1], s, x, y));
        } else {
          real values[VECTOR];
          fetch_vector<INTERIOR>(b, input, x, y, z, values);
#pragma unroll
          for (int lane = 0; lane < VECTOR; lane++) {
            in.patch.value[s][PATCH_LOW_Y + j][(PATCH_BEFORE + i)*VECTOR + lane] = values[lane];
          }
        }
      }
    }
  }
  if (HALO_ON_ENTRY) fetch_halo<INTERIOR>(b, p, z, in);
  if (ASYNC) async_commit();
}

// Fetch the values that only the plane in turn needs.
template <bool INTERIOR>
__device__ __forceinline__ void fetch_for_turn(const Block &b, const Planes &p, index_t z, Incoming &in) {
  if (HALO_IN_TURN) fetch_halo<INTERIOR>(b, p, z, in);
#if INPUTS > STAGED
#pragma unroll
  for (int input = 0; input < INPUTS; input++) {
    if (staged_slot(input) >= 0) continue;
#pragma unroll
    for (int j = 0; j < POINTS_Y; j++) fetch_vector<INTERIOR>(b, input, own_x(), own_y() + j, z, in.at_point[input][j]);
  }
#endif
}

// Advance the ring and the queue by one plane. If the march is unrolled as many times as they are long, no data moves.
__device__ __forceinline__ void rotate_slots(Planes &p) {
  const int oldest = p.slots[0];
#pragma unroll
  for (int i = 0; i + 1 < SLOTS; i++) p.slots[i] = p.slots[i + 1];
  p.slots[SLOTS - 1] = oldest;
}

__device__ __forceinline__ void shift_queue(Planes &p, const Patch &newest) {
#pragma unroll
  for (int i = 0; i + 1 < QUEUE; i++) p.queue[i] = p.queue[i + 1];
  p.queue[QUEUE - 1] = newest;
}

// Store the thread's own points of a plane, and its share of the halo, to the free slot.
__device__ __forceinline__ void store_plane(const Planes &p, const Patch &own, const Incoming &in) {
  const int slot = p.slots[SLOTS - 1];
#pragma unroll
  for (int s = 0; s < STAGED; s++) {
#pragma unroll
    for (int j = 0; j < POINTS_Y; j++) {
      real values[VECTOR];
#pragma unroll
      for (int lane = 0; lane < VECTOR; lane++) values[lane] = own.value[s][PATCH_LOW_Y + j][PATCH_BEFORE*VECTOR + lane];
      store_vector(cell(slot, s, own_x(), own_y() + j), values);
    }
#pragma unroll
    for (int pass = 0; pass < HALO_PASSES; pass++) {
      const HaloVector v = halo_vector(pass);
      if (v.exists) store_vector(cell(slot, s, v.x, v.y), in.halo[s][pass]);
    }
  }
}

// Copy the points of the newest plane that the thread's taps read from shared memory to the queue.
__device__ __forceinline__ void queue_from_shared(Planes &p) {
  Patch newest;
  __syncthreads();
#pragma unroll
  for (int s = 0; s < STAGED; s++) {
    load_window<VECTOR>(cell(p.slots[0], s, own_x() - PATCH_BEFORE*VECTOR, own_y() - PATCH_LOW_Y), SHARED_ROW, newest.value[s]);
  }
  shift_queue(p, newest);
}

// Add a fetched plane to the planes that the block keeps.
__device__ __forceinline__ void enter_plane(Planes &p, const Incoming &in) {
  if (DIRECT || HALO_IN_TURN) shift_queue(p, in.patch);
  else {
    if (!ASYNC) store_plane(p, in.patch, in);
    rotate_slots(p);
    if (IN_REGISTERS) queue_from_shared(p);
  }
}

// Afterwards shared memory holds all values that the plane in turn reads from it.
__device__ __forceinline__ void begin_turn(Planes &p, const Incoming &in) {
  if (HALO_IN_TURN) {
    store_plane(p, p.queue[LOW_Z], in);
    rotate_slots(p);
  }
  if (ASYNC) async_wait<0>();
  if (IN_PLANES || HALO_IN_TURN) __syncthreads();
}

#if STORAGE == STORAGE_DIRECT && STAR
template <bool INTERIOR> __device__ __forceinline__ void fetch_beside(const Block &b, index_t z, Incoming &in) {
#pragma unroll
  for (int s = 0; s < STAGED; s++) {
#pragma unroll
    for (int i = 0; i < LOW_Y + HIGH_Y; i++) {
      const int y = own_y() + (i < LOW_Y ? i - LOW_Y : i - LOW_Y + POINTS_Y);
      fetch_vector<INTERIOR>(b, staged_input(s), own_x(), y, z, in.rows[s][i]);
    }
#pragma unroll
    for (int j = 0; j < POINTS_Y; j++) {
#pragma unroll
      for (int i = 0; i < SIDE_VECTORS; i++) {
        real values[VECTOR];
        const int x = own_x() + (i < VECTORS_BEFORE ? i - VECTORS_BEFORE : i - VECTORS_BEFORE + 1)*VECTOR;
        fetch_vector<INTERIOR>(b, staged_input(s), x, own_y() + j, z, values);
#pragma unroll
        for (int lane = 0; lane < VECTOR; lane++) in.sides[s][j][i*VECTOR + lane] = values[lane];
      }
    }
  }
}
#endif

// Load a point from a slot of shared memory. The point is given relative to the thread's first point.
__device__ __forceinline__ real load_shared(int slot, int s, int x, int y) {
  const int position = x + 16*VECTOR;  // never negative: no radius is above 16
  real values[VECTOR];
  load_vector(cell(slot, s, own_x() + (position/VECTOR - 16)*VECTOR, own_y() + y), values);
  return values[position%VECTOR];
}

// Taps of one of a thread's points. The point and the offsets are constants after unrolling. So each tap is a register, or an element of a
// vector that is loaded once, however many taps fall into it.
struct Taps {
  const Planes &p;
  const Incoming &in;
  int row, lane;
  __device__ __forceinline__ real operator()(int input, int dx, int dy, int dz) const {
    const int s = staged_slot(input), x = lane + dx, y = row + dy;
#if INPUTS > STAGED
    if (s < 0) return in.at_point[input][row][lane];
#endif
    if (IN_PLANES) return load_shared(p.slots[dz + LOW_Z], s, x, y);
    if (!STAR) return p.queue[dz + LOW_Z].value[s][y + PATCH_LOW_Y][x + PATCH_BEFORE*VECTOR];
    const bool is_own = x >= 0 && x < VECTOR && y >= 0 && y < POINTS_Y;
    if (is_own) return p.queue[dz + LOW_Z].value[s][y][x];
    if (IN_REGISTERS) return load_shared(p.slots[0], s, x, y);
#if STORAGE == STORAGE_DIRECT && STAR
    if (y < 0) return in.rows[s][y + LOW_Y][lane];
    if (y >= POINTS_Y) return in.rows[s][y - POINTS_Y + LOW_Y][lane];
    return in.sides[s][row][x < 0 ? x + BEFORE_X : x - VECTOR + BEFORE_X];
#endif
  }
};

// Compute the thread's points of the plane in turn, and write those that lie in the box.
template <bool INTERIOR>
__device__ __forceinline__ void compute_plane(const Block &b, index_t z, const Planes &p, Incoming &in) {
  const Geometry &g = b.g;
  const index_t x = b.x + own_x(), y = b.y + own_y();
  if (x + VECTOR <= g.x0 || x >= g.x1) return;
#if STORAGE == STORAGE_DIRECT && STAR
  fetch_beside<INTERIOR>(b, z, in);
#endif
  real results[POINTS_Y][OUTPUTS][VECTOR];
#pragma unroll
  for (int j = 0; j < POINTS_Y; j++) update_vector(Taps{p, in, j, 0}, b.coefficients, results[j]);
#pragma unroll
  for (int j = 0; j < POINTS_Y; j++) {
    if (INTERIOR || y + j < g.y1) write_results(b.f, g, x, y + j, z, results[j]);
  }
}

template <bool INTERIOR> __device__ __forceinline__ void fetch(const Block &b, index_t z, const Planes &p, Incoming &in) {
  fetch_entering<INTERIOR>(b, p, z + HIGH_Z, in);
  if (HALO_IN_TURN || INPUTS > STAGED) fetch_for_turn<INTERIOR>(b, p, z, in);
}

template <bool INTERIOR> __device__ __forceinline__ void march(const Block &b) {
  constexpr int planes_before = LOW_Z + HIGH_Z;  // they enter before the turn of the first plane
  constexpr int at_once = INTERIOR && !HALO_ON_ENTRY ? at_least_one(planes_before) : 1, steps = INTERIOR ? UNROLL : 1;
  Planes p;
  Incoming next;
#if STORAGE != STORAGE_DIRECT
#pragma unroll
  for (int i = 0; i < SLOTS; i++) p.slots[i] = i*SLOT;
#endif
#pragma unroll at_once
  for (int i = 0; i < planes_before; i++) {
    fetch_entering<INTERIOR>(b, p, b.z_first - LOW_Z + i, next);
    enter_plane(p, next);
  }
  if (PREFETCH != PREFETCH_NONE) fetch<INTERIOR>(b, b.z_first, p, next);
#pragma unroll 1
  for (index_t z = b.z_first; z < b.z_last; z += steps) {
#pragma unroll
    for (int i = 0; i < steps; i++) {
      if (i > 0 && z + i >= b.z_last) return;
      if (PREFETCH == PREFETCH_NONE) fetch<INTERIOR>(b, z + i, p, next);
      Incoming in = next;
      enter_plane(p, in);
      if (!DIRECT) begin_turn(p, in);
      if (PREFETCH != PREFETCH_NONE && z + i + 1 < b.z_last) fetch<INTERIOR>(b, z + i + 1, p, next);
      compute_plane<INTERIOR>(b, z + i, p, in);
    }
  }
}

// Compute the thread's points one by one. This is rare: the code is short and needs few registers.
__device__ __forceinline__ void march_points(const Block &b) {
#pragma unroll 1
  for (index_t z = b.z_first; z < b.z_last; z++) {
#pragma unroll 1
    for (int i = 0; i < VECTOR*POINTS_Y; i++) {
      const index_t x = b.x + own_x() + i%VECTOR, y = b.y + own_y() + i/VECTOR;
      compute_point(PointTaps{b.f, b.g, x, y, z}, b.coefficients, b.f, b.g, x, y, z);
    }
  }
}

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  const BandedBlock block = BAND > 0 ? banded_block<BAND, TILE_Y, Z_SLICING>(g) : plain_block();
  const index_t z_first = g.z0 + block.z*Z_SLICING;
  const Block b = {f, g, COEFFICIENT_VALUES, g.x0/VECTOR*VECTOR + index_t(blockIdx.x)*TILE_X, g.y0 + block.y*TILE_Y,
                   z_first, z_first + Z_SLICING < g.z1 ? z_first + Z_SLICING : g.z1};
  if (b.y >= g.y1) return;  // clusters and bands reach beyond the last rows
  if (marches_inside(b)) march<true>(b);
  else if constexpr (DIRECT) march_points(b);
  else march<false>(b);
}
