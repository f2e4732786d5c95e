// scatter: a block covers a tile in x and y and marches through planes in z. A plane that comes in is added to the sums of all planes that
// its taps reach, and is then dropped. Shared memory holds the current plane and those that are being copied. A thread's registers hold
// sums instead of planes.
//
// Seen from the side for reach 1, while p is the current plane:
//
//      sums of p - 1   [+ + + +]   complete after p: finished and written
//      sums of p       [+ + + +]   most of their taps lie in p
//      sums of p + 1   [+ + + +]   begin with p
//
//      shared memory   [p] [p + 1 ...] [p + STAGES]   the last ones are still being copied
//
// A thread computes VECTOR neighbours in x times POINTS_Y neighbours in y, so that a vector from shared memory serves several points. With
// BLOCK_X 4, BLOCK_Y 2, VECTOR 2, POINTS_Y 2, by the number of the thread:
//
//      x -->   |0 0|1 1|2 2|3 3|     Threads 0 to 3 have threadIdx.y 0, threads 4 to 7 have 1.
//              |0 0|1 1|2 2|3 3|
//      y       |4 4|5 5|6 6|7 7|
//              |4 4|5 5|6 6|7 7|
//
// A plane is copied as the tile and its halo, in pieces. The threads share the rows first, then the pieces beside the tile. A piece is a
// vector, or a point if rows do not begin at multiples of a vector. Results then go through shared memory, too, so that neighbouring
// threads write neighbouring points.
//
// COPIES_BLOCK: all threads copy pieces, with one barrier a plane. COPIES_ENGINE: the copy engine copies the tile and its halo as one
// box, for one thread. Each warp waits until a plane is full, and signals when it has read the plane: warps do not wait for each other. The
// thread thus knows when a slot is empty. It is the first computing thread, or has a warp of its own (PRODUCER).
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#include "common.cuh"
#endif

#ifndef Z_SLICING
#define VECTOR 4
#define PIECES_VECTORS 0
#define PIECES_POINTS 1
#define PIECES PIECES_VECTORS
#define COPIES_BLOCK 0
#define COPIES_ENGINE 1
#define COPIES COPIES_BLOCK
#define PRODUCER_FIRST 0
#define PRODUCER_OWN 1
#define PRODUCER PRODUCER_FIRST
#define HALO_BYTES 32
#define BLOCK_X 32
#define BLOCK_Y 8
#define POINTS_Y 2
#define STAGES 2
#define AT_ONCE 1
#define BESIDE_GLOBAL 0
#define BESIDE_SHARED 1
#define BESIDE BESIDE_GLOBAL
#define Z_SLICING 64
#endif

constexpr bool ENGINE = COPIES == COPIES_ENGINE;
constexpr int PIECE = PIECES == PIECES_VECTORS ? VECTOR : 1;

constexpr int TILE_X = BLOCK_X*VECTOR, TILE_Y = BLOCK_Y*POINTS_Y, THREADS = BLOCK_X*BLOCK_Y;

// Tiles and their halo along x are multiples of GRAIN: the engine reads memory fastest in whole lines of 128 bytes.
constexpr int GRAIN = ENGINE ? HALO_BYTES/int(sizeof(real)) : VECTOR;

// Shared memory in elements: a row, a plane of rows, and a slot with such a plane for each staged input. Rows begin with the halo before
// the tile. The engine needs planes that begin at multiples of 128 bytes.
constexpr int BEFORE_X = round_up(LOW_X, GRAIN), AFTER_X = round_up(HIGH_X, GRAIN);
constexpr int SHARED_ROW = BEFORE_X + TILE_X + AFTER_X, SHARED_ROWS = LOW_Y + TILE_Y + HIGH_Y;
constexpr int BOX = SHARED_ROW*SHARED_ROWS, PLANE_GRAIN = ENGINE ? 128/int(sizeof(real)) : 1;
constexpr int SHARED_PLANE = round_up(BOX, PLANE_GRAIN), SLOT = STAGED*SHARED_PLANE;

// BESIDE: where finish(), some planes later, reads staged inputs at the point: again in global memory, or in shared memory, which then
// keeps these planes.
__device__ constexpr bool is_kept(int output, int input) {
  return finish_reads(output, input) && staged_slot(input) >= 0;
}
__device__ constexpr int longest_kept() {
  int longest = 0;
  for (int o = 0; o < OUTPUTS; o++) {
    for (int i = 0; i < INPUTS; i++) longest = is_kept(o, i) && delay(o) > longest ? delay(o) : longest;
  }
  return longest;
}
constexpr int KEPT = BESIDE == BESIDE_SHARED ? longest_kept() : 0;

// AT_ONCE planes arrive together. Each current plane has a slot; the other slots receive copies. These begin only in slots that were read
// before the last barrier, so one barrier is enough. With the engine, late warps may still read one more slot.
constexpr int SLOTS = (ENGINE ? STAGES + 2 : (STAGES + 1)*AT_ONCE) + KEPT;

struct Block {
  const Fields &f;
  const Geometry &g;
  real *shared;
  index_t x, y;             // the tile's first point
  index_t z_first, z_last;  // the block computes the planes z_first <= z < z_last
};

// The thread's first point, relative to the tile's first point.
__device__ __forceinline__ int own_x() { return int(threadIdx.x)*VECTOR; }
__device__ __forceinline__ int own_y() { return int(threadIdx.y)*POINTS_Y; }

// The place in a slot of shared memory of the point at an offset from the tile's first point.
__device__ __forceinline__ int cell(int x, int y) { return (y + LOW_Y)*SHARED_ROW + x + BEFORE_X; }

// ---- copying planes to shared memory

// Pieces of a row within the tile's width, and pieces beside the tile. These include the corners if taps lie off the axes.
constexpr int ROW_PIECES = TILE_X/PIECE, ROWS_AT_ONCE = THREADS/ROW_PIECES;
constexpr int ROW_PASSES = divide_up(SHARED_ROWS, ROWS_AT_ONCE), FULL_PASSES = SHARED_ROWS/ROWS_AT_ONCE;
constexpr int PIECES_BEFORE = divide_up(LOW_X, PIECE), PIECES_AFTER = divide_up(HIGH_X, PIECE);
constexpr int SIDE_PIECES = PIECES_BEFORE + PIECES_AFTER, SIDE_FIRST = STAR ? 0 : -LOW_Y;
constexpr int SIDE_ROWS = TILE_Y + (STAR ? 0 : LOW_Y + HIGH_Y);
constexpr int SIDE_PASSES = divide_up(SIDE_PIECES*SIDE_ROWS, THREADS);

// What a thread copies in one pass. It is the same in every plane.
enum Kind { NOTHING, WHOLE, ZEROS, BY_POINT };
struct Piece {
  Kind kind;
  int dx, dy;    // relative to the tile's first point
  index_t from;  // of a whole piece: its element in the plane
};

// Whether some point of the box may read this point.
__device__ __forceinline__ bool is_needed_x(const Geometry &g, index_t x) { return x >= g.x0 - LOW_X && x < g.x1 + HIGH_X; }
__device__ __forceinline__ bool is_needed_y(const Geometry &g, index_t y) { return y >= g.y0 - LOW_Y && y < g.y1 + HIGH_Y; }

// A piece is copied whole if it lies in the grid, or if its image is such a piece. Otherwise its points are copied one by one.
__device__ __forceinline__ Piece piece_at(const Block &b, int dx, int dy) {
  const Geometry &g = b.g;
  const index_t x = b.x + dx, y = b.y + dy, last = x + PIECE - 1;
  if (!is_needed_y(g, y) || last < g.x0 - LOW_X || x >= g.x1 + HIGH_X) return {NOTHING, dx, dy, 0};
  if (is_zero_y(g, y) || (is_zero_x(g, x) && is_zero_x(g, last))) return {ZEROS, dx, dy, 0};
  const bool whole = is_needed_x(g, x) && is_needed_x(g, last) && !is_zero_x(g, x) && !is_zero_x(g, last);
  const index_t image = whole ? image_x(g, x) : 0;
  if (x >= 0 && last < g.nx) return {WHOLE, dx, dy, image_y(g, y)*g.row + x};
  if (!whole || image % PIECE != 0 || image_x(g, last) - image != PIECE - 1) return {BY_POINT, dx, dy, 0};
  return {WHOLE, dx, dy, image_y(g, y)*g.row + image};
}

// A thread's share of the block's copies.
struct CopyPlan {
  bool regular;     // for all threads of the block: rows need no boundary rules, and no piece lies partly beyond the grid
  int dx, row;      // the first row piece: relative to the tile's first point; its row in shared memory
  int rows;         // if rows are regular: how many rows from there on are needed
  index_t from;     // the first row piece: its element in the plane
  Piece sides[at_least_one(SIDE_PASSES)];
};

__device__ __forceinline__ void plan_copies(const Block &b, CopyPlan &plan) {
  const Geometry &g = b.g;
  const int thread = int(threadIdx.y)*BLOCK_X + int(threadIdx.x);
  const index_t x_last = b.x + TILE_X < g.x1 + HIGH_X ? b.x + TILE_X : g.x1 + HIGH_X;
  const index_t y_last = b.y + TILE_Y + HIGH_Y < g.y1 + HIGH_Y ? b.y + TILE_Y + HIGH_Y : g.y1 + HIGH_Y;
  plan.regular = b.y >= LOW_Y && y_last <= g.ny && x_last <= g.nx && g.nx % PIECE == 0;
  plan.dx = thread%ROW_PIECES*PIECE;
  plan.row = thread/ROW_PIECES;
  const index_t x = b.x + plan.dx;
  plan.rows = x + PIECE <= g.x0 - LOW_X || x >= g.x1 + HIGH_X ? 0 : int(y_last - (b.y - LOW_Y)) - plan.row;
  plan.from = (b.y - LOW_Y + plan.row)*g.row + x;
#pragma unroll
  for (int i = 0; i < SIDE_PASSES; i++) {
    const int number = thread + i*THREADS, row = number/at_least_one(SIDE_PIECES);
    const int piece = number%at_least_one(SIDE_PIECES) - PIECES_BEFORE;
    plan.sides[i] = piece_at(b, piece < 0 ? piece*PIECE : TILE_X + piece*PIECE, SIDE_FIRST + row);
    if (row >= SIDE_ROWS) plan.sides[i].kind = NOTHING;
  }
}

__device__ __forceinline__ void copy_by_point(const Block &b, const Piece &piece, int input, index_t z, real *to) {
  const Geometry &g = b.g;
  const index_t y = b.y + piece.dy;
#pragma unroll 1
  for (int i = 0; i < PIECE; i++) {
    const index_t x = b.x + piece.dx + i;
    if (!is_needed_x(g, x)) continue;
    const bool zero = is_zero_x(g, x) || is_zero_z(g, z);
    async_copy_zero<int(sizeof(real))>(to + i, b.f.in[input] + (zero ? 0 : at(g, image_x(g, x), image_y(g, y), image_z(g, z))), !zero);
  }
}

__device__ __forceinline__ void copy_piece(const Block &b, const Piece &piece, int input, index_t z, real *slot) {
  const bool zero = is_zero_z(b.g, z);
  const index_t plane = zero ? 0 : image_z(b.g, z)*b.g.plane;
  real *to = slot + cell(piece.dx, piece.dy);
  if (piece.kind == BY_POINT) copy_by_point(b, piece, input, z, to);
  else if (piece.kind != NOTHING) {
    async_copy_zero<PIECE*int(sizeof(real))>(to, b.f.in[input] + plane + piece.from, piece.kind == WHOLE && !zero);
  }
}

// Copy regular rows: the addresses differ by constants. In a full pass each thread has a row, in the last pass perhaps none.
__device__ __forceinline__ void copy_rows(const Block &b, const CopyPlan &plan, int input, index_t z, real *slot) {
  const bool zero = is_zero_z(b.g, z);
  const real *from = b.f.in[input] + (zero ? 0 : image_z(b.g, z)*b.g.plane) + plan.from;
  real *to = slot + cell(plan.dx, plan.row - LOW_Y);
  const index_t from_step = ROWS_AT_ONCE*b.g.row;
  constexpr int to_step = ROWS_AT_ONCE*SHARED_ROW;
  if (plan.rows > (FULL_PASSES - 1)*ROWS_AT_ONCE) {  // as in most blocks
#pragma unroll
    for (int i = 0; i < ROW_PASSES; i++) {
      if (i >= FULL_PASSES && i*ROWS_AT_ONCE >= plan.rows) continue;
      async_copy_zero<PIECE*int(sizeof(real))>(to + i*to_step, from + i*from_step, !zero);
    }
    return;
  }
#pragma unroll 1
  for (int i = 0; i*ROWS_AT_ONCE < plan.rows; i++) async_copy_zero<PIECE*int(sizeof(real))>(to + i*to_step, from + i*from_step, !zero);
}

// Start to copy plane z to a slot.
__device__ __forceinline__ void copy_plane(const Block &b, const CopyPlan &plan, index_t z, real *slot) {
#pragma unroll
  for (int s = 0; s < STAGED; s++) {
    real *to = slot + s*SHARED_PLANE;
    if (plan.regular) copy_rows(b, plan, staged_input(s), z, to);
    else {
#pragma unroll 1
      for (int row = plan.row; row < SHARED_ROWS; row += ROWS_AT_ONCE) {
        copy_piece(b, piece_at(b, plan.dx, row - LOW_Y), staged_input(s), z, to);
      }
    }
#pragma unroll
    for (int i = 0; i < SIDE_PASSES; i++) copy_piece(b, plan.sides[i], staged_input(s), z, to);
  }
}

// ---- copying by the engine: a tensor map gives the tile and its halo as a box, with zeros beyond the grid. If taps read other values
// there, the threads of blocks at the ends of the grid replace the zeros. If rules read at the other end of the grid (far ends), all threads
// of a block fill in shared memory together. Otherwise (near ends) warps do not wait for each other, and no warp writes what another one
// reads: each thread replaces what its own taps read. In a star, a warp fills in the points beside its own rows, which only it reads.

// Two barriers for each slot, behind the slots: `full` counts the bytes of a plane, `empty` counts the warps that have read it.
__device__ __forceinline__ unsigned long long *full(const Block &b, int slot) {
  return reinterpret_cast<unsigned long long *>(b.shared + SLOTS*SLOT) + slot;
}
__device__ __forceinline__ unsigned long long *empty(const Block &b, int slot) { return full(b, slot) + SLOTS; }
#if COPIES == COPIES_ENGINE && FAR_ENDS && PRODUCER == PRODUCER_OWN
// One more barrier, for the threads that fill ends together. The warp that starts copies does not take part.
__device__ __forceinline__ unsigned long long *filled(const Block &b) { return full(b, 2*SLOTS); }
#endif

// A place in the ring of slots, and the phase of its barriers. The phase changes each time the march has gone round the ring.
struct Place {
  int slot;
  unsigned phase;
};

__device__ __forceinline__ void step(Place &place) {
  place.phase ^= place.slot + 1 == SLOTS ? 1u : 0u;
  place.slot = place.slot + 1 < SLOTS ? place.slot + 1 : 0;
}

#if COPIES == COPIES_ENGINE
// One thread calls this. It announces all bytes of the plane before the first of them can arrive.
__device__ __forceinline__ void copy_boxes(const Block &b, index_t z, int slot) {
  barrier_expect(full(b, slot), unsigned(STAGED*BOX*int(sizeof(real))));
#pragma unroll
  for (int s = 0; s < STAGED; s++) {
    real *to = b.shared + slot*SLOT + s*SHARED_PLANE;
    tensor_copy(to, b.f.map_in[s], int(b.x) - BEFORE_X, int(b.y) - LOW_Y, int(FILLS_ENDS ? near_image_z(b.g, z) : z), full(b, slot));
  }
}
#endif

__device__ __forceinline__ void make_barriers(const Block &b) {
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    for (int slot = 0; slot < SLOTS; slot++) {
      barrier_init(full(b, slot), 1);
      barrier_init(empty(b, slot), THREADS/32);
    }
#if COPIES == COPIES_ENGINE && FAR_ENDS && PRODUCER == PRODUCER_OWN
    barrier_init(filled(b), THREADS/32);
#endif
    barrier_init_done();
  }
  __syncthreads();
}

#if COPIES == COPIES_ENGINE && FILLS_ENDS
// Whether taps read other values in a plane beyond the grid than in its image. Two test values show it.
__device__ __forceinline__ bool changes_plane(const Block &b, int input, index_t z) {
  return ghost_value(b.f, input, b.g, 0, 0, z, real(1)) != real(1) || ghost_value(b.f, input, b.g, 0, 0, z, real(2)) != real(2);
}

// Whether taps into plane z reach beyond the grid in x or y. In a star, only taps from points of the same plane do.
__device__ __forceinline__ bool has_sides(const Block &b, index_t z) { return !STAR || (z >= b.z_first && z < b.z_last); }

// Whether taps from the tile reach beyond the grid in x, or in y.
__device__ __forceinline__ bool has_ends_x(const Block &b) { return b.x < LOW_X || b.x + TILE_X + HIGH_X > b.g.nx; }
__device__ __forceinline__ bool has_ends_y(const Block &b) { return b.y < LOW_Y || b.y + TILE_Y + HIGH_Y > b.g.ny; }
#endif

#if COPIES == COPIES_ENGINE && FAR_ENDS
// The points of a plane beyond the grid that taps from the tile reach: first those beside its rows, then those below and above it. The
// threads share them. A thread has the same points in every plane.
constexpr int END_COLUMNS = LOW_X + HIGH_X, END_ROWS = LOW_Y + HIGH_Y, END_WIDTH = TILE_X + (STAR ? 0 : END_COLUMNS);
constexpr int SIDE_ENDS = END_COLUMNS*SIDE_ROWS, ENDS = divide_up(SIDE_ENDS + END_ROWS*END_WIDTH, THREADS);

struct EndPoint {
  index_t x, y;
  int to;               // its place in a plane of shared memory; -1: the thread has no such point
  index_t element;      // the element of its image in the plane of the grid
  real image[STAGED];   // the values of the image in the next plane
};

// The ends of the grid that a block has. A block with ends in z alone meets in each plane like the others: on an H200, star25 on 512^3 took
// 0.40 ms where such blocks ran ahead of those with ends in x or y, and 0.33 ms where all of them met.
struct Ends {
  bool exist;  // the same for all threads of the block
  EndPoint points[at_least_one(ENDS)];
#if PRODUCER == PRODUCER_OWN
  unsigned phase;  // of the barrier for the threads that fill
#endif
};

__device__ __forceinline__ bool is_in_tile(int dx, int dy) {
  return dx >= -LOW_X && dx < TILE_X + HIGH_X && dy >= -LOW_Y && dy < TILE_Y + HIGH_Y;
}

__device__ __forceinline__ EndPoint end_point(const Block &b, int number) {
  const Geometry &g = b.g;
  const int column = number%at_least_one(END_COLUMNS), in_rows = number - SIDE_ENDS, row = in_rows/END_WIDTH;
  const bool beside = number < SIDE_ENDS;
  const index_t x_beside = column < LOW_X ? column - LOW_X : g.nx + column - LOW_X;
  const index_t y_beside = row < LOW_Y ? row - LOW_Y : g.ny + row - LOW_Y;
  const index_t x = beside ? x_beside : b.x + in_rows%END_WIDTH - (STAR ? 0 : LOW_X);
  const index_t y = beside ? b.y + SIDE_FIRST + number/at_least_one(END_COLUMNS) : y_beside;
  const bool in_x = x >= 0 && x < g.nx, in_y = y >= 0 && y < g.ny;
  // A point beyond the grid in both x and y belongs to the rows.
  const bool is_read = beside ? in_y : row < END_ROWS && (in_x || (!STAR && x >= -LOW_X && x < g.nx + HIGH_X));
  if (!is_read || !is_in_tile(int(x - b.x), int(y - b.y))) return {x, y, -1};
  const index_t image_in_x = near_image_x(g, x), image_in_y = near_image_y(g, y);
  const int to = cell(int(x - b.x), int(y - b.y));
  return {x, y, to, image_in_y*g.row + image_in_x};
}

__device__ __forceinline__ void find_ends(const Block &b, Ends &ends) {
  const int thread = int(threadIdx.y)*BLOCK_X + int(threadIdx.x);
  const bool in_planes = has_ends_x(b) || has_ends_y(b);
  ends.exist = in_planes || b.z_first < LOW_Z || b.z_last + HIGH_Z > b.g.nz;
#if PRODUCER == PRODUCER_OWN
  ends.phase = 0;
#endif
  if (!in_planes) {
#pragma unroll
    for (int i = 0; i < ENDS; i++) ends.points[i] = {0, 0, -1};
    return;
  }
#pragma unroll
  for (int i = 0; i < ENDS; i++) ends.points[i] = end_point(b, thread + i*THREADS);
}

// Start to load images, most of which lie in other tiles. The loads run while the plane before z is computed.
__device__ __forceinline__ void load_far_images(const Block &b, index_t z, Ends &ends) {
  if (!ends.exist || !has_sides(b, z)) return;
  const index_t plane = near_image_z(b.g, z)*b.g.plane;
#pragma unroll
  for (int i = 0; i < ENDS; i++) {
    EndPoint &end = ends.points[i];
    if (end.to < 0) continue;
#pragma unroll
    for (int s = 0; s < STAGED; s++) end.image[s] = load_plain(b.f.in[staged_input(s)] + plane + end.element);
  }
}

// Fill a whole plane in which taps read other values than in its image.
__device__ __forceinline__ void fill_plane(const Block &b, int input, real *plane, index_t z) {
  constexpr int width = LOW_X + TILE_X + HIGH_X;
#pragma unroll 1
  for (int i = int(threadIdx.y)*BLOCK_X + int(threadIdx.x); i < width*SHARED_ROWS; i += THREADS) {
    const int dx = i%width - LOW_X, dy = i/width - LOW_Y;
    plane[cell(dx, dy)] = read_needed(b.f, input, b.g, b.x + dx, b.y + dy, z);
  }
}

// All computing threads call this when plane z is in shared memory, if the block has ends or plane z lies beyond the grid. Afterwards all
// of them see the filled values. The fence orders these writes before later copies of the engine.
__device__ __forceinline__ void fill_ends(const Block &b, real *slot, index_t z, Ends &ends) {
#pragma unroll
  for (int s = 0; s < STAGED; s++) {
    const int input = staged_input(s);
    real *plane = slot + s*SHARED_PLANE;
    if ((z < 0 || z >= b.g.nz) && changes_plane(b, input, z)) {
      fill_plane(b, input, plane, z);
      continue;
    }
    if (!has_sides(b, z)) continue;
#pragma unroll
    for (int i = 0; i < ENDS; i++) {
      const EndPoint &end = ends.points[i];
      if (end.to < 0) continue;
      plane[end.to] = ghost_value(b.f, input, b.g, end.x, end.y, z, end.image[s]);
    }
  }
  tensor_fence();
#if PRODUCER == PRODUCER_OWN
  barrier_leave(filled(b), int(threadIdx.y*BLOCK_X + threadIdx.x)%32);
  barrier_wait(filled(b), ends.phase);
  ends.phase ^= 1u;
#else
  __syncthreads();
#endif
}
#endif

// ---- computing

// What taps of a thread's points read of the current plane: rows from LOW_Y before its first row, vectors from WINDOW_BEFORE before its
// own. Each vector is loaded once for all points and taps. The compiler omits vectors that no tap reads.
constexpr int WINDOW_BEFORE = round_up(LOW_X, VECTOR), WINDOW_WIDTH = WINDOW_BEFORE + VECTOR + round_up(HIGH_X, VECTOR);
constexpr int WINDOW_ROWS = LOW_Y + POINTS_Y + HIGH_Y;
struct Window {
  real value[STAGED][WINDOW_ROWS][WINDOW_WIDTH];
};

__device__ __forceinline__ void load_plane(const real *slot, Window &window) {
#pragma unroll
  for (int s = 0; s < STAGED; s++) {
    load_window<VECTOR>(slot + s*SHARED_PLANE + cell(own_x() - WINDOW_BEFORE, own_y() - LOW_Y), SHARED_ROW, window.value[s]);
  }
}

// Taps of one of a thread's points into the current plane. The point and the offsets are constants after unrolling.
struct WindowTaps {
  const Window &window;
  int row, lane;
  __device__ __forceinline__ real operator()(int input, int dx, int dy) const {
    return window.value[staged_slot(input)][row + dy + LOW_Y][lane + dx + WINDOW_BEFORE];
  }
};

#if COPIES == COPIES_ENGINE && FILLS_ENDS && !FAR_ENDS && STAR
// Near ends of a star. A warp computes whole rows of the tile, or parts of them with PART_X points. It fills in shared memory the points
// beside its rows. Rows below and above the grid are read at their images. A plane beyond the grid came as its image, and is only read at
// the points themselves. Rules ensure that all points of a thread lie in the grid or all beyond it, and that one part of a row has points
// beside it.
constexpr int ROW_LANES = BLOCK_X < 32 ? BLOCK_X : 32, PART_X = ROW_LANES*VECTOR;
constexpr int END_COLUMNS = LOW_X + HIGH_X, SIDES = divide_up(END_COLUMNS*POINTS_Y, ROW_LANES);

// The first column of the thread's part of its row, relative to the tile's first point.
__device__ __forceinline__ int part_x() { return int(threadIdx.x)/ROW_LANES*PART_X; }

// Whether the thread's part of its row has points of the grid. The answer is the same for all threads of a warp.
__device__ __forceinline__ bool has_points(const Block &b) { return BLOCK_X <= 32 || b.x + part_x() < b.g.nx; }

// All lanes of a warp call this when plane z is in shared memory, if the block has ends in x.
__device__ __forceinline__ void fill_sides(const Block &b, real *slot, index_t z) {
  const Geometry &g = b.g;
#pragma unroll
  for (int i = 0; i < SIDES; i++) {
    const int number = i*ROW_LANES + int(threadIdx.x)%ROW_LANES, column = number%at_least_one(END_COLUMNS);
    const index_t x = column < LOW_X ? column - LOW_X : g.nx + column - LOW_X;
    const int dx = int(x - b.x), dy = own_y() + number/at_least_one(END_COLUMNS);
    if (number >= END_COLUMNS*POINTS_Y || b.y + dy >= g.y1 || dx < part_x() - LOW_X || dx >= part_x() + PART_X + HIGH_X) continue;
#pragma unroll
    for (int s = 0; s < STAGED; s++) {
      real *row = slot + s*SHARED_PLANE + cell(0, dy);
      row[dx] = ghost_value(b.f, staged_input(s), g, x, 0, 0, row[near_image_x(g, x) - b.x]);
    }
  }
  __syncwarp();
}

// Load what taps read of a plane in the grid. Lanes beyond the grid in x compute nothing. In rows of other warps they read the tile's first
// columns, because those warps may write beyond the grid.
__device__ __forceinline__ void load_near(const Block &b, const real *slot, Window &window) {
  const Geometry &g = b.g;
  const index_t last = g.ny + HIGH_Y - 1;
#pragma unroll
  for (int s = 0; s < STAGED; s++) {
    const real *plane = slot + s*SHARED_PLANE;
    real own[POINTS_Y][WINDOW_WIDTH];
    load_window<VECTOR>(plane + cell(own_x() - WINDOW_BEFORE, own_y()), SHARED_ROW, own);
#pragma unroll
    for (int row = 0; row < WINDOW_ROWS; row++) {
      const bool is_own = row >= LOW_Y && row < LOW_Y + POINTS_Y;
      const index_t wanted = b.y + own_y() + row - LOW_Y, y = wanted < last ? wanted : last;
#pragma unroll
      for (int i = 0; is_own && i < WINDOW_WIDTH; i++) window.value[s][row][i] = own[row - LOW_Y][i];
      if (is_own) continue;
      real values[VECTOR];
      load_vector(plane + cell(b.x + own_x() < g.nx ? own_x() : 0, int(near_image_y(g, y) - b.y)), values);
#pragma unroll
      for (int lane = 0; lane < VECTOR; lane++) {
        window.value[s][row][WINDOW_BEFORE + lane] = ghost_value(b.f, staged_input(s), g, 0, y, 0, values[lane]);
      }
    }
  }
}

// Load what taps read of a plane beyond the grid, whose image is in shared memory: the values at the thread's points.
__device__ __forceinline__ void load_beyond(const Block &b, const real *slot, index_t z, Window &window) {
#pragma unroll
  for (int s = 0; s < STAGED; s++) {
#pragma unroll
    for (int j = 0; j < POINTS_Y; j++) {
      real values[VECTOR];
      load_vector(slot + s*SHARED_PLANE + cell(own_x(), own_y() + j), values);
#pragma unroll
      for (int lane = 0; lane < VECTOR; lane++) {
        window.value[s][LOW_Y + j][WINDOW_BEFORE + lane] = ghost_value(b.f, staged_input(s), b.g, 0, 0, z, values[lane]);
      }
    }
  }
}

__device__ __forceinline__ bool changes_some_input(const Block &b, index_t z) {
  bool changes = false;
#pragma unroll
  for (int s = 0; s < STAGED; s++) changes = changes || changes_plane(b, staged_input(s), z);
  return changes;
}

__device__ __forceinline__ void add_window(const Window &window, const Weights &weights, real (&sums)[POINTS_Y][VECTOR][FORMS][PLANES]) {
#pragma unroll
  for (int j = 0; j < POINTS_Y; j++) {
#pragma unroll
    for (int lane = 0; lane < VECTOR; lane++) add_plane(WindowTaps{window, j, lane}, weights, sums[j][lane]);
  }
}

// Add plane z to the sums.
//   has_ends_in_x  whether taps of some thread of the block may read beyond the grid in x
__device__ __forceinline__ void add_near(const Block &b, real *slot, index_t z, bool has_ends_in_x, const Weights &weights,
                                         real (&sums)[POINTS_Y][VECTOR][FORMS][PLANES]) {
  if (!has_points(b)) return;
  if ((z < 0 || z >= b.g.nz) && changes_some_input(b, z)) {
    Window window = {};
    load_beyond(b, slot, z, window);
    add_window(window, weights, sums);
    return;
  }
  if (has_ends_in_x && has_sides(b, z)) fill_sides(b, slot, z);
  Window window;
  load_near(b, slot, window);
  add_window(window, weights, sums);
}
#endif

#if COPIES == COPIES_ENGINE && FILLS_ENDS && !FAR_ENDS && !STAR
// Near ends of other stencils. Each thread replaces what its own taps read beyond the grid, in registers. Blocks with ends add a plane row
// by row: registers hold one row of the window.

// Taps of a point into one row of the window.
struct RowTaps {
  const real (&row)[STAGED][WINDOW_WIDTH];
  int lane;
  __device__ __forceinline__ real operator()(int input, int dx) const { return row[staged_slot(input)][lane + dx + WINDOW_BEFORE]; }
};

// Replace the points of a row that lie beyond the grid in x.
//   image  the row's image in shared memory, at the tile's first column; a rule ensures that images lie in the tile and its halo
__device__ __forceinline__ void replace_columns(const Block &b, int input, const real *image, index_t y, index_t z, real (&row)[WINDOW_WIDTH]) {
#pragma unroll
  for (int i = WINDOW_BEFORE - LOW_X; i < WINDOW_BEFORE + VECTOR + HIGH_X; i++) {
    const index_t x = b.x + own_x() + i - WINDOW_BEFORE;
    const bool beyond_x = i < WINDOW_BEFORE ? x < 0 : x >= b.g.nx && x < b.g.nx + HIGH_X;
    if (beyond_x) row[i] = ghost_value(b.f, input, b.g, x, y, z, image[near_image_x(b.g, x) - b.x]);
  }
}

// Load a row of the window. A row beyond the grid is loaded from its image. A plane beyond the grid came as its image.
__device__ __forceinline__ void load_end_row(const Block &b, const real *slot, int number, index_t z, real (&row)[STAGED][WINDOW_WIDTH]) {
  const Geometry &g = b.g;
  const index_t x = b.x + own_x(), y = b.y + own_y() + number - LOW_Y;
  const bool is_read = x < g.nx && y < g.ny + HIGH_Y, beyond_y = is_read && (y < 0 || y >= g.ny);
  const bool near_x = x < LOW_X || x + VECTOR - 1 + HIGH_X >= g.nx;
#pragma unroll
  for (int s = 0; s < STAGED; s++) {
    const real *image = slot + s*SHARED_PLANE + cell(0, int((beyond_y ? near_image_y(g, y) : y) - b.y));
    real values[1][WINDOW_WIDTH];
    load_window<VECTOR>(image + own_x() - WINDOW_BEFORE, 0, values);
#pragma unroll
    for (int i = 0; i < WINDOW_WIDTH; i++) row[s][i] = values[0][i];
    if (beyond_y || z < 0 || z >= g.nz) {
#pragma unroll
      for (int i = 0; i < WINDOW_WIDTH; i++) row[s][i] = ghost_value(b.f, staged_input(s), g, x + i - WINDOW_BEFORE, y, z, row[s][i]);
    }
    if (near_x && is_read) replace_columns(b, staged_input(s), image, y, z, row[s]);
  }
}

__device__ __forceinline__ void add_rows(const Block &b, const real *slot, index_t z, const Weights &weights,
                                         real (&sums)[POINTS_Y][VECTOR][FORMS][PLANES]) {
#pragma unroll
  for (int j = 0; j < POINTS_Y; j++) {
#pragma unroll
    for (int lane = 0; lane < VECTOR; lane++) move_sums(sums[j][lane]);
  }
#pragma unroll
  for (int number = 0; number < WINDOW_ROWS; number++) {
    real row[STAGED][WINDOW_WIDTH];
    load_end_row(b, slot, number, z, row);
#pragma unroll
    for (int j = 0; j < POINTS_Y; j++) {
      const int dy = number - LOW_Y - j;
      if (dy < -LOW_Y || dy > HIGH_Y) continue;
#pragma unroll
      for (int lane = 0; lane < VECTOR; lane++) add_row(dy, RowTaps{row, lane}, weights, sums[j][lane]);
    }
  }
}

// Add plane z to the sums.
//   has_ends  whether taps of some thread of the block may read beyond the grid; without them a plane is added as a whole
__device__ __forceinline__ void add_near(const Block &b, const real *slot, index_t z, bool has_ends, const Weights &weights,
                                         real (&sums)[POINTS_Y][VECTOR][FORMS][PLANES]) {
  if (has_ends) {
    add_rows(b, slot, z, weights, sums);
    return;
  }
  Window window;
  load_plane(slot, window);
#pragma unroll
  for (int j = 0; j < POINTS_Y; j++) {
#pragma unroll
    for (int lane = 0; lane < VECTOR; lane++) add_plane(WindowTaps{window, j, lane}, weights, sums[j][lane]);
  }
}
#endif

// The values that finish() reads at the thread's points, by row, output and input.
struct Beside {
  real value[POINTS_Y][OUTPUTS][INPUTS][VECTOR];
};

// Start these loads before the wait for the plane, so that both overlap.
__device__ __forceinline__ void load_beside(const Block &b, index_t p, Beside &beside) {
  const Geometry &g = b.g;
  const index_t x = b.x + own_x();
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) {
    const index_t z = p - delay(o);
#pragma unroll
    for (int j = 0; j < POINTS_Y; j++) {
      const index_t y = b.y + own_y() + j;
#pragma unroll
      for (int input = 0; input < INPUTS; input++) {
        if (!finish_reads(o, input) || (BESIDE == BESIDE_SHARED && is_kept(o, input))) continue;
        if (z < b.z_first || z >= b.z_last || y >= g.y1 || x >= g.x1) continue;
        if (PIECE == VECTOR && x + VECTOR <= g.nx) {
          read_vector(b.f, input, g, x, y, z, beside.value[j][o][input]);
          continue;
        }
#pragma unroll
        for (int lane = 0; lane < VECTOR; lane++) {
          beside.value[j][o][input][lane] = x + lane < g.nx ? read_point(b.f, input, g, x + lane, y, z) : real(0);
        }
      }
    }
  }
}

// ---- writing

// Write a row of results point by point. The lanes of a warp exchange results, so that neighbouring lanes write neighbouring points.
// Usually all of these points lie in the box.
constexpr int LANES = BLOCK_X < 32 ? BLOCK_X : 32, PART = LANES*VECTOR;

__device__ __forceinline__ void write_exchanged(const Block &b, int output, index_t y, index_t z, const real (&values)[VECTOR]) {
  const Geometry &g = b.g;
  const int thread = int(threadIdx.y)*BLOCK_X + int(threadIdx.x), lane = int(threadIdx.x)%LANES;
  real *part = b.shared + SLOTS*SLOT + thread/LANES*PART;
  const index_t x = b.x + int(threadIdx.x)/LANES*PART;
  __syncwarp();
  store_vector(part + lane*VECTOR, values);
  __syncwarp();
  if (y >= g.y1) return;
  const bool whole = x >= g.x0 && x + PART <= g.x1;
#pragma unroll
  for (int i = 0; i < VECTOR; i++) {
    const int at = i*LANES + lane;
    if (whole || (x + at >= g.x0 && x + at < g.x1)) write_point(b.f, output, g, x + at, y, z, part[at]);
  }
}

__device__ __forceinline__ void write_row(const Block &b, int output, int row, index_t z, const real (&values)[VECTOR]) {
  const index_t x = b.x + own_x(), y = b.y + own_y() + row;
  if (PIECE != VECTOR) write_exchanged(b, output, y, z, values);
  else if (y < b.g.y1) write_in_box(b.f, output, b.g, x, y, z, values);
}

// Load what finish() reads from planes that shared memory keeps. `slot` is the slot of the current plane.
__device__ __forceinline__ void load_kept(const Block &b, int slot, int output, int row, real (&inputs)[INPUTS][VECTOR]) {
  const int kept = slot >= delay(output) ? slot - delay(output) : slot - delay(output) + SLOTS;
#pragma unroll
  for (int input = 0; input < INPUTS; input++) {
    if (!is_kept(output, input)) continue;
    load_vector(b.shared + kept*SLOT + staged_slot(input)*SHARED_PLANE + cell(own_x(), own_y() + row), inputs[input]);
  }
}

// Write the outputs that plane p completes. An output is complete delay(o) planes after its own plane came in.
//   slot  the slot of plane p
__device__ __forceinline__ void write_complete(const Block &b, index_t p, int slot, Beside &beside,
                                               const Coefficients &coefficients,
                                               const real (&sums)[POINTS_Y][VECTOR][FORMS][PLANES]) {
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) {
    const index_t z = p - delay(o);
    if (z < b.z_first || z >= b.z_last) continue;
#pragma unroll
    for (int j = 0; j < POINTS_Y; j++) {
      real values[VECTOR];
      if (BESIDE == BESIDE_SHARED) load_kept(b, slot, o, j, beside.value[j][o]);
#pragma unroll
      for (int lane = 0; lane < VECTOR; lane++) {
        values[lane] = finish(o, FinishTaps<VECTOR>{beside.value[j][o], lane}, coefficients, sums[j][lane]);
      }
      write_row(b, o, j, z, values);
    }
  }
}

// ---- marching

// The state of the block's pipeline of planes. All threads of a block call its functions. `at_hand` is the place of the current plane,
// `ahead` the place of the next copy.
struct Pipeline {
  Place at_hand = {0, 0}, ahead = {0, 0};
#if COPIES == COPIES_ENGINE
  Place late = {0, 0};  // the place of the plane that all warps must have read
#else
  CopyPlan plan;
#endif
};

#if COPIES == COPIES_ENGINE
// Start to copy plane z; only the leader does so. The first planes use empty slots. A later plane waits until all warps have read the plane
// at `late`. It then reuses the slot of the plane KEPT planes before that one.
__device__ __forceinline__ void begin_boxes(const Block &b, Pipeline &p, index_t z, bool is_leader) {
  if (z >= b.z_first - LOW_Z + SLOTS - KEPT) {
    if (is_leader) barrier_wait(empty(b, p.late.slot), p.late.phase);
    step(p.late);
  }
  if (is_leader) copy_boxes(b, z, p.ahead.slot);
  step(p.ahead);
}
#endif

// Start to copy planes from z on, up to the last. Where threads copy, each call commits one group of copies, even an empty one.
__device__ __forceinline__ void begin_planes(const Block &b, Pipeline &p, index_t z, index_t last) {
#if COPIES == COPIES_ENGINE
  if (PRODUCER == PRODUCER_FIRST && z < last) begin_boxes(b, p, z, threadIdx.x == 0 && threadIdx.y == 0);
#else
#pragma unroll
  for (int u = 0; u < AT_ONCE; u++) {
    if (z + u < last) copy_plane(b, p.plan, z + u, b.shared + p.ahead.slot*SLOT);
    step(p.ahead);
  }
  async_commit();
#endif
}

__device__ __forceinline__ void begin_march(const Block &b, Pipeline &p, index_t first, index_t last) {
#if COPIES == COPIES_BLOCK
  plan_copies(b, p.plan);
#endif
#pragma unroll
  for (int i = 0; i < STAGES; i++) begin_planes(b, p, first + i*AT_ONCE, last);
}

// Afterwards the planes from z on are in shared memory, and a later copy has begun: in the slot of the plane before, which no thread reads
// any more, or, with the engine, in the slot of the plane before that one, because warps may be late.
__device__ __forceinline__ void take_planes(const Block &b, Pipeline &p, index_t z, index_t last) {
  if (ENGINE) {
    begin_planes(b, p, z + STAGES, last);
    __syncwarp();
    barrier_wait(full(b, p.at_hand.slot), p.at_hand.phase);
  } else {
    async_wait<STAGES - 1>();
    __syncthreads();
    begin_planes(b, p, z + STAGES*AT_ONCE, last);
  }
}

// This warp has read the current plane, and advances to the next one.
__device__ __forceinline__ void leave_plane(const Block &b, Pipeline &p) {
  if (ENGINE) barrier_leave(empty(b, p.at_hand.slot), int(threadIdx.y*BLOCK_X + threadIdx.x)%32);
  step(p.at_hand);
}

__device__ __forceinline__ void march(const Block &b, const Weights &weights, const Coefficients &coefficients) {
  const index_t first = b.z_first - LOW_Z, last = b.z_last + longest_delay();
  Pipeline pipeline;
  if (ENGINE) make_barriers(b);
#if PRODUCER == PRODUCER_OWN
  if (threadIdx.y >= BLOCK_Y) {
    if (threadIdx.y > BLOCK_Y || threadIdx.x > 0) return;
#pragma unroll 1
    for (index_t p = first; p < last; p++) begin_boxes(b, pipeline, p, true);
    return;
  }
#endif
  real sums[POINTS_Y][VECTOR][FORMS][PLANES] = {};
  begin_march(b, pipeline, first, last);
#if COPIES == COPIES_ENGINE && FILLS_ENDS && !FAR_ENDS
  const bool has_ends_in_x = has_ends_x(b), has_ends = has_ends_in_x || has_ends_y(b);
#endif
#if COPIES == COPIES_ENGINE && FAR_ENDS
  Ends ends;
  find_ends(b, ends);
  load_far_images(b, first, ends);
#endif
#pragma unroll 1
  for (index_t p = first; p < last; p += AT_ONCE) {
    Beside beside[AT_ONCE];
    if (FINISH_READS) {
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++) load_beside(b, p + u, beside[u]);
    }
    take_planes(b, pipeline, p, last);
#if COPIES == COPIES_ENGINE && FAR_ENDS
    if (ends.exist || p < 0 || p >= b.g.nz) fill_ends(b, b.shared + pipeline.at_hand.slot*SLOT, p, ends);
    if (p + 1 < last) load_far_images(b, p + 1, ends);
#endif
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) {
      if (u > 0 && p + u >= last) break;
#if COPIES == COPIES_ENGINE && FILLS_ENDS && !FAR_ENDS
      add_near(b, b.shared + pipeline.at_hand.slot*SLOT, p, STAR ? has_ends_in_x : has_ends || p < 0 || p >= b.g.nz, weights, sums);
#else
      const real *slot = b.shared + pipeline.at_hand.slot*SLOT;
      Window window;
      load_plane(slot, window);
#pragma unroll
      for (int j = 0; j < POINTS_Y; j++) {
#pragma unroll
        for (int lane = 0; lane < VECTOR; lane++) add_plane(WindowTaps{window, j, lane}, weights, sums[j][lane]);
      }
#endif
      const int at_hand = pipeline.at_hand.slot;
      if (KEPT == 0) leave_plane(b, pipeline);
      write_complete(b, p + u, at_hand, beside[u], coefficients, sums);
      if (KEPT > 0) leave_plane(b, pipeline);
    }
  }
}

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  const Block b = {f, g, SHARED_MEMORY(real), g.x0/GRAIN*GRAIN + index_t(blockIdx.x)*TILE_X,
                   g.y0 + index_t(blockIdx.y)*TILE_Y, share_begin<Z_SLICING>(g, blockIdx.z), share_begin<Z_SLICING>(g, blockIdx.z + 1)};
  if (b.y >= g.y1) return;  // a cluster reaches beyond the last rows
  march(b, weights_of(COEFFICIENT_VALUES), COEFFICIENT_VALUES);
}
