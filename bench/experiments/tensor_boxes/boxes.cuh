// boxes.cuh: a box stencil in double precision as products of small matrices, for the tensor cores, and as multiply-adds of single
// numbers from the same tile in shared memory. All functions run on the GPU and on the CPU. tensor_boxes.cu checks and times them.
//
// One product computes 8 neighbouring points (a cell of CELL_X x CELL_Y x CELL_Z) at 16 places that lie CELL_X apart along x:
//
//     D[place][point] += A[place][tap] * B[tap][point]
//
// A holds data: the inputs that a cell needs are (CELL_X + 2R) x (CELL_Y + 2R) x (CELL_Z + 2R). A product takes 8 of them, as two
// squares of 2x2 inputs: beside each other in x (2D), or in two planes (3D). Row `place` holds the inputs of the cell at this place.
// B holds the weight of each input for each point of the cell, and 0 where the input is too far from the point.
// The share of useful multiply-adds is taps / inputs of a cell: 0.73 for 9x9x9 taps and a cell of 2x2x2. An infinite input spoils
// all points of the cells that it belongs to, and so some that it does not reach, because 0 times infinity is a NaN.
// A warp computes CELLS rows of cells. Two rows of inputs, once read from shared memory, serve all rows of cells that need them.
//
// A block marches along z (3D), or from tile to tile along y (2D), where a "plane" is one tile with its halo. Planes lie in a ring.
#pragma once
#include <cuda_runtime.h>

#define BOTH __host__ __device__ __forceinline__

enum { MAX_TAPS = 729 };
__constant__ double device_weights[MAX_TAPS]; // along x, then y, then z
static double host_weights[MAX_TAPS];

BOTH double weight(int tap) {
#ifdef __CUDA_ARCH__
  return device_weights[tap];
#else
  return host_weights[tap];
#endif
}

struct grid {
  int nx, ny, nz;
  const double *in = nullptr;
  double *out = nullptr; // only points at least R away from each end are written
};

// Where the numbers of a lane lie in the matrices of mma.m16n8k8 (PTX ISA): a lane has four of A, two of B, four sums. Rows and columns
// of A are places and taps, of B taps and points, of D places and points.
BOTH int a_row(int lane, int i) { return lane / 4 + i % 2 * 8; }
BOTH int a_column(int lane, int i) { return lane % 4 + i / 2 * 4; }
BOTH int b_row(int lane, int i) { return lane % 4 + i * 4; }
BOTH int b_column(int lane) { return lane / 4; }
BOTH int d_row(int lane, int i) { return lane / 4 + i / 2 * 8; }
BOTH int d_column(int lane, int i) { return lane % 4 * 2 + i % 2; }

// d += a * b for one warp. LANES: lanes whose registers this thread holds, 1 on the GPU, all 32 on the CPU.
template <int LANES> BOTH void multiply(double (&d)[LANES][4], const double (&a)[LANES][4], const double (&b)[LANES][2]) {
#ifdef __CUDA_ARCH__
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+d"(d[0][0]), "+d"(d[0][1]), "+d"(d[0][2]), "+d"(d[0][3])
      : "d"(a[0][0]), "d"(a[0][1]), "d"(a[0][2]), "d"(a[0][3]), "d"(b[0][0]), "d"(b[0][1]));
#else
  double left[16][8], right[8][8];
  for (int lane = 0; lane < LANES; lane++) {
    for (int i = 0; i < 4; i++) left[a_row(lane, i)][a_column(lane, i)] = a[lane][i];
    for (int i = 0; i < 2; i++) right[b_row(lane, i)][b_column(lane)] = b[lane][i];
  }
  for (int lane = 0; lane < LANES; lane++)
    for (int i = 0; i < 4; i++)
      for (int k = 0; k < 8; k++) d[lane][i] += left[d_row(lane, i)][k] * right[k][d_column(lane, i)];
#endif
}

// 16 bytes from global to shared memory, without waiting; zeros if `inside` is false.
BOTH void copy_pair(double *to, const double *from, bool inside) {
#ifdef __CUDA_ARCH__
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from),
               "r"(inside ? 16 : 0)
               : "memory");
#else
  for (int i = 0; i < 2; i++) to[i] = inside ? from[i] : 0;
#endif
}

struct place {
  int x, y, z;
};

// STEP_Z: planes of points that a block computes between two barriers. CELLS: rows of cells of a warp.
template <int DIMS_, int R_, int TILE_X_, int TILE_Y_, int STEP_Z_, int CELL_X_, int CELL_Y_, int CELLS_>
struct box {
  static constexpr int DIMS = DIMS_, R = R_, TILE_X = TILE_X_, TILE_Y = TILE_Y_, STEP_Z = STEP_Z_;
  static constexpr int CELL_X = CELL_X_, CELL_Y = CELL_Y_, CELL_Z = 8 / (CELL_X * CELL_Y), CELLS = CELLS_;
  static constexpr int WIDTH = 2 * R + 1, RZ = DIMS == 3 ? R : 0, TAPS = WIDTH * WIDTH * (2 * RZ + 1);
  // Squares of inputs along x and y, planes of inputs, of a cell.
  static constexpr int SQUARES_X = (CELL_X + 2 * R) / 2, SQUARES_Y = (CELL_Y + 2 * R) / 2, PLANES_CELL = CELL_Z + 2 * RZ;
  static constexpr int INPUTS = 4 * SQUARES_X * SQUARES_Y * PLANES_CELL;
  static_assert(DIMS == 3 ? PLANES_CELL % 2 == 0 : CELL_Z == 1 && SQUARES_X % 2 == 0, "squares form pairs");

  // The ring. A row begins 4 points left of the tile, so that copies are aligned. The length of a row puts the lanes' numbers of a
  // square into different banks.
  static constexpr int HALO_X = 4, ROW = TILE_X + 2 * HALO_X + (CELL_X == 4 ? 2 : 0), ROWS = TILE_Y + 2 * R;
  static_assert(R <= HALO_X && (CELL_X == 2 ? ROW % 16 == 8 : ROW % 4 == 2), "no bank conflicts");
  static constexpr int PLANE = ROW * ROWS, PLANES = 2 * STEP_Z + 2 * RZ;

  // Weights between zeros, so that a lane finds the weight of any input for any point of a cell.
  static constexpr int PAD_ROW = CELL_X == 2 ? 11 : 21, PAD_ROWS = WIDTH + 2 * (CELL_Y - 1);
  static constexpr int PAD_PLANE = PAD_ROW * PAD_ROWS, PADDED = PAD_PLANE * (2 * RZ + 1 + 2 * (CELL_Z - 1));
  static_assert(WIDTH + 2 * (CELL_X - 1) <= PAD_ROW, "");

  // Tensor cores: warps along x, y and z. Multiply-adds: a thread computes 2 points in x, FMA_Y in y.
  static constexpr int WARPS_X = TILE_X / (16 * CELL_X), WARPS_Y = TILE_Y / (CELLS * CELL_Y), WARPS_Z = STEP_Z / CELL_Z;
  static constexpr int FMA_Y = 8;
  static_assert(TILE_X % (16 * CELL_X) == 0 && TILE_Y % (CELLS * CELL_Y) == 0 && STEP_Z % CELL_Z == 0, "");
  static constexpr int threads(bool tensor) {
    return tensor ? 32 * WARPS_X * WARPS_Y * WARPS_Z : TILE_X / 2 * (TILE_Y / FMA_Y) * STEP_Z;
  }
  static constexpr int shared_bytes(bool tensor) { return 8 * (PLANES * PLANE + (tensor ? PADDED : 0)); }
  static constexpr int resident(bool tensor) { return 227 * 1024 / (shared_bytes(tensor) + 1024); } // blocks in a multiprocessor

  static BOTH place block_place(int x, int y, int step) {
    return DIMS == 3 ? place{x * TILE_X, y * TILE_Y, step * STEP_Z} : place{x * TILE_X, step * TILE_Y, 0};
  }
  static BOTH place advance(place at, int step) {
    return DIMS == 3 ? place{at.x, at.y, at.z + step * STEP_Z} : place{at.x, at.y + step * TILE_Y, 0};
  }
};

// Planes that step `step` needs, counted from the beginning of the march. Each step needs STEP_Z planes that the step before did not.
template <class B> BOTH int planes_needed(int step) { return (step + 1) * B::STEP_Z + 2 * B::RZ; }

template <class B> BOTH void spread_weights(double *padded, int thread, int threads) {
  for (int i = thread; i < B::PADDED; i += threads) {
    const int x = i % B::PAD_ROW - (B::CELL_X - 1), y = i / B::PAD_ROW % B::PAD_ROWS - (B::CELL_Y - 1);
    const int z = i / B::PAD_PLANE - (B::CELL_Z - 1);
    const bool tap = x >= 0 && x < B::WIDTH && y >= 0 && y < B::WIDTH && z >= 0 && z <= 2 * B::RZ;
    padded[i] = tap ? weight((z * B::WIDTH + y) * B::WIDTH + x) : 0;
  }
}

// Ask for planes first to last - 1 of a block's march. In 3D plane 0 lies R below the first point.
template <class B> BOTH void copy_planes(grid g, place at, double *ring, int first, int last, int thread, int threads) {
  for (int plane = first; plane < last; plane++) {
    const int z = B::DIMS == 3 ? at.z + plane - B::R : 0;
    const int y0 = (B::DIMS == 3 ? at.y : at.y + plane * B::TILE_Y) - B::R;
    double *to = ring + plane % B::PLANES * B::PLANE;
    constexpr int pairs = (B::TILE_X + 2 * B::HALO_X) / 2;
    for (int i = thread; i < pairs * B::ROWS; i += threads) {
      const int row = i / pairs, column = i % pairs * 2, x = at.x - B::HALO_X + column, y = y0 + row;
      const bool inside = x >= 0 && x < g.nx && y >= 0 && y < g.ny && z >= 0 && z < g.nz;
      copy_pair(to + row * B::ROW + column, inside ? g.in + ((size_t)z * g.ny + y) * g.nx + x : g.in, inside);
    }
  }
}

// Write points x and x + 1; x is even.
template <class B> BOTH void store_pair(grid g, int x, int y, int z, double left, double right) {
  if (y < B::R || y >= g.ny - B::R || z < B::RZ || z >= g.nz - B::RZ) return;
  double *out = g.out + ((size_t)z * g.ny + y) * g.nx + x;
  const bool is_left = x >= B::R && x < g.nx - B::R, is_right = x + 1 >= B::R && x + 1 < g.nx - B::R;
  if (is_left && is_right) *(double2 *)out = make_double2(left, right);
  else if (is_left) out[0] = left;
  else if (is_right) out[1] = right;
}

// One warp computes its cells of a step. `at` is the first point of the block's tile in this step.
template <class B, int LANES>
BOTH void tensor_step(grid g, place at, const double *ring, const double *padded, int step, int warp, int lane0) {
  const int warp_x = warp % B::WARPS_X, warp_y = warp / B::WARPS_X % B::WARPS_Y, warp_z = warp / (B::WARPS_X * B::WARPS_Y);
  double sums[B::CELLS][LANES][4] = {};
  constexpr bool in_planes = B::DIMS == 3; // the two squares of a product lie in two planes
  constexpr int STEP_X = in_planes ? 1 : 2, CELL_ROWS = B::CELL_Y / 2;
  constexpr int SECOND_DATA = in_planes ? B::PLANE : 2, SECOND_WEIGHT = in_planes ? B::PAD_PLANE : 2;
#pragma unroll 1
  for (int z = 0; z < B::PLANES_CELL; z += 2) {
    const double *plane = ring + (step * B::STEP_Z + warp_z * B::CELL_Z + z) % B::PLANES * B::PLANE;
#pragma unroll 1
    for (int square = 0; square < B::SQUARES_X; square += STEP_X) {
      double a[LANES][4], b[B::SQUARES_Y][LANES][2];
      for (int l = 0; l < LANES; l++) {
        const int lane = lane0 + l, point = b_column(lane), tap_x = b_row(lane, 0) % 2, tap_y = b_row(lane, 0) / 2;
        const int px = point % B::CELL_X, py = point / B::CELL_X % B::CELL_Y, pz = point / (B::CELL_X * B::CELL_Y);
        const double *from = padded + (z - pz + B::CELL_Z - 1) * B::PAD_PLANE + (tap_y - py + B::CELL_Y - 1) * B::PAD_ROW +
                             2 * square + tap_x - px + B::CELL_X - 1;
#pragma unroll
        for (int k = 0; k < B::SQUARES_Y; k++)
          for (int i = 0; i < 2; i++) b[k][l][i] = from[2 * k * B::PAD_ROW + i * SECOND_WEIGHT];
      }
      // Pair of input rows p serves cell row c as its pair of rows p - c * CELL_ROWS.
#pragma unroll
      for (int p = 0; p < CELL_ROWS * (B::CELLS - 1) + B::SQUARES_Y; p++) {
        for (int l = 0; l < LANES; l++) {
          const int lane = lane0 + l, tap = a_column(lane, 0);
          const double *from = plane + (warp_y * B::CELLS * B::CELL_Y + 2 * p + tap / 2) * B::ROW + warp_x * 16 * B::CELL_X +
                               2 * square + tap % 2 + B::HALO_X - B::R;
          for (int i = 0; i < 4; i++) a[l][i] = from[a_row(lane, i) * B::CELL_X + i / 2 * SECOND_DATA];
        }
#pragma unroll
        for (int c = 0; c < B::CELLS; c++) {
          const int k = p - c * CELL_ROWS;
          if (k >= 0 && k < B::SQUARES_Y) multiply(sums[c], a, b[k]);
        }
      }
    }
  }
  for (int c = 0; c < B::CELLS; c++)
    for (int l = 0; l < LANES; l++)
      for (int i = 0; i < 4; i += 2) {
        const int lane = lane0 + l, point = d_column(lane, i);
        const int x = at.x + (warp_x * 16 + d_row(lane, i)) * B::CELL_X + point % B::CELL_X;
        const int row = (warp_y * B::CELLS + c) * B::CELL_Y + point / B::CELL_X % B::CELL_Y;
        const int layer = warp_z * B::CELL_Z + point / (B::CELL_X * B::CELL_Y);
        store_pair<B>(g, x, at.y + row, at.z + layer, sums[c][l][i], sums[c][l][i + 1]);
      }
}

// The same by multiply-adds of single numbers: one thread computes 2 x FMA_Y points. A pair of inputs serves all sums that need it.
template <class B> BOTH void fma_step(grid g, place at, const double *ring, int step, int thread) {
  constexpr int across = B::TILE_X / 2, down = B::TILE_Y / B::FMA_Y, EVEN_R = B::R + B::R % 2;
  const int tx = thread % across, ty = thread / across % down, tz = thread / (across * down);
  double sums[B::FMA_Y][2] = {};
#pragma unroll 1
  for (int z = 0; z <= 2 * B::RZ; z++) {
    const double *from = ring + (step * B::STEP_Z + tz + z) % B::PLANES * B::PLANE + ty * B::FMA_Y * B::ROW + 2 * tx +
                         B::HALO_X - EVEN_R;
#pragma unroll
    for (int pair = 0; pair <= EVEN_R; pair++)
#pragma unroll
      for (int row = 0; row < B::FMA_Y + 2 * B::R; row++) {
        const double2 data = *(const double2 *)(from + row * B::ROW + 2 * pair);
#pragma unroll
        for (int p = 0; p < B::FMA_Y; p++)
#pragma unroll
          for (int i = 0; i < 4; i++) { // which input of the pair, which of the two points
            const int tap_x = 2 * pair + i % 2 - i / 2 - (EVEN_R - B::R), tap_y = row - p;
            if (tap_x < 0 || tap_x > 2 * B::R || tap_y < 0 || tap_y > 2 * B::R) continue;
            sums[p][i / 2] += (i % 2 ? data.y : data.x) * weight((z * B::WIDTH + tap_y) * B::WIDTH + tap_x);
          }
      }
  }
#pragma unroll
  for (int p = 0; p < B::FMA_Y; p++)
    store_pair<B>(g, at.x + 2 * tx, at.y + ty * B::FMA_Y + p, at.z + tz, sums[p][0], sums[p][1]);
}
