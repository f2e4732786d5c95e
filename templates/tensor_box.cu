// tensor_box: sums of many weighted taps in double precision, as products of small matrices on the tensor cores. A block marches from tile
// to tile. Shared memory holds the data of the current tile, and that of the next tile while it is being copied.
//
// One product computes the 8 points of a cell at 16 places that lie CELL_X apart along x:
//
//      sums[place][point] += data[place][tap] * weights[tap][point]        16x8 += 16x8 * 8x8
//
// The taps of a cell are the points that its 8 points read together. In two dimensions, for reach 1 and a cell of 4x2 points (o):
//
//      . . . . . .          . . . .|. . . .|. .       Neighbouring places share taps.
//      . o o o o .          . 0 0 0 0 1 1 1 1 .       Row `place` of `data` begins CELL_X points after the row before it,
//      . o o o o .          . 0 0 0 0 1 1 1 1 .       in the same row of shared memory.
//      . . . . . .          . . . .|. . . .|. .
//
// A product takes 8 of these taps: two squares of 2x2 taps, which lie side by side in x (2D), or one above the other in z (3D). Column
// `point` of `weights` holds the weight of each of these taps for this point of the cell, and 0 where the point does not read the tap. For
// 9x9x9 taps and a cell of 2x2x2 points, 73 % of the multiply-adds are by such weights, and for 7x7 taps and a cell of 2x4 points 61 %. The
// tensor cores multiply and add twice as fast as the other units.
//
// A warp computes CELL_ROWS rows of cells, which lie above one another in y. The weights of a column of squares stay in registers. Two rows
// of data, once loaded, serve all rows of cells that read them. With CELL_ROWS 2, 4 squares along y, and cells that are 2 points high:
//
//      rows of data     0-1   2-3   4-5   6-7   8-9
//      cell row 0        s0    s1    s2    s3                s: the square of weights that multiplies these rows
//      cell row 1              s0    s1    s2    s3
//
// In three dimensions the march goes along z: a tile has TILE_Z planes, and needs INPUTS_Z - CELL_Z planes of the tile before it, too. In two
// dimensions it goes along y, and all rows of a tile are copied anew. A plane, or such a tile with its halo, is a layer. Layers lie in a ring:
//
//      3D, TILE_Z 2, reach 1      [z-1] [z] [z+1] [z+2]    the tile at z reads four layers
//                                 [z+3] [z+4]              those that the next tile needs besides are being copied
//
// An infinite input, or one that is no number, spoils all points of its cells, because 0 times infinity is no number. So it also spoils
// points beside those that read it. Points that no point of the box reads are 0 in shared memory.
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#include "common.cuh"
#endif

#ifndef CELL_X
#define CELL_X 2
#define CELL_ROWS 2
#define WARPS_X 1
#define WARPS_Y 8
#define WARPS_Z 2
#define TURNS 64
#define VECTOR 2
#endif

constexpr int CELL_Z = DIMS == 3 ? 2 : 1, CELL_Y = 8/(CELL_X*CELL_Z);
constexpr int TILE_X = WARPS_X*16*CELL_X, TILE_Y = WARPS_Y*CELL_ROWS*CELL_Y, TILE_Z = WARPS_Z*CELL_Z;
constexpr int WARPS = WARPS_X*WARPS_Y*WARPS_Z, THREADS = 32*WARPS;

// The inputs of a cell, in whole squares, and in whole pairs of squares.
constexpr int INPUTS_X = round_up(CELL_X + LOW_X + HIGH_X, DIMS == 3 ? 2 : 4), INPUTS_Y = round_up(CELL_Y + LOW_Y + HIGH_Y, 2);
constexpr int INPUTS_Z = round_up(CELL_Z + LOW_Z + HIGH_Z, CELL_Z), SQUARES_Y = INPUTS_Y/2;

// The least number of at least `count` that leaves one of two remainders.
__device__ constexpr int with_remainder(int count, int by, int one, int other) {
  while (count%by != one && count%by != other) count++;
  return count;
}

// A layer in shared memory. The length of a row puts the numbers that 16 lanes load into different banks: each reads a number of a square, at
// one of four places.
constexpr int BEFORE_X = round_up(LOW_X, VECTOR), COPIED_X = round_up(BEFORE_X - LOW_X + TILE_X - CELL_X + INPUTS_X, VECTOR);
constexpr int COPIED_Y = TILE_Y - CELL_Y + INPUTS_Y;
constexpr int ROW = CELL_X == 2 ? with_remainder(COPIED_X, 16, 8, 8) : with_remainder(COPIED_X, 4, 2, 2), LAYER = ROW*COPIED_Y;
constexpr int LAYERS = 2*TILE_Z + INPUTS_Z - CELL_Z;

// Weights between zeros: the weight of a tap for a point lies at their distance. Again 16 lanes load from different banks.
constexpr int PADDED_ROW = with_remainder(INPUTS_X + CELL_X - 1, 16, 5, 11), PADDED_PLANE = PADDED_ROW*(INPUTS_Y + CELL_Y - 1);
constexpr int PADDED = PADDED_PLANE*(INPUTS_Z + CELL_Z - 1);

#ifdef LAUNCH_SHARED_BYTES
static_assert((LAYERS*LAYER + PADDED)*int(sizeof(real)) == LAUNCH_SHARED_BYTES, "the YAML file counts other layers");
#endif

struct Block {
  const Fields &f;
  const Geometry &g;
  real *ring, *weights;
  index_t x, y, z;  // the first point of the block's first tile
};

// Stores the weight of each tap. One lane of a warp stores those of some rows.
struct WeightStore {
  real *weights;
  __device__ __forceinline__ void operator()(int, int x, int y, int z, real weight) const {
    const int row = (z + LOW_Z)*(LOW_Y + 1 + HIGH_Y) + y + LOW_Y;
    if (int(threadIdx.x) != row%WARPS*32) return;
    weights[(z + LOW_Z + CELL_Z - 1)*PADDED_PLANE + (y + LOW_Y + CELL_Y - 1)*PADDED_ROW + x + LOW_X + CELL_X - 1] = weight;
  }
};

// All threads call this. A barrier follows before the weights are read.
__device__ __forceinline__ void store_weights(real *weights, const Coefficients &coefficients) {
  for (int i = threadIdx.x; i < PADDED; i += THREADS) weights[i] = 0;
  __syncthreads();
  visit_weights(0, weights_of(coefficients), WeightStore{weights});
}

// Whether taps read all of a piece, VECTOR neighbours in x, and the grid has all of it.
__device__ __forceinline__ bool is_whole(const Geometry &g, index_t x, index_t y, index_t z) {
  const bool is_needed = x >= g.x0 - LOW_X && x + VECTOR <= g.x1 + HIGH_X && y >= g.y0 - LOW_Y && y < g.y1 + HIGH_Y &&
                         z >= g.z0 - LOW_Z && z < g.z1 + HIGH_Z;
  return is_needed && (!IMAGES || (x >= 0 && x + VECTOR <= g.nx && y >= 0 && y < g.ny && z >= 0 && z < g.nz));
}

// Start to copy a layer of the march. In three dimensions layer 0 lies LOW_Z planes below the block's first point.
__device__ __forceinline__ void copy_layer(const Block &b, int layer) {
  constexpr int pieces = COPIED_X/VECTOR;
  const index_t y_first = b.y - LOW_Y + (DIMS == 3 ? 0 : layer*TILE_Y), z = DIMS == 3 ? b.z - LOW_Z + layer : 0;
  real *slot = b.ring + layer%LAYERS*LAYER;
#pragma unroll 1
  for (int i = threadIdx.x; i < pieces*COPIED_Y; i += THREADS) {
    const int row = i/pieces, column = i%pieces*VECTOR;
    const index_t x = b.x - BEFORE_X + column, y = y_first + row;
    real *to = slot + row*ROW + column;
    if (is_whole(b.g, x, y, z)) {
      async_copy<VECTOR*int(sizeof(real))>(to, b.f.in[0] + at(b.g, x, y, z));
      continue;
    }
#pragma unroll 1
    for (int lane = 0; lane < VECTOR; lane++) to[lane] = read_needed(b.f, 0, b.g, x + lane, y, z);
  }
}

// How many layers have come in when the block computes this turn. A turn needs TILE_Z layers that the turn before did not need.
__device__ __forceinline__ int layers_needed(int turn) { return (turn + 1)*TILE_Z + INPUTS_Z - CELL_Z; }

// The place of a warp's cells in a tile, in points.
struct Place {
  int x, y, z;
};
__device__ __forceinline__ Place warp_place() {
  const int warp = threadIdx.x/32;
  return {warp%WARPS_X*16*CELL_X, warp/WARPS_X%WARPS_Y*CELL_ROWS*CELL_Y, warp/(WARPS_X*WARPS_Y)*CELL_Z};
}

// Load the weights that the lane holds of a column of squares: those of two taps for one point of the cell. `z`, `column`: the first tap.
__device__ __forceinline__ void load_weights(const Block &b, int z, int column, double (&weights)[SQUARES_Y][2]) {
  const int lane = threadIdx.x%32, tap = lane%4, point = lane/4;
  const int x = column + tap%2 - point%CELL_X, y = tap/2 - point/CELL_X%CELL_Y, plane = z - point/(CELL_X*CELL_Y);
  const real *from = b.weights + (plane + CELL_Z - 1)*PADDED_PLANE + (y + CELL_Y - 1)*PADDED_ROW + x + CELL_X - 1;
  constexpr int next = DIMS == 3 ? PADDED_PLANE : 2;
#pragma unroll
  for (int s = 0; s < SQUARES_Y; s++) {
    weights[s][0] = from[2*s*PADDED_ROW];
    weights[s][1] = from[2*s*PADDED_ROW + next];
  }
}

// Add the products of a column of pairs of squares to the sums of the warp's cells. `data`: what the lane reads of the first pair.
__device__ __forceinline__ void add_products(const real *data, const double (&weights)[SQUARES_Y][2], double (&sums)[CELL_ROWS][4]) {
  constexpr int squares = CELL_Y/2, next = DIMS == 3 ? LAYER : 2;  // squares: from one row of cells to the next
#pragma unroll
  for (int pair = 0; pair < squares*(CELL_ROWS - 1) + SQUARES_Y; pair++) {
    const real *from = data + 2*pair*ROW;
    const double taps[4] = {from[0], from[8*CELL_X], from[next], from[8*CELL_X + next]};
#pragma unroll
    for (int row = 0; row < CELL_ROWS; row++) {
      const int square = pair - row*squares;
      if (square >= 0 && square < SQUARES_Y) multiply_matrices(taps, weights[square], sums[row]);
    }
  }
}

// Write two neighbours in x.
__device__ __forceinline__ void write_pair(const Block &b, index_t x, index_t y, index_t z, double left, double right) {
  if (y >= b.g.y1 || z >= b.g.z1) return;
#if VECTOR == 2
  const real both[2] = {real(left), real(right)};
  write_in_box(b.f, 0, b.g, x, y, z, both);
#else
  if (in_box(b.g, x, y, z)) write_point(b.f, 0, b.g, x, y, z, real(left));
  if (in_box(b.g, x + 1, y, z)) write_point(b.f, 0, b.g, x + 1, y, z, real(right));
#endif
}

// Compute and write the warp's cells of a tile. x, y, z: the first point of the warp's first cell.
__device__ __forceinline__ void compute_cells(const Block &b, Place in_tile, int turn, index_t x, index_t y, index_t z) {
  const int lane = threadIdx.x%32, tap = lane%4;
  const int first = (in_tile.y + tap/2)*ROW + BEFORE_X - LOW_X + in_tile.x + lane/4*CELL_X + tap%2;
  double sums[CELL_ROWS][4] = {};
#pragma unroll 1
  for (int plane = 0; plane < INPUTS_Z; plane += CELL_Z) {
    const real *layer = b.ring + (turn*TILE_Z + in_tile.z + plane)%LAYERS*LAYER;
#pragma unroll 1
    for (int column = 0; column < INPUTS_X; column += DIMS == 3 ? 2 : 4) {
      double weights[SQUARES_Y][2];
      load_weights(b, plane, column, weights);
      add_products(layer + first + column, weights, sums);
    }
  }
#pragma unroll
  for (int row = 0; row < CELL_ROWS; row++) {
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
      const int point = lane%4*2, place = lane/4 + i/2*8;
      write_pair(b, x + place*CELL_X + point%CELL_X, y + row*CELL_Y + point/CELL_X%CELL_Y, z + point/(CELL_X*CELL_Y), sums[row][i],
                 sums[row][i + 1]);
    }
  }
}

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  real *shared = SHARED_MEMORY(real);
  const index_t slice = DIMS == 3 ? blockIdx.z : blockIdx.y;
  const Block b = {f, g, shared, shared + LAYERS*LAYER,
                   g.x0/VECTOR*VECTOR + index_t(blockIdx.x)*TILE_X,
                   g.y0 + (DIMS == 3 ? index_t(blockIdx.y) : slice*TURNS)*TILE_Y,
                   g.z0 + (DIMS == 3 ? slice*(TURNS*TILE_Z) : 0)};
  const index_t tiles = DIMS == 3 ? (g.z1 - b.z - 1)/TILE_Z + 1 : (g.y1 - b.y - 1)/TILE_Y + 1;
  const int turns = int(min(tiles, index_t(TURNS)));
  const Place in_tile = warp_place();
  for (int layer = 0; layer < layers_needed(0); layer++) copy_layer(b, layer);
  async_commit();
  store_weights(b.weights, COEFFICIENT_VALUES);
#pragma unroll 1
  for (int turn = 0; turn < turns; turn++) {
    async_wait<0>();
    __syncthreads();  // the layers of this turn have come, and all warps have left the layers that are overwritten now
    if (turn + 1 < turns) {
      for (int layer = layers_needed(turn); layer < layers_needed(turn + 1); layer++) copy_layer(b, layer);
      async_commit();
    }
    const index_t x = b.x + in_tile.x, y = b.y + in_tile.y + (DIMS == 3 ? 0 : turn*TILE_Y);
    const index_t z = b.z + (DIMS == 3 ? in_tile.z + turn*TILE_Z : 0);
    if (x < g.x1 && y < g.y1 && z < g.z1) compute_cells(b, in_tile, turn, x, y, z);
  }
}
