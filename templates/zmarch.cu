// zmarch: a block covers a tile in x and y and marches through Z_SLICING planes in z. Each value of a plane comes from global
// memory once a block, as the plane enters, and serves every plane that its taps reach.
//
// In a plane a thread computes VECTOR neighbours in x, times POINTS_Y neighbours in y, so that a value in one of its registers
// serves several points. With BLOCK_X 4, BLOCK_Y 2, VECTOR 2, POINTS_Y 2, by the number of the thread:
//
//      x -->   |0 0|1 1|2 2|3 3|     Threads 0 to 3 have threadIdx.y 0, threads 4 to 7 have 1.
//              |0 0|1 1|2 2|3 3|
//      y       |4 4|5 5|6 6|7 7|
//              |4 4|5 5|6 6|7 7|
//
// STORAGE says where the planes are kept while the block computes plane z, shown from the side for reach 1. A plane enters at
// z + HIGH_Z and leaves after it was at z - LOW_Z:
//
//               planes            registers         direct
//      z - 1    [s s s s s s]       r r r r           r r r r         s  shared memory, for all threads of the block
//      z        [s s s s s s]     [s r r r r s]     g r r r r g       r  registers of the thread whose points they are
//      z + 1    [s s s s s s]       r r r r           r r r r         g  global memory, which the L1 cache is near to
//                ^ halo  ^ halo
//
// Where taps lie off the axes through the point, a thread's registers hold all that its taps read of a plane, its neighbours'
// points too. It takes them from the newest plane, which is in shared memory (registers) or still in global memory (direct).
//
// PREFETCH: the next plane is under way while this one is computed, to registers or, asynchronously, to shared memory.
//
// BAND: blocks take so many rows through all planes before they begin with the next ones, so that what two slices read of large planes is
// still in the L2 cache when the second one comes to it.
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

// Groups of VECTOR, and elements, that taps reach before and after a group.
constexpr int GROUPS_BEFORE = divide_up(LOW_X, VECTOR), GROUPS_AFTER = divide_up(HIGH_X, VECTOR);
constexpr int BEFORE_X = GROUPS_BEFORE*VECTOR, AFTER_X = GROUPS_AFTER*VECTOR;

// A thread's queue of planes, from z - LOW_Z to z + HIGH_Z.
constexpr int QUEUE = IN_PLANES ? 1 : LOW_Z + 1 + HIGH_Z;

// What a thread keeps of a plane: its own points; where taps lie off the axes, also those around them.
constexpr int PATCH_LOW_Y = STAR || IN_PLANES ? 0 : LOW_Y, PATCH_HIGH_Y = STAR || IN_PLANES ? 0 : HIGH_Y;
constexpr int PATCH_BEFORE = STAR || IN_PLANES ? 0 : GROUPS_BEFORE, PATCH_AFTER = STAR || IN_PLANES ? 0 : GROUPS_AFTER;
constexpr int PATCH_ROWS = PATCH_LOW_Y + POINTS_Y + PATCH_HIGH_Y;
constexpr int PATCH_GROUPS = PATCH_BEFORE + 1 + PATCH_AFTER;

struct Patch {
  real value[STAGED][PATCH_ROWS][PATCH_GROUPS*VECTOR];
};

// Shared memory in elements: rows, planes of rows, and slots of one such plane for each staged input.
constexpr int SHARED_ROW = BEFORE_X + TILE_X + AFTER_X + PADDING;
constexpr int SHARED_PLANE = SHARED_ROW*(LOW_Y + TILE_Y + HIGH_Y);
constexpr int SLOT = STAGED*SHARED_PLANE;

// One slot more than there are planes to read: the next plane is written while others still read. So one barrier a plane does.
constexpr int READ_SLOTS = IN_PLANES ? LOW_Z + 1 + HIGH_Z : 1, SLOTS = READ_SLOTS + 1;

// The halo of the plane in shared memory comes with the plane as it enters; but where registers keep the planes until their
// turn, only when the plane is computed.
constexpr bool HALO_IN_TURN = IN_REGISTERS && STAR, HALO_ON_ENTRY = IN_PLANES || (IN_REGISTERS && !STAR);

// Groups of the halo, which all threads of the block share out: first rows before and after the tile, then the sides. The
// corners count to the rows, where taps lie off the axes.
constexpr int HALO_CORNER = STAR ? 0 : GROUPS_BEFORE, SIDE_GROUPS = GROUPS_BEFORE + GROUPS_AFTER;
constexpr int HALO_ROW_GROUPS = BLOCK_X + (STAR ? 0 : SIDE_GROUPS), HALO_ROWS = (LOW_Y + HIGH_Y)*HALO_ROW_GROUPS;
constexpr int HALO_GROUPS = HALO_ROWS + TILE_Y*SIDE_GROUPS, HALO_PASSES = divide_up(HALO_GROUPS, THREADS);

struct Block {
  const Fields &f;
  const Geometry &g;
  const Coefficients &coefficients;
  real *shared;
  index_t x, y;             // the tile's first point
  index_t z_first, z_last;  // planes that the block computes: z_first <= z < z_last
};

// The thread's first point, from the tile's first.
__device__ __forceinline__ int own_x() { return int(threadIdx.x)*VECTOR; }
__device__ __forceinline__ int own_y() { return int(threadIdx.y)*POINTS_Y; }

// Where a slot of shared memory holds the point at an offset from the tile's first.
__device__ __forceinline__ int cell(int x, int y) { return (y + LOW_Y)*SHARED_ROW + x + BEFORE_X; }

// ---- loading

// Whether no boundary rules are needed: everything that is loaded lies in the grid, but for whole groups in x that no point of the
// box reads. Asked for a block; with storage direct, where threads do not wait for each other, for each thread.
__device__ __forceinline__ bool is_interior(const Block &b) {
  const Geometry &g = b.g;
  const index_t x = b.x + (DIRECT ? own_x() : 0), y = b.y + (DIRECT ? own_y() : 0);
  constexpr int width = DIRECT ? VECTOR : TILE_X, height = DIRECT ? POINTS_Y : TILE_Y;
  const bool inside_x = x >= BEFORE_X && x + width + AFTER_X <= g.nx;
  const bool no_images_x = g.x0 >= LOW_X && g.x1 + HIGH_X <= g.nx && g.nx % VECTOR == 0;
  return (inside_x || no_images_x) && y >= LOW_Y && y + height <= g.y1 && y + height + HIGH_Y <= g.ny && b.z_first >= LOW_Z &&
         b.z_last + HIGH_Z <= g.nz;
}

// Whether a group may be read as a vector. In an interior block a group lies in the grid as a whole or not at all.
template <bool INTERIOR> __device__ __forceinline__ bool is_inside(const Geometry &g, index_t x, index_t y, index_t z) {
  if (INTERIOR) return x >= 0 && x < g.nx;
  return x >= 0 && x + VECTOR <= g.nx && y >= 0 && y < g.ny && z >= 0 && z < g.nz;
}

// A group, at an offset from the tile's first point, to registers. Point by point there is one copy of the code for all lanes:
// a loop, and a choice of the register.
template <bool INTERIOR>
__device__ __forceinline__ void load_group(const Block &b, int input, int dx, int dy, index_t z, real (&values)[VECTOR]) {
  const index_t x = b.x + dx, y = b.y + dy;
  if (is_inside<INTERIOR>(b.g, x, y, z)) {
    read_vector(b.f, input, b.g, x, y, z, values);
    return;
  }
#pragma unroll
  for (int lane = 0; lane < VECTOR; lane++) values[lane] = real(0);
  if constexpr (!INTERIOR) {
#pragma unroll 1
    for (int i = 0; i < VECTOR; i++) {
      const real value = read_needed(b.f, input, b.g, x + i, y, z);
#pragma unroll
      for (int lane = 0; lane < VECTOR; lane++) values[lane] = lane == i ? value : values[lane];
    }
  }
}

// The same to shared memory, asynchronously.
template <bool INTERIOR>
__device__ __forceinline__ void copy_group(const Block &b, int input, int dx, int dy, index_t z, real *to) {
  const index_t x = b.x + dx, y = b.y + dy;
  if (is_inside<INTERIOR>(b.g, x, y, z)) {
    async_copy<VECTOR*int(sizeof(real))>(to, b.f.in[input] + at(b.g, x, y, z));
    return;
  }
#pragma unroll 1
  for (int lane = 0; lane < VECTOR; lane++) to[lane] = INTERIOR ? real(0) : read_needed(b.f, input, b.g, x + lane, y, z);
}

// The thread's share of the halo, pass by pass.
struct HaloGroup {
  bool exists;
  int x, y;  // from the tile's first point
};

__device__ __forceinline__ HaloGroup halo_group(int pass) {
  const int i = int(threadIdx.y)*BLOCK_X + int(threadIdx.x) + pass*THREADS, side = i - HALO_ROWS;
  const int row = i/HALO_ROW_GROUPS, in_row = i%HALO_ROW_GROUPS - HALO_CORNER;
  const int in_side = side%at_least_one(SIDE_GROUPS) - GROUPS_BEFORE;
  if (i < HALO_ROWS) return {true, in_row*VECTOR, row < LOW_Y ? row - LOW_Y : TILE_Y + row - LOW_Y};
  return {i < HALO_GROUPS, in_side < 0 ? in_side*VECTOR : TILE_X + in_side*VECTOR, side/at_least_one(SIDE_GROUPS)};
}

// What comes in for one plane's turn.
struct Incoming {
  Patch patch;                                                   // of the plane that enters
  real halo[STAGED][at_least_one(HALO_PASSES)][VECTOR];          // of the plane that goes to shared memory
  real beside[INPUTS][POINTS_Y][VECTOR];                         // inputs that are read at the point only
};

template <bool INTERIOR> __device__ __forceinline__ void fetch_halo(const Block &b, index_t z, Incoming &in, real *slot) {
#pragma unroll
  for (int pass = 0; pass < HALO_PASSES; pass++) {
    const HaloGroup group = halo_group(pass);
    if (!group.exists) continue;
#pragma unroll
    for (int s = 0; s < STAGED; s++) {
      const int input = staged_input(s);
      if (ASYNC) copy_group<INTERIOR>(b, input, group.x, group.y, z, slot + s*SHARED_PLANE + cell(group.x, group.y));
      else load_group<INTERIOR>(b, input, group.x, group.y, z, in.halo[s][pass]);
    }
  }
}

// The plane that enters: to registers, or asynchronously to a slot.
template <bool INTERIOR> __device__ __forceinline__ void fetch_entry(const Block &b, index_t z, Incoming &in, real *slot) {
  constexpr int low_y = DIRECT ? PATCH_LOW_Y : 0, high_y = DIRECT ? PATCH_HIGH_Y : 0;
  constexpr int before = DIRECT ? PATCH_BEFORE : 0, after = DIRECT ? PATCH_AFTER : 0;
#pragma unroll
  for (int s = 0; s < STAGED; s++) {
#pragma unroll
    for (int j = -low_y; j < POINTS_Y + high_y; j++) {
#pragma unroll
      for (int group = -before; group <= after; group++) {
        const int input = staged_input(s), x = own_x() + group*VECTOR, y = own_y() + j;
        real values[VECTOR];
        if (ASYNC) {
          copy_group<INTERIOR>(b, input, x, y, z, slot + s*SHARED_PLANE + cell(x, y));
          continue;
        }
        load_group<INTERIOR>(b, input, x, y, z, values);
#pragma unroll
        for (int lane = 0; lane < VECTOR; lane++) {
          in.patch.value[s][PATCH_LOW_Y + j][(PATCH_BEFORE + group)*VECTOR + lane] = values[lane];
        }
      }
    }
  }
  if (HALO_ON_ENTRY) fetch_halo<INTERIOR>(b, z, in, slot);
  if (ASYNC) async_commit();
}

// What only the plane in turn needs.
template <bool INTERIOR> __device__ __forceinline__ void fetch_turn(const Block &b, index_t z, Incoming &in) {
  if (HALO_IN_TURN) fetch_halo<INTERIOR>(b, z, in, b.shared);
#pragma unroll
  for (int input = 0; input < INPUTS; input++) {
    if (staged_slot(input) >= 0) continue;
#pragma unroll
    for (int j = 0; j < POINTS_Y; j++) load_group<INTERIOR>(b, input, own_x(), own_y() + j, z, in.beside[input][j]);
  }
}

// ---- keeping

// The planes that a block holds at one time.
struct Planes {
  Patch queue[QUEUE];  // in registers
  int slots[SLOTS];    // where shared memory holds each plane, from z - LOW_Z; the last slot is free
};

// Shared memory and the queue move on by one plane. Unrolled as often as the queue is long, that moves no data.
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

// The thread's own points of a plane, and its share of the halo, to the free slot.
__device__ __forceinline__ void store_plane(const Block &b, const Planes &p, const Patch &own, const Incoming &in) {
  real *slot = b.shared + p.slots[SLOTS - 1];
#pragma unroll
  for (int s = 0; s < STAGED; s++) {
#pragma unroll
    for (int j = 0; j < POINTS_Y; j++) {
      real values[VECTOR];
#pragma unroll
      for (int lane = 0; lane < VECTOR; lane++) values[lane] = own.value[s][PATCH_LOW_Y + j][PATCH_BEFORE*VECTOR + lane];
      store_vector(slot + s*SHARED_PLANE + cell(own_x(), own_y() + j), values);
    }
#pragma unroll
    for (int pass = 0; pass < HALO_PASSES; pass++) {
      const HaloGroup group = halo_group(pass);
      if (group.exists) store_vector(slot + s*SHARED_PLANE + cell(group.x, group.y), in.halo[s][pass]);
    }
  }
}

// A plane enters.
__device__ __forceinline__ void enter(const Block &b, Planes &p, const Incoming &in) {
  if (DIRECT || HALO_IN_TURN) {
    shift_queue(p, in.patch);
    return;
  }
  if (!ASYNC) store_plane(b, p, in.patch, in);
  rotate_slots(p);
  if (IN_PLANES) return;  // the barrier is in take_turn
  Patch newest;
  __syncthreads();
#pragma unroll
  for (int s = 0; s < STAGED; s++) {
    load_window<VECTOR>(b.shared + p.slots[0] + s*SHARED_PLANE + cell(own_x() - PATCH_BEFORE*VECTOR, own_y() - PATCH_LOW_Y), SHARED_ROW,
                        newest.value[s]);
  }
  shift_queue(p, newest);
}

// After this, all that the plane in turn reads of shared memory is there.
__device__ __forceinline__ void take_turn(const Block &b, Planes &p, const Incoming &in) {
  if (HALO_IN_TURN) {
    store_plane(b, p, p.queue[LOW_Z], in);
    rotate_slots(p);
  }
  if (ASYNC) async_wait<0>();
  if (IN_PLANES || HALO_IN_TURN) __syncthreads();
}

// ---- computing

// With storage direct: what taps along x and y read beside the thread's own points.
struct Cross {
  real rows[STAGED][at_least_one(LOW_Y + HIGH_Y)][VECTOR];                 // before the points, then after them
  real sides[STAGED][POINTS_Y][at_least_one(SIDE_GROUPS)*VECTOR];
};

template <bool INTERIOR> __device__ __forceinline__ void load_cross(const Block &b, index_t z, Cross &cross) {
#pragma unroll
  for (int s = 0; s < STAGED; s++) {
#pragma unroll
    for (int i = 0; i < LOW_Y + HIGH_Y; i++) {
      const int y = own_y() + (i < LOW_Y ? i - LOW_Y : i - LOW_Y + POINTS_Y);
      load_group<INTERIOR>(b, staged_input(s), own_x(), y, z, cross.rows[s][i]);
    }
#pragma unroll
    for (int j = 0; j < POINTS_Y; j++) {
#pragma unroll
      for (int i = 0; i < SIDE_GROUPS; i++) {
        real values[VECTOR];
        const int x = own_x() + (i < GROUPS_BEFORE ? i - GROUPS_BEFORE : i - GROUPS_BEFORE + 1)*VECTOR;
        load_group<INTERIOR>(b, staged_input(s), x, own_y() + j, z, values);
#pragma unroll
        for (int lane = 0; lane < VECTOR; lane++) cross.sides[s][j][i*VECTOR + lane] = values[lane];
      }
    }
  }
}

// Taps of one of a thread's points. Its place and the offsets are constants after unrolling, so that each tap is a register, or
// an element of a vector that is loaded once however many taps fall into it.
struct Taps {
  const Block &b;
  const Planes &p;
  const Cross &cross;
  const Incoming &in;
  int row, lane;
  __device__ __forceinline__ real operator()(int input, int dx, int dy, int dz) const {
    const int s = staged_slot(input), x = lane + dx, y = row + dy;
    if (s < 0) return in.beside[input][row][lane];
    if (IN_PLANES) return from_shared(s, x, y, p.slots[dz + LOW_Z]);
    const bool in_patch = x >= -PATCH_BEFORE*VECTOR && x < (1 + PATCH_AFTER)*VECTOR && y >= -PATCH_LOW_Y &&
                          y < POINTS_Y + PATCH_HIGH_Y;
    if (in_patch) return p.queue[dz + LOW_Z].value[s][y + PATCH_LOW_Y][x + PATCH_BEFORE*VECTOR];
    if (IN_REGISTERS) return from_shared(s, x, y, p.slots[0]);
    if (y < 0) return cross.rows[s][y + LOW_Y][lane];
    if (y >= POINTS_Y) return cross.rows[s][y - POINTS_Y + LOW_Y][lane];
    return cross.sides[s][row][x < 0 ? x + BEFORE_X : x - VECTOR + BEFORE_X];
  }
  __device__ __forceinline__ real from_shared(int s, int x, int y, int slot) const {
    const int position = x + 16*VECTOR;  // never negative: no radius is above 16
    real values[VECTOR];
    load_vector(b.shared + slot + s*SHARED_PLANE + cell(own_x() + (position/VECTOR - 16)*VECTOR, own_y() + y), values);
    return values[position%VECTOR];
  }
};

// The points of a thread in plane z, those that lie in the box.
template <bool INTERIOR> __device__ __forceinline__ void compute(const Block &b, index_t z, const Planes &p, const Incoming &in) {
  const Geometry &g = b.g;
  const index_t x = b.x + own_x(), y = b.y + own_y();
  if (x + VECTOR <= g.x0 || x >= g.x1) return;
  Cross cross;
  if (DIRECT && STAR) load_cross<INTERIOR>(b, z, cross);
  real results[POINTS_Y][OUTPUTS][VECTOR];
#pragma unroll
  for (int j = 0; j < POINTS_Y; j++) update_vector(Taps{b, p, cross, in, j, 0}, b.coefficients, results[j]);
#pragma unroll
  for (int j = 0; j < POINTS_Y; j++) {
    if (INTERIOR || y + j < g.y1) write_results(b.f, g, x, y + j, z, results[j]);
  }
}

// ---- marching

template <bool INTERIOR> __device__ __forceinline__ void fetch(const Block &b, index_t z, const Planes &p, Incoming &in) {
  fetch_entry<INTERIOR>(b, z + HIGH_Z, in, b.shared + p.slots[SLOTS - 1]);
  fetch_turn<INTERIOR>(b, z, in);
}

template <bool INTERIOR> __device__ __forceinline__ void march(const Block &b) {
  constexpr int planes_before = LOW_Z + HIGH_Z;  // must have entered before the first plane's turn
  constexpr int at_once = INTERIOR && !HALO_ON_ENTRY ? at_least_one(planes_before) : 1, steps = INTERIOR ? UNROLL : 1;
  Planes p;
  Incoming next;
#pragma unroll
  for (int i = 0; i < SLOTS; i++) p.slots[i] = i*SLOT;
#pragma unroll at_once
  for (int i = 0; i < planes_before; i++) {
    fetch_entry<INTERIOR>(b, b.z_first - LOW_Z + i, next, b.shared + p.slots[SLOTS - 1]);
    enter(b, p, next);
  }
  if (PREFETCH != PREFETCH_NONE) fetch<INTERIOR>(b, b.z_first, p, next);
#pragma unroll 1
  for (index_t z = b.z_first; z < b.z_last; z += steps) {
#pragma unroll
    for (int i = 0; i < steps; i++) {
      if (i > 0 && z + i >= b.z_last) return;
      if (PREFETCH == PREFETCH_NONE) fetch<INTERIOR>(b, z + i, p, next);
      const Incoming in = next;
      enter(b, p, in);
      take_turn(b, p, in);
      if (PREFETCH != PREFETCH_NONE && z + i + 1 < b.z_last) fetch<INTERIOR>(b, z + i + 1, p, next);
      compute<INTERIOR>(b, z + i, p, in);
    }
  }
}

// The thread's points one by one: one copy of the code, and few registers, for what is rare.
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
  const BandedBlock block = banded_block<BAND, TILE_Y, Z_SLICING>(g);
  const index_t z_first = g.z0 + block.z*Z_SLICING;
  const Block b = {f, g, COEFFICIENT_VALUES, SHARED_MEMORY(real), g.x0/VECTOR*VECTOR + index_t(blockIdx.x)*TILE_X,
                   g.y0 + block.y*TILE_Y, z_first, z_first + Z_SLICING < g.z1 ? z_first + Z_SLICING : g.z1};
  if (b.y >= g.y1) return;  // clusters and bands reach beyond the last rows
  if (is_interior(b)) march<true>(b);
  else if constexpr (DIRECT) march_points(b);
  else march<false>(b);
}
