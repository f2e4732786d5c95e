// resident: the whole box stays on the GPU's multiprocessors for STEPS time steps. A block keeps the rows of its tile in shared memory, and all
// blocks run at the same time. A launch reads and writes the box in global memory once. Only rows at the edges of tiles move in between:
//
//      load the tile and its halo
//      repeat:
//        make DEPTH steps in shared memory
//        publish the tile's outermost rows in the workspace, and increase its count
//        wait until the blocks around this one have published as often, and load the halo from there
//      write the tile
//
// A tile has whole rows along x, TILE_Y of them along y and TILE_Z along z. The halo is DEPTH times as wide as taps reach. Each step computes the
// rows that later steps need, fewer from step to step. Neighbouring blocks compute the halo, too, so that blocks exchange rows less often:
//
//      y -->   h h 0 1 1 1 1 0 h h      TILE_Y 4, DEPTH 2, reach 1. A digit is the last step that computes the row; h is only loaded.
//
// In a step, a thread computes patches of POINTS_Y x POINTS_Z vectors. Shuffles fetch neighbours in x; all others come from shared memory.
// Results wait in registers for a barrier, behind which all threads have read. Then they overwrite the old values.
//
// The workspace counts for each block how often it has published, in all launches. Every launch adds the same number to every count, so
// that no count has to be cleared. Published rows have two places, used in turn. A block reuses a place after the blocks around it have
// published once more: by then they have read the rows there.
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#include "common.cuh"
#endif

#ifndef STEPS
#define STEPS 8
#define DEPTH 2
#define TILE_Y 8
#define TILE_Z 16
#define POINTS_Y 2
#define POINTS_Z 2
#define VECTOR 4
#define BLOCK_Y 16
#define LAUNCH_BLOCK 32, 16, 1
#endif

__device__ constexpr int first_of(int x, int, int) { return x; }

// BLOCK_X: threads of a row. The YAML file computes it from the grid.
constexpr int ROUNDS = STAGE_COUNT/DEPTH, BLOCK_X = first_of(LAUNCH_BLOCK), ROW_ELEMENTS = BLOCK_X*VECTOR, LANES = BLOCK_X < 32 ? BLOCK_X : 32;

// Additional rows that patches at the high end of a step may compute. No later step reads them.
__device__ constexpr int excess(int tile, int reach, int points) {
  return tile%points == 0 && (DEPTH == 1 || reach%points == 0) ? 0 : points - 1;
}

// The tile's rows with the halo (LOADED) and with additional rows as in shared memory (ROWS). FIRST: where the tile's own rows begin.
constexpr int FIRST_Y = sum_last(DEPTH, STAGE_LOW_Y), FIRST_Z = sum_last(DEPTH, STAGE_LOW_Z);
constexpr int LOADED_Y = TILE_Y + sum_last(DEPTH, STAGE_SPAN_Y), LOADED_Z = TILE_Z + sum_last(DEPTH, STAGE_SPAN_Z);
constexpr int ROWS_Y = LOADED_Y + excess(TILE_Y, LOW_Y + HIGH_Y, POINTS_Y), ROWS_Z = LOADED_Z + excess(TILE_Z, LOW_Z + HIGH_Z, POINTS_Z);

struct Tile {
  const Fields &f;
  const Geometry &g;
  const Coefficients &coefficients;
  int lane, group;    // the vector of a row that this thread computes; the group that selects its patches
  int y, z;           // the place in the grid of the block's first row
  unsigned outside;   // a bit for each of the vector's points that lies outside the box in x
  real *rows;         // in shared memory
  real *published;    // the published rows of all tiles, in two places
};

__device__ __forceinline__ bool is_row_in_box(const Tile &t, int y, int z) {
  return t.y + y >= int(t.g.y0) && t.y + y < int(t.g.y1) && t.z + z >= int(t.g.z0) && t.z + z < int(t.g.z1);
}
__device__ __forceinline__ bool is_row_in_tile(int y, int z) {
  return y >= FIRST_Y && y < FIRST_Y + TILE_Y && z >= FIRST_Z && z < FIRST_Z + TILE_Z;
}
__device__ __forceinline__ real *row_of(const Tile &t, int y, int z) { return t.rows + (z*ROWS_Y + y)*ROW_ELEMENTS; }

// The place where this thread's vector of a row of the box is published after a round.
__device__ __forceinline__ real *published_at(const Tile &t, int round, int y, int z) {
  const int height = int(gridDim.y)*TILE_Y, depth = int(gridDim.z)*TILE_Z;
  const int number = (round%2*depth + t.z + z - int(t.g.z0))*height + t.y + y - int(t.g.y0);
  return t.published + (number*BLOCK_X + t.lane)*VECTOR;
}

// Load all rows of the block from the input. Rows beyond the grid are not needed: the nearest row replaces them.
__device__ __forceinline__ void load_rows(const Tile &t) {
#pragma unroll 4
  for (int n = t.group; n < ROWS_Y*ROWS_Z; n += BLOCK_Y) {
    const int y = n%ROWS_Y, z = n/ROWS_Y, x = t.lane*VECTOR;
    const index_t in_y = min(max(t.y + y, 0), int(t.g.ny) - 1), in_z = min(max(t.z + z, 0), int(t.g.nz) - 1);
    const real beyond[VECTOR] = {};
    if (x < t.g.nx) async_copy<VECTOR*int(sizeof(real))>(row_of(t, y, z) + x, t.f.in[0] + at(t.g, x, in_y, in_z));
    else store_vector(row_of(t, y, z) + x, beyond);
  }
  async_commit();
  async_wait<0>();
  __syncthreads();
}

// Load the halo that other blocks published. Rows outside the box never change.
__device__ __forceinline__ void load_halo(const Tile &t, int round) {
#pragma unroll 4
  for (int n = t.group; n < LOADED_Y*LOADED_Z; n += BLOCK_Y) {
    const int y = n%LOADED_Y, z = n/LOADED_Y;
    if (is_row_in_tile(y, z) || !is_row_in_box(t, y, z)) continue;
    async_copy<VECTOR*int(sizeof(real))>(row_of(t, y, z) + t.lane*VECTOR, published_at(t, round, y, z));
  }
  async_commit();
  async_wait<0>();
  __syncthreads();
}

// Store how often this block has published, and wait until the blocks around it have published as often.
__device__ __forceinline__ void wait_for_blocks(unsigned *counts, unsigned count) {
  const int number = threadIdx.y*BLOCK_X + threadIdx.x;
  __syncthreads();  // all threads have published
  if (number == 0) store_release(counts + blockIdx.z*gridDim.y + blockIdx.y, count);
  if (number < 9) {
    const int y = int(blockIdx.y) + number%3 - 1, z = int(blockIdx.z) + number/3 - 1;
    const bool is_block = y >= 0 && y < int(gridDim.y) && z >= 0 && z < int(gridDim.z);
    while (is_block && int(load_acquire(counts + z*int(gridDim.y) + y) - count) < 0) spin_yield();
  }
  __syncthreads();
}

// The rows around a patch, with the points beside the thread's vector.
struct Near {
  real values[LOW_Z + POINTS_Z + HIGH_Z][LOW_Y + POINTS_Y + HIGH_Y][LOW_X + VECTOR + HIGH_X];
};

// Taps of one point of a patch.
struct PatchTaps {
  const Near &near;
  int i, j, k;
  __device__ __forceinline__ real operator()(int, int dx, int dy, int dz) const {
    return near.values[LOW_Z + k + dz][LOW_Y + j + dy][LOW_X + i + dx];
  }
};

// Load the rows that taps of the patch at y and z reach. A star needs no corners, and needs neighbours in x only in the patch's own rows.
__device__ __forceinline__ void load_near(const Tile &t, int y, int z, Near &near) {
#pragma unroll
  for (int k = 0; k < LOW_Z + POINTS_Z + HIGH_Z; k++) {
#pragma unroll
    for (int j = 0; j < LOW_Y + POINTS_Y + HIGH_Y; j++) {
      const bool in_y = j >= LOW_Y && j < LOW_Y + POINTS_Y, in_z = k >= LOW_Z && k < LOW_Z + POINTS_Z;
      const real *row = row_of(t, y + j - LOW_Y, z + k - LOW_Z);
      real (&values)[LOW_X + VECTOR + HIGH_X] = near.values[k][j];
      real own[VECTOR];
      if (STAR && !in_y && !in_z) continue;
      load_vector(row + t.lane*VECTOR, own);
      if (STAR && !(in_y && in_z)) {
#pragma unroll
        for (int i = 0; i < VECTOR; i++) values[LOW_X + i] = own[i];
      } else {
        find_near<LANES>(own, values);
        if (BLOCK_X > 32) {  // the neighbours of a warp's first and last lanes are in other warps
#pragma unroll
          for (int i = 0; i < LOW_X; i++) {
            if (t.lane%32 == 0 && t.lane > 0) values[i] = row[t.lane*VECTOR - LOW_X + i];
          }
#pragma unroll
          for (int i = 0; i < HIGH_X; i++) {
            if (t.lane%32 == 31 && t.lane < BLOCK_X - 1) values[LOW_X + VECTOR + i] = row[(t.lane + 1)*VECTOR + i];
          }
        }
      }
    }
  }
}

// Compute the patch at y and z of a step. Points outside the box in x keep their values. Rows outside the box are not stored later.
__device__ __forceinline__ void compute_patch(const Tile &t, int y, int z, real (&results)[POINTS_Z][POINTS_Y][VECTOR]) {
  Near near;
  load_near(t, y, z, near);
#pragma unroll
  for (int k = 0; k < POINTS_Z; k++) {
#pragma unroll
    for (int j = 0; j < POINTS_Y; j++) {
#pragma unroll
      for (int i = 0; i < VECTOR; i++) {
        real point[OUTPUTS];
        update(PatchTaps{near, i, j, k}, t.coefficients, point);
        const bool is_end = i < LOW_X || i >= VECTOR - HIGH_X;  // only the outermost points of a row lie outside the box
        results[k][j][i] = is_end && (t.outside >> i & 1) ? near.values[LOW_Z + k][LOW_Y + j][LOW_X + i] : point[0];
      }
    }
  }
}

// Whether a block beside this one needs this row of the tile.
__device__ __forceinline__ bool is_published(int y, int z) {
  return y < FIRST_Y + sum_last(DEPTH, STAGE_HIGH_Y) || y >= FIRST_Y + TILE_Y - sum_last(DEPTH, STAGE_LOW_Y) || z < FIRST_Z + sum_last(DEPTH, STAGE_HIGH_Z) || z >= FIRST_Z + TILE_Z - sum_last(DEPTH, STAGE_LOW_Z);
}

// Pass on a row of the box after the last step of a round: to the blocks that need it, or, after the last round, to the output.
__device__ __forceinline__ void pass_on(const Tile &t, int round, int y, int z, const real (&row)[VECTOR]) {
  if (!is_row_in_tile(y, z)) return;
  if (round == ROUNDS - 1) write_in_box(t.f, 0, t.g, t.lane*VECTOR, t.y + y, t.z + z, row);
  else if (is_published(y, z)) store_vector(published_at(t, round, y, z), row);
}

// Make one step. LATER more steps follow before the next exchange.
template <int LATER> __device__ __forceinline__ void make_step(const Tile &t, int round) {
  constexpr int first_y = FIRST_Y - sum_last(LATER, STAGE_LOW_Y), first_z = FIRST_Z - sum_last(LATER, STAGE_LOW_Z);
  constexpr int patches_y = divide_up(TILE_Y + sum_last(LATER, STAGE_SPAN_Y), POINTS_Y);
  constexpr int patches_z = divide_up(TILE_Z + sum_last(LATER, STAGE_SPAN_Z), POINTS_Z);
  constexpr int patches = patches_y*patches_z, passes = divide_up(patches, BLOCK_Y);
  real results[passes][POINTS_Z][POINTS_Y][VECTOR];
#pragma unroll
  for (int pass = 0; pass < passes; pass++) {
    const int patch = min(t.group + pass*BLOCK_Y, patches - 1);  // lanes of a warp stay together
    compute_patch(t, first_y + patch%patches_y*POINTS_Y, first_z + patch/patches_y*POINTS_Z, results[pass]);
  }
  __syncthreads();
#pragma unroll
  for (int pass = 0; pass < passes; pass++) {
    const int patch = t.group + pass*BLOCK_Y;
    if (patch >= patches) continue;
#pragma unroll
    for (int k = 0; k < POINTS_Z; k++) {
#pragma unroll
      for (int j = 0; j < POINTS_Y; j++) {
        const int y = first_y + patch%patches_y*POINTS_Y + j, z = first_z + patch/patches_y*POINTS_Z + k;
        if (!is_row_in_box(t, y, z)) continue;
        store_vector(row_of(t, y, z) + t.lane*VECTOR, results[pass][k][j]);
        if (LATER == 0) pass_on(t, round, y, z, results[pass][k][j]);
      }
    }
  }
}

// Make the steps between two exchanges.
template <int LATER> struct Steps {
  static __device__ __forceinline__ void make(const Tile &t, int round) {
    make_step<LATER>(t, round);
    __syncthreads();
    Steps<LATER - 1>::make(t, round);
  }
};
template <> struct Steps<0> {
  static __device__ __forceinline__ void make(const Tile &t, int round) { make_step<0>(t, round); }
};

__device__ __forceinline__ unsigned find_outside(const Geometry &g, int x) {
  unsigned outside = 0;
#pragma unroll
  for (int i = 0; i < VECTOR; i++) {
    if (x + i < g.x0 || x + i >= g.x1) outside |= 1u << i;
  }
  return outside;
}

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  unsigned *counts = static_cast<unsigned *>(workspace);
  const unsigned before = counts[blockIdx.z*gridDim.y + blockIdx.y];  // no other block writes it
  const Tile t = {f, g, COEFFICIENT_VALUES, int(threadIdx.x), int(threadIdx.y), int(g.y0) + int(blockIdx.y)*TILE_Y - FIRST_Y,
                  int(g.z0) + int(blockIdx.z)*TILE_Z - FIRST_Z, find_outside(g, int(threadIdx.x)*VECTOR), SHARED_MEMORY(real),
                  reinterpret_cast<real *>(counts + round_up(int(gridDim.y*gridDim.z), 4))};
  load_rows(t);
#pragma unroll 1
  for (int round = 0; round < ROUNDS; round++) {
    Steps<DEPTH - 1>::make(t, round);
    if (round == ROUNDS - 1) break;
    wait_for_blocks(counts, before + unsigned(round) + 1);
    load_halo(t, round);
  }
}
