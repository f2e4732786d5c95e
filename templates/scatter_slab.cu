// scatter_slab: as in `scatter`, a block marches through planes in z, and a plane that comes in adds its share to the sums of all
// planes that its taps reach. But a block covers whole rows, so that what it needs of a plane lies in memory in one piece, a slab,
// which the copy engine moves at once; and rows need not begin at multiples of a vector.
//
// Shared memory holds a slab just as it lies in global memory, from a multiple of 16 bytes on. So a row begins somewhere within a
// vector, and where is known when the code is compiled, but for the shift of the whole slab. With rows of 5 points and vectors of 4:
//
//      vectors     |. 0 0 0|0 0 1 1|1 1 1 2|2 2 2 2|      shift 1: rows 0, 1, 2 begin at elements 1, 2, 3 of a vector
//
// Threads load whole vectors and pick the elements out of them. There is code for each shift, SHIFT, in which all places are
// constants; a warp's threads are of one row, and so they choose the same one.
//
// Results are shifted between neighbouring threads of a warp until they are vectors of global memory; only where rows and warps begin
// and end are they written point by point.
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#endif

#ifndef Z_SLICING
#define BLOCK_X 128
#define BLOCK_Y 2
#define POINTS_Y 2
#define STAGES 2
#define Z_SLICING 64
#define ROW_POINTS 512
#define PLANE_POINTS (512*512)
#else
#define ROW_POINTS int(Geometry::row)
#define PLANE_POINTS (Geometry::plane)
#endif

constexpr int VECTOR = 16/int(sizeof(real));
constexpr int TILE_X = BLOCK_X*VECTOR, TILE_Y = BLOCK_Y*POINTS_Y, THREADS = BLOCK_X*BLOCK_Y;

// How far one row and one plane begin beyond the other within a vector.
constexpr int ROW_SHIFT = ROW_POINTS%VECTOR, PLANE_SHIFT = int(PLANE_POINTS%VECTOR);

__device__ constexpr int round_up(int count, int grain) { return (count + grain - 1)/grain*grain; }

// A slot of shared memory in elements: the slab, and before and behind it what threads read that lie beyond the first and last row,
// though they do not use it.
constexpr int BEFORE = round_up(LOW_X, VECTOR), ROWS = LOW_Y + TILE_Y + HIGH_Y;
constexpr int LAST_ROW = round_up((TILE_X > ROW_POINTS ? TILE_X : ROW_POINTS) + HIGH_X, VECTOR) + 2*VECTOR;
constexpr int SLAB = round_up(BEFORE + (ROWS - 1)*ROW_POINTS + LAST_ROW, VECTOR), SLOT = STAGED*SLAB;

// One slot for the slab at hand, STAGES for those under way, and one that is being read by warps that are late.
constexpr int SLOTS = STAGES + 2;

// Where the last output of a plane is finished: this many planes later.
__device__ constexpr int longest_delay() {
  int longest = 0;
  for (int o = 0; o < OUTPUTS; o++) longest = delay(o) > longest ? delay(o) : longest;
  return longest;
}

struct Block {
  const Fields &f;
  const Geometry &g;
  real *shared;
  index_t y;                // the first row that it computes
  index_t z_first, z_last;  // planes that it computes: z_first <= z < z_last
};

// The thread's first point, from the block's first.
__device__ __forceinline__ int own_x() { return int(threadIdx.x)*VECTOR; }
__device__ __forceinline__ int own_y() { return int(threadIdx.y)*POINTS_Y; }
__device__ __forceinline__ int own_lane() { return int(threadIdx.y*BLOCK_X + threadIdx.x)%32; }

// Where a row of a plane begins within a vector. No number is negative: planes are those of the grid.
__device__ __forceinline__ int shift_of(index_t y, index_t z) { return int((z%VECTOR*PLANE_SHIFT + y%VECTOR*ROW_SHIFT)%VECTOR); }

// ---- copying slabs to shared memory

// Behind the slots, two barriers for each: `full` counts the bytes of a slab, `empty` the warps that have read it.
__device__ __forceinline__ unsigned long long *full(const Block &b, int slot) {
  return reinterpret_cast<unsigned long long *>(b.shared + SLOTS*SLOT) + slot;
}
__device__ __forceinline__ unsigned long long *empty(const Block &b, int slot) { return full(b, slot) + SLOTS; }

// A place in the ring of slots, and how often the ring was gone round: barriers count that in phases, 0 and 1 by turns.
struct Place {
  int slot;
  unsigned phase;
};

__device__ __forceinline__ void step(Place &place) {
  place.phase ^= place.slot + 1 == SLOTS ? 1u : 0u;
  place.slot = place.slot + 1 < SLOTS ? place.slot + 1 : 0;
}

__device__ __forceinline__ void make_barriers(const Block &b) {
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    for (int slot = 0; slot < SLOTS; slot++) {
      barrier_init(full(b, slot), 1);
      barrier_init(empty(b, slot), THREADS/32);
    }
    barrier_init_done();
  }
  __syncthreads();
}

// By one thread. Whole vectors are copied: a few points of the rows before and behind come along, but nothing from beyond the array.
// Its last points are left out where they are no whole vector; a rule sees to it that no tap needs them.
__device__ __forceinline__ void copy_slab(const Block &b, index_t z, int slot) {
  const Geometry &g = b.g;
  const index_t y_last = b.y + TILE_Y + HIGH_Y < g.ny ? b.y + TILE_Y + HIGH_Y : g.ny;
  const index_t begin = at(g, 0, b.y - LOW_Y, z)/VECTOR*VECTOR, array_end = g.nz*g.plane/VECTOR*VECTOR;
  index_t end = (at(g, 0, y_last, z) + VECTOR - 1)/VECTOR*VECTOR;
  end = end < array_end ? end : array_end;
  const unsigned bytes = unsigned(end - begin)*unsigned(sizeof(real));
  barrier_expect(full(b, slot), STAGED*bytes);
#pragma unroll
  for (int s = 0; s < STAGED; s++) {
    bulk_copy(b.shared + slot*SLOT + s*SLAB + BEFORE, b.f.in[staged_input(s)] + begin, bytes, full(b, slot));
  }
}

// ---- computing

// Taps of one of a thread's points into the plane at hand. The thread's first point lies SHIFT elements behind `vector`. So all
// places are constants after unrolling: a vector is loaded once however many taps fall into it.
template <int SHIFT> struct PlaneTaps {
  const real *vector;
  int row, lane;
  __device__ __forceinline__ real operator()(int input, int dx, int dy) const {
    constexpr int NEVER_NEGATIVE = round_up(LOW_Y*ROW_POINTS + LOW_X, VECTOR);
    const int position = SHIFT + lane + dx + (row + dy)*ROW_POINTS + NEVER_NEGATIVE;
    real values[VECTOR];
    load_vector(vector + staged_slot(input)*SLAB + position/VECTOR*VECTOR - NEVER_NEGATIVE, values);
    return values[position%VECTOR];
  }
};

// What the rest of an update reads at one of the thread's points.
struct PointTaps {
  const Block &b;
  index_t x, y, z;
  __device__ __forceinline__ real operator()(int input) const {
    return x < b.g.nx && y < b.g.y1 ? read_point(b.f, input, b.g, x, y, z) : real(0);
  }
};

// ---- writing

// A thread's results are those of [x, x + VECTOR). SHIFT elements come from the thread before, so that a vector of memory is whole.
template <int SHIFT>
__device__ __forceinline__ void write_row(const Block &b, int output, index_t x, index_t y, index_t z, const real (&values)[VECTOR]) {
  const Geometry &g = b.g;
  const int lane = own_lane();
  const index_t begin = x - SHIFT;
  real shifted[VECTOR];
#pragma unroll
  for (int i = 0; i < VECTOR; i++) {
    if (i < SHIFT) shifted[i] = __shfl_up_sync(0xffffffffu, values[VECTOR - SHIFT + i], 1);
    else shifted[i] = values[i - SHIFT];
  }
  if (y >= g.y1) return;
  if ((SHIFT == 0 || lane > 0) && begin >= g.x0 && begin + VECTOR <= g.x1) {
    write_vector(b.f, output, g, begin, y, z, shifted);
  } else {
#pragma unroll
    for (int i = 0; i < VECTOR; i++) {
      const bool own = i >= SHIFT || lane > 0;  // else the last thread of the warp before writes it
      if (own && begin + i >= g.x0 && begin + i < g.x1) write_point(b.f, output, g, begin + i, y, z, shifted[i]);
    }
  }
  if constexpr (SHIFT > 0) {
    if (lane < 31) return;
#pragma unroll
    for (int i = VECTOR - SHIFT; i < VECTOR; i++) {
      if (x + i >= g.x0 && x + i < g.x1) write_point(b.f, output, g, x + i, y, z, values[i]);
    }
  }
}

// Rows of one output, one after the other, since each has a shift of its own.
//   SHIFT  of row ROW
template <int SHIFT, int ROW>
__device__ __forceinline__ void write_rows(const Block &b, int output, index_t z, const Coefficients &coefficients,
                                           const real (&sums)[POINTS_Y][VECTOR][FORMS][PLANES]) {
  const index_t x = own_x(), y = b.y + own_y() + ROW;
  real values[VECTOR];
#pragma unroll
  for (int lane = 0; lane < VECTOR; lane++) values[lane] = finish(output, PointTaps{b, x + lane, y, z}, coefficients, sums[ROW][lane]);
  write_row<SHIFT>(b, output, x, y, z, values);
  if constexpr (ROW + 1 < POINTS_Y) write_rows<(SHIFT + ROW_SHIFT)%VECTOR, ROW + 1>(b, output, z, coefficients, sums);
}

// Outputs that are complete after plane p: those of planes that came in some planes before.
//   SHIFT  of the thread's first row in plane p
template <int SHIFT, int OUTPUT>
__device__ __forceinline__ void write_complete(const Block &b, index_t p, const Coefficients &coefficients,
                                               const real (&sums)[POINTS_Y][VECTOR][FORMS][PLANES]) {
  const index_t z = p - delay(OUTPUT);
  constexpr int SHIFT_THERE = (SHIFT + delay(OUTPUT)*(VECTOR - PLANE_SHIFT))%VECTOR;
  if (z >= b.z_first && z < b.z_last) write_rows<SHIFT_THERE, 0>(b, OUTPUT, z, coefficients, sums);
  if constexpr (OUTPUT + 1 < OUTPUTS) write_complete<SHIFT, OUTPUT + 1>(b, p, coefficients, sums);
}

// ---- marching

// Add plane p, which lies in a slot; tell that it was read; write what it completes.
template <int SHIFT>
__device__ __forceinline__ void take_plane(const Block &b, index_t p, int slot, const Weights &weights, const Coefficients &coefficients,
                                           real (&sums)[POINTS_Y][VECTOR][FORMS][PLANES]) {
  const int first_row_shift = shift_of(b.y - LOW_Y, p);
  const int first = first_row_shift + (LOW_Y + own_y())*ROW_POINTS + own_x();  // the thread's first point within the slab
  const real *vector = b.shared + slot*SLOT + BEFORE + (first - SHIFT);
#pragma unroll
  for (int j = 0; j < POINTS_Y; j++) {
#pragma unroll
    for (int lane = 0; lane < VECTOR; lane++) add_plane(PlaneTaps<SHIFT>{vector, j, lane}, weights, sums[j][lane]);
  }
  barrier_leave(empty(b, slot), own_lane());
  write_complete<SHIFT, 0>(b, p, coefficients, sums);
}

// The code for the thread's shift, of those that there are.
template <int SHIFT>
__device__ __forceinline__ void choose_shift(const Block &b, index_t p, int slot, int shift, const Weights &weights,
                                             const Coefficients &coefficients, real (&sums)[POINTS_Y][VECTOR][FORMS][PLANES]) {
  if (ROW_SHIFT == 0 && PLANE_SHIFT == 0) take_plane<0>(b, p, slot, weights, coefficients, sums);
  else if (SHIFT + 1 == VECTOR || shift == SHIFT) take_plane<SHIFT>(b, p, slot, weights, coefficients, sums);
  else choose_shift<(SHIFT + 1)%VECTOR>(b, p, slot, shift, weights, coefficients, sums);
}

__device__ __forceinline__ void march(const Block &b, const Weights &weights, const Coefficients &coefficients) {
  const index_t first = b.z_first - LOW_Z, last = b.z_last + longest_delay();
  const bool is_leader = threadIdx.x == 0 && threadIdx.y == 0;
  real sums[POINTS_Y][VECTOR][FORMS][PLANES] = {};
  Place at_hand = {0, 0}, ahead = {0, 0};
  make_barriers(b);
#pragma unroll 1
  for (index_t z = first; z < last + STAGES; z++) {
    // A slot is written again when all warps have read the plane that it held; of the first round none was held.
    if (z < last) {
      if (is_leader) {
        if (z - first >= SLOTS) barrier_wait(empty(b, ahead.slot), ahead.phase ^ 1u);
        copy_slab(b, z, ahead.slot);
      }
      step(ahead);
    }
    if (z < first + STAGES) continue;
    __syncwarp();
    barrier_wait(full(b, at_hand.slot), at_hand.phase);
    const index_t p = z - STAGES;
    choose_shift<0>(b, p, at_hand.slot, shift_of(b.y + own_y(), p), weights, coefficients, sums);
    step(at_hand);
  }
}

// The planes of the box are shared out evenly among the blocks along z.
__device__ __forceinline__ index_t share_begin(const Geometry &g, unsigned share) {
  const index_t planes = g.z1 - g.z0, shares = (planes - 1)/Z_SLICING + 1;
  return g.z0 + index_t((long long)planes*share/shares);
}

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  const Block b = {f, g, SHARED_MEMORY(real), g.y0 + index_t(blockIdx.y)*TILE_Y, share_begin(g, blockIdx.z),
                   share_begin(g, blockIdx.z + 1)};
  march(b, weights_of(COEFFICIENT_VALUES), COEFFICIENT_VALUES);
}
