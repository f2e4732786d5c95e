// tensor: a block marches along z. The copy engine brings plane after plane of each staged input into a ring in shared
// memory, halo and all, by tensor maps; what lies beyond the grid arrives as zeros. A small template that shows how, and a
// test of it.
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#endif

#ifndef BLOCK_X
#define BLOCK_X 32
#define BLOCK_Y 8
#define Z_SLICING 4
#define STORES_BLOCK 0
#define STORES_ENGINE 1
#define STORES STORES_ENGINE
#endif

enum {
  EACH = 16/int(sizeof(real)),  // a box's rows are whole multiples of 16 bytes, and begin at such
  BEFORE_X = (LOW_X + EACH - 1)/EACH*EACH,
  WIDTH = (BEFORE_X + BLOCK_X + HIGH_X + EACH - 1)/EACH*EACH,
  HEIGHT = BLOCK_Y + LOW_Y + HIGH_Y,
  BOX_BYTES = WIDTH*HEIGHT*int(sizeof(real)),
  SLOT = (BOX_BYTES + 127)/128*128/int(sizeof(real)),  // boxes begin at multiples of 128 bytes
  NEEDED = LOW_Z + 1 + HIGH_Z,                         // planes for one plane of results
  RING = NEEDED + 1,                                   // and one under way
  TILE = BLOCK_X*BLOCK_Y,
};

// Plane `plane`, counted from the first that the block reads, of the staged input in this slot.
__device__ __forceinline__ real *plane_of(int plane, int slot) {
  return SHARED_MEMORY(real) + (plane%RING*STAGED + slot)*SLOT;
}

struct Taps {
  const Fields &f;
  const Geometry &g;
  index_t x, y, z;
  int step;
  __device__ __forceinline__ real operator()(int input, int dx, int dy, int dz) const {
    if (staged_slot(input) < 0) return read_point(f, input, g, x, y, z);
    const int row = int(threadIdx.y) + LOW_Y + dy, column = int(threadIdx.x) + BEFORE_X + dx;
    return plane_of(step + LOW_Z + dz, staged_slot(input))[row*WIDTH + column];
  }
};

// One thread has all staged inputs' boxes of a plane copied.
__device__ __forceinline__ void fetch(const Fields &f, int x, int y, int z, int plane, unsigned long long *barriers) {
  unsigned long long *barrier = barriers + plane%RING;
  barrier_expect(barrier, STAGED*BOX_BYTES);
#pragma unroll
  for (int slot = 0; slot < STAGED; slot++) {
#if DIMS == 3
    tensor_copy(plane_of(plane, slot), f.map_in[slot], x, y, z, barrier);
#else
    tensor_copy(plane_of(plane, slot), f.map_in[slot], x, y, barrier);
#endif
  }
}

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  real *tile = SHARED_MEMORY(real) + RING*STAGED*SLOT;
  unsigned long long *barriers = reinterpret_cast<unsigned long long *>(tile + (STORES == STORES_ENGINE ? OUTPUTS*TILE : 0));
  const index_t first_x = g.x0/EACH*EACH + index_t(blockIdx.x)*BLOCK_X, first_y = g.y0 + index_t(blockIdx.y)*BLOCK_Y;
  const index_t first_z = g.z0 + index_t(blockIdx.z)*Z_SLICING;
  const index_t x = first_x + threadIdx.x, y = first_y + threadIdx.y;
  const int steps = g.z1 - first_z < Z_SLICING ? int(g.z1 - first_z) : Z_SLICING;
  const bool is_leader = threadIdx.x == 0 && threadIdx.y == 0;
  // The box to be computed does not cut the tile.
  const bool is_whole = first_x >= g.x0 && first_x + BLOCK_X <= g.x1 && first_y + BLOCK_Y <= g.y1;
  if (is_leader) {
    tensor_prefetch(f.map_in[0]);
    for (int i = 0; i < RING; i++) barrier_init(barriers + i, 1);
    barrier_init_done();
  }
  __syncthreads();
  launch_dependents();
  wait_for_previous();
  if (is_leader) {
    for (int plane = 0; plane < NEEDED; plane++) {
      fetch(f, int(first_x) - BEFORE_X, int(first_y) - LOW_Y, int(first_z) - LOW_Z + plane, plane, barriers);
    }
  }
  for (int plane = 0; plane < NEEDED - 1; plane++) barrier_wait(barriers + plane, 0);
  for (int step = 0; step < steps; step++) {
    const int newest = step + NEEDED - 1, next = newest + 1;
    if (is_leader && step + 1 < steps) {
      fetch(f, int(first_x) - BEFORE_X, int(first_y) - LOW_Y, int(first_z) - LOW_Z + next, next, barriers);
    }
    barrier_wait(barriers + newest%RING, unsigned(newest/RING%2));
    const index_t z = first_z + step;
    const bool computes = in_box(g, x, y, z);
    real results[OUTPUTS];
    if (computes) update(Taps{f, g, x, y, z, step}, COEFFICIENT_VALUES, results);
#if STORES == STORES_ENGINE
    if (is_whole) {
#pragma unroll
      for (int o = 0; o < OUTPUTS; o++) tile[o*TILE + int(threadIdx.y)*BLOCK_X + int(threadIdx.x)] = results[o];
      tensor_fence();
      __syncthreads();
      if (is_leader) {
#pragma unroll
        for (int o = 0; o < OUTPUTS; o++) {
#if DIMS == 3
          tensor_store(f.map_out[o], int(first_x), int(first_y), int(z), tile + o*TILE);
#else
          tensor_store(f.map_out[o], int(first_x), int(first_y), tile + o*TILE);
#endif
        }
        tensor_store_commit();
        tensor_store_wait<0>();
      }
    }
#endif
    if (computes && !(STORES == STORES_ENGINE && is_whole)) {
#pragma unroll
      for (int o = 0; o < OUTPUTS; o++) write_point(f, o, g, x, y, z, results[o]);
    }
    __syncthreads();  // before the oldest plane and the tile are written anew
  }
}
