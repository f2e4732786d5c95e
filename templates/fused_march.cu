// fused_march: a block advances a tile by STEPS time steps while it marches along z. Each step is a stage of a pipeline. Shared memory holds
// the planes that the stages read. It takes any update: no stage takes the update apart.
//
// In each turn one plane of the input comes in, and each stage computes one plane. A stage reads only planes that were written in earlier
// turns. So it is one plane more behind the stage before than its taps reach up, and one barrier a turn serves all stages. While plane
// z + 1 of the input comes in, for reach 1 and STEPS 3:
//
//      rings in shared memory                           computed in this turn
//      input     z+1 (arrives)  z  z-1  z-2     ->      stage 0: plane z-1
//      step 1                  z-2  z-3  z-4    ->      stage 1: plane z-3
//      step 2                  z-4  z-5  z-6    ->      stage 2: plane z-5, which is written to global memory
//
// Each field of each step has a ring of DEPTH planes. Copies of the input run PREFETCH planes ahead. Stages after the next may read a step,
// too: with `iterate: {v: u, u: u_prev}` a stage reads the last two. Inputs that no stage changes are read from global memory.
//
// A thread owns a patch of POINTS neighbours in x in ROWS rows. It copies them, and computes them in every stage:
//
//      x -->     |0 0|1 1|2 2|3 3|      threads of a tile     POINTS 2, ROWS 2, LANES_X 4
//                |0 0|1 1|2 2|3 3|
//      y         |4 4|5 5|6 6|7 7|
//                |4 4|5 5|6 6|7 7|
//
// It computes all points of its patch before it stores any of them, so that it loads a value only once that several points read. The places of
// its taps in a plane are constants. Only the places of the DEPTH planes change, by turns.
//
// Each stage spoils the outermost points of a tile, because it has no neighbours for them. Tiles overlap, and spoiled points are not written.
// Nothing is spoiled at the ends of the box: a point outside the box keeps its value. Images beyond a periodic axis are computed like
// any point. Taps beyond other ends read the images in shared memory (MOVES_TAPS).
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#include "common.cuh"
#endif

#ifndef STEPS
#define STEPS 2
#define POINTS 4
#define ROWS 2
#define LANES_X 16
#define WARPS 8
#define VECTOR 4
#define COLUMN_SHARED 0
#define COLUMN_REGISTERS 1
#define COLUMN COLUMN_REGISTERS
#define PREFETCH 1
#define Z_SLICING 64
#endif

constexpr int THREADS = 32*WARPS, PIECES = POINTS/VECTOR, TILE_X = LANES_X*POINTS, TILE_Y = THREADS/LANES_X*ROWS;

// MARGIN: spoiled points at the low end of a tile, along x rounded up to vectors. STRIDE: the distance between the first points of two tiles.
constexpr int MARGIN_X = round_up(ALL_LOW_X, VECTOR), MARGIN_Y = ALL_LOW_Y;
constexpr int STRIDE_X = (TILE_X - MARGIN_X - ALL_HIGH_X)/VECTOR*VECTOR, STRIDE_Y = TILE_Y - MARGIN_Y - ALL_HIGH_Y;

// Points beyond the box that the tiles at its ends hold. Images beyond a periodic end are computed, and spoiled.
constexpr int BEFORE_X = FAR_ENDS ? MARGIN_X : LOW_X, AFTER_X = FAR_ENDS ? ALL_HIGH_X : HIGH_X;
constexpr int BEFORE_Y = FAR_ENDS ? MARGIN_Y : LOW_Y, AFTER_Y = FAR_ENDS ? ALL_HIGH_Y : HIGH_Y;

// GUARD: elements between two planes. Taps of the outermost patches fall there. No one writes them.
constexpr int GUARD_Y = LOW_Y > HIGH_Y ? LOW_Y : HIGH_Y, GUARD_X = round_up(LOW_X > HIGH_X ? LOW_X : HIGH_X, 4);
constexpr int GUARD = GUARD_Y*TILE_X + GUARD_X, PLANE_ELEMENTS = TILE_Y*TILE_X + GUARD;

// How many planes a stage is behind the plane that came in last.
__device__ constexpr int planes_behind(int stage) { return sum_first(stage + 1, STAGE_HIGH_Z) + stage; }

// The step whose results lie in a buffer when a stage reads it: 0 is the input of the launch.
__device__ constexpr int step_in_buffer(int stage, int buffer) {
  for (int s = stage; s > 0; s--) {
    for (int o = 0; o < OUTPUTS; o++) {
      if (output_buffer(s - 1, o) == buffer) return s;
    }
  }
  return 0;
}

// Whether a stage reads neighbours of the input of the launch that lies in a buffer. Else a thread reads its own points from global memory.
__device__ constexpr bool has_ring(int buffer) {
  for (int stage = 0; stage < STAGE_COUNT; stage++) {
    for (int i = 0; i < INPUTS; i++) {
      if (input_buffer(stage, i) == buffer && step_in_buffer(stage, buffer) == 0 && staged_slot(i) >= 0) return true;
    }
  }
  return false;
}

// The rings: first those of inputs that change, then for each step those of the outputs that become inputs.
__device__ constexpr int count_of_rings(int step) {
  int count = 0;
  for (int i = 0; i < INPUTS; i++) count += step == 0 && input_buffer(0, i) >= 0 && has_ring(input_buffer(0, i));
  for (int o = 0; o < OUTPUTS; o++) count += step > 0 && output_buffer(step - 1, o) >= 0;
  return count;
}
__device__ constexpr int ring_of(int step, int buffer) {
  int ring = 0;
  for (int s = 0; s < step; s++) ring += count_of_rings(s);
  if (step == 0) {
    for (int i = 0; i < INPUTS && input_buffer(0, i) != buffer; i++) ring += input_buffer(0, i) >= 0 && has_ring(input_buffer(0, i));
  } else {
    for (int o = 0; o < OUTPUTS && output_buffer(step - 1, o) != buffer; o++) ring += output_buffer(step - 1, o) >= 0;
  }
  return ring;
}
__device__ constexpr int count_of_all_rings() {
  int count = 0;
  for (int step = 0; step < STAGE_COUNT; step++) count += count_of_rings(step);
  return count;
}

// The ring that a stage reads as this input; -1: it reads global memory.
__device__ constexpr int ring_read(int stage, int input) {
  const int buffer = input_buffer(stage, input);
  if (buffer < 0) return -1;
  const int step = step_in_buffer(stage, buffer);
  return step > 0 || has_ring(buffer) ? ring_of(step, buffer) : -1;
}

// The input of the launch that a stage reads as this input, if it reads global memory.
__device__ constexpr int input_read(int stage, int input) {
  for (int i = 0; i < INPUTS; i++) {
    if (input_buffer(stage, input) >= 0 && input_buffer(0, i) == input_buffer(stage, input)) return i;
  }
  return input;
}

// The same, found once: the compiler takes constants from a table, but would follow the loops above for every tap.
struct Rings {
  int read[STAGE_COUNT][INPUTS], from[STAGE_COUNT][INPUTS];  // ring_read, input_read
  int written[STAGE_COUNT][OUTPUTS];                         // the ring to which a stage writes an output; -1: none
  int arriving[INPUTS];                          // the ring into which an input is copied; -1: none
};
__device__ constexpr Rings find_rings() {
  Rings rings = {};
  for (int stage = 0; stage < STAGE_COUNT; stage++) {
    for (int i = 0; i < INPUTS; i++) rings.read[stage][i] = ring_read(stage, i), rings.from[stage][i] = input_read(stage, i);
    for (int o = 0; o < OUTPUTS; o++) {
      const int buffer = output_buffer(stage, o);
      rings.written[stage][o] = stage < STAGE_COUNT - 1 && buffer >= 0 ? ring_of(stage + 1, buffer) : -1;
    }
  }
  for (int i = 0; i < INPUTS; i++) {
    const int buffer = input_buffer(0, i);
    rings.arriving[i] = buffer >= 0 && has_ring(buffer) ? ring_of(0, buffer) : -1;
  }
  return rings;
}
__device__ constexpr Rings RINGS = find_rings();

// Whether a stage reads planes behind its own from registers alone: each thread has its own points, and a star reads no others of them.
constexpr bool KEEPS_COLUMNS = COLUMN == COLUMN_REGISTERS && STAR && !MOVES_TAPS;

// The turns from the one that writes a plane of the input that a stage reads to the last one that reads it, the first and the last included.
__device__ constexpr int turns_kept(int stage, int input) {
  const int step = step_in_buffer(stage, input_buffer(stage, input));
  const int written = step == 0 ? -PREFETCH : planes_behind(step - 1);
  return planes_behind(stage) + (staged_slot(input) < 0 || KEEPS_COLUMNS ? 0 : of_stage(stage, STAGE_LOW_Z)) - written + 1;
}
__device__ constexpr int longest_kept() {
  int longest = 0;
  for (int stage = 0; stage < STAGE_COUNT; stage++) {
    for (int i = 0; i < INPUTS; i++) {
      if (ring_read(stage, i) >= 0 && turns_kept(stage, i) > longest) longest = turns_kept(stage, i);
    }
  }
  return longest;
}
constexpr int DEPTH = longest_kept(), RING_ELEMENTS = DEPTH*PLANE_ELEMENTS;

#ifdef LAUNCH_SHARED_BYTES
static_assert((count_of_all_rings()*RING_ELEMENTS + GUARD)*int(sizeof(real)) <= LAUNCH_SHARED_BYTES, "the rings need more shared memory");
#endif

// A tile, the planes of it that this block computes, and this thread's patch.
struct Tile {
  const Fields &f;
  const Geometry &g;
  const Coefficients &coefficients;
  index_t tile_x, tile_y;    // the tile's first point
  index_t x, y;              // the patch's first point
  int cell;                  // its place in a plane in shared memory
  index_t z_first, z_last;   // planes that are written: z_first <= z < z_last
  unsigned computed;         // a bit for each of the patch's points that stages compute, in planes that they compute
  unsigned whole, cut;       // whole: a bit for each of the patch's points that is written with its vector; cut: for each that is written alone
  real *shared;              // the rings, behind a guard
  index_t from[ROWS][PIECES];                                       // where the pieces of the patch lie in a plane of the grid; -1: its points are loaded one by one
  int near_x[LOW_X + POINTS + HIGH_X], near_y[LOW_Y + ROWS + HIGH_Y];  // with MOVES_TAPS: columns and rows of the tile that taps read
  index_t image_x[LOW_X + POINTS + HIGH_X], image_y[LOW_Y + ROWS + HIGH_Y];  // columns and rows of the grid that taps read
};

// A turn of the march.
struct Turn {
  index_t z;         // the plane of the input that came in last
  int slot;          // its slot
  int place[DEPTH];  // where the patch lies in plane z - i of a ring
};

__device__ __forceinline__ bool has(unsigned bits, int number) { return bits >> number & 1; }

// The place in a ring of plane z - behind.
__device__ __forceinline__ int place_of(const Turn &turn, int behind) { return turn.place[(behind + DEPTH)%DEPTH]; }

// What a patch reads of the inputs that change: its own points and those around them. The compiler drops what no tap reads.
constexpr int NEAR_LOW_X = round_up(LOW_X, POINTS), NEAR_X = NEAR_LOW_X + POINTS + round_up(HIGH_X, POINTS);
constexpr bool SHUFFLES = STAR && LOW_X <= POINTS && HIGH_X <= POINTS;  // for points of a row that other lanes have
constexpr int NEAR_Y = LOW_Y + ROWS + HIGH_Y, NEAR_Z = LOW_Z + 1 + HIGH_Z;
struct Near {
  real points[INPUTS][NEAR_Z][NEAR_Y][NEAR_X];
};

// The patch's own points in the planes that each stage reads of its inputs, with COLUMN_REGISTERS: the last plane that the stage reads is the
// newest one.
struct Columns {
  real points[STAGE_COUNT][INPUTS][NEAR_Z][ROWS][POINTS];
};

// Whether a stage reads a plane. NEAR_Z planes are those around a point that any stage reads. A stage must not load others: they may not
// have come in.
__device__ constexpr bool reads_plane(int stage, int plane) {
  return plane >= LOW_Z - of_stage(stage, STAGE_LOW_Z) && plane <= LOW_Z + of_stage(stage, STAGE_HIGH_Z);
}

// Load the patch's own points of a plane. `plane` points to the patch.
__device__ __forceinline__ void load_patch(const real *plane, real (&points)[ROWS][POINTS]) {
#pragma unroll
  for (int row = 0; row < ROWS; row++) load_vector(plane + row*TILE_X, points[row]);
}

// Move the columns of a stage on by a plane. Only the newest plane is loaded.
__device__ __forceinline__ void move_columns(const Tile &t, const Turn &turn, int stage, Columns &columns) {
#pragma unroll
  for (int input = 0; input < INPUTS; input++) {
    if (RINGS.read[stage][input] < 0 || staged_slot(input) < 0) continue;
    real(&planes)[NEAR_Z][ROWS][POINTS] = columns.points[stage][input];
#pragma unroll
    for (int k = 0; k < NEAR_Z - 1; k++) {
#pragma unroll
      for (int n = 0; n < ROWS*POINTS; n++) planes[k][n/POINTS][n%POINTS] = planes[k + 1][n/POINTS][n%POINTS];
    }
    load_patch(t.shared + RINGS.read[stage][input]*RING_ELEMENTS + place_of(turn, planes_behind(stage) - of_stage(stage, STAGE_HIGH_Z)),
               planes[NEAR_Z - 1 - (HIGH_Z - of_stage(stage, STAGE_HIGH_Z))]);
  }
}

// Load a row near the patch, with the points before and behind it.
__device__ __forceinline__ void load_row(const real *row, real (&points)[NEAR_X]) {
#pragma unroll
  for (int i = 0; i < NEAR_X; i += POINTS) {
    real some[POINTS];
    load_vector(row + i - NEAR_LOW_X, some);
#pragma unroll
    for (int n = 0; n < POINTS; n++) points[i + n] = some[n];
  }
}

// The same for a row of a star: shuffles fetch the points before and behind it from the lanes beside. At the ends of the tile's rows these
// points mean nothing.
__device__ __forceinline__ void find_row(const real (&own)[POINTS], real (&points)[NEAR_X]) {
  real near[LOW_X + POINTS + HIGH_X];
  find_near<LANES_X>(own, near);
#pragma unroll
  for (int i = 0; i < LOW_X + POINTS + HIGH_X; i++) points[NEAR_LOW_X - LOW_X + i] = near[i];
}

// Find what is near the patch in a ring. An input that is read at the point alone has no points around it.
__device__ __forceinline__ void load_near(const Turn &turn, int stage, int input, const real *ring, const Columns &columns,
                                          real (&points)[NEAR_Z][NEAR_Y][NEAR_X]) {
  const bool is_staged = staged_slot(input) >= 0;
#pragma unroll
  for (int k = 0; k < NEAR_Z; k++) {
    if (!is_staged && k != LOW_Z) continue;
    if (!STAGES_ALIKE && !reads_plane(stage, k)) continue;
    const real *plane = ring + place_of(turn, planes_behind(stage) + LOW_Z - k);
    real own[ROWS][POINTS];
    if (COLUMN == COLUMN_SHARED || !is_staged) load_patch(plane, own);
#pragma unroll
    for (int j = 0; j < NEAR_Y; j++) {
      const int row = j - LOW_Y;
      if (row < 0 || row >= ROWS) {
        if (is_staged && (k == LOW_Z || !STAR)) load_row(plane + row*TILE_X, points[k][j]);
        continue;
      }
      if (is_staged && !SHUFFLES) load_row(plane + row*TILE_X, points[k][j]);
      if (COLUMN == COLUMN_REGISTERS && is_staged) {
#pragma unroll
        for (int lane = 0; lane < POINTS; lane++) own[row][lane] = columns.points[stage][input][k][row][lane];
      }
      if (SHUFFLES && is_staged && k == LOW_Z) find_row(own[row], points[k][j]);
#pragma unroll
      for (int lane = 0; lane < POINTS; lane++) points[k][j][NEAR_LOW_X + lane] = own[row][lane];
    }
  }
}

#if MOVES_TAPS
// The same for a patch at the edge: taps beyond the grid read the points that the boundary rules give.
__device__ __forceinline__ void load_near_images(const Tile &t, const Turn &turn, int stage, int input, const real *ring,
                                                 real (&points)[NEAR_Z][NEAR_Y][NEAR_X]) {
  constexpr int farthest = round_up(planes_behind(STAGE_COUNT - 1) + LOW_Z + 2*ALL_HIGH_Z, DEPTH);  // behind plane turn.z, at least
#pragma unroll
  for (int k = 0; k < NEAR_Z; k++) {
    if (!STAGES_ALIKE && !reads_plane(stage, k)) continue;
    const index_t z = turn.z - planes_behind(stage) + k - LOW_Z;
    const int slot = (turn.slot - int(turn.z - tap_z(t.g, z)) + farthest)%DEPTH;
#pragma unroll
    for (int j = 0; j < NEAR_Y; j++) {
#pragma unroll
      for (int i = 0; i < LOW_X + POINTS + HIGH_X; i++) {
        const real value = ring[slot*PLANE_ELEMENTS + t.near_y[j] + t.near_x[i]];
#if GHOSTS
        points[k][j][NEAR_LOW_X - LOW_X + i] = ghost_value(t.f, input, t.g, t.x + i - LOW_X, t.y + j - LOW_Y, z, value);
#else
        points[k][j][NEAR_LOW_X - LOW_X + i] = value;
#endif
      }
    }
  }
}
#endif

// The nearest index of the grid. Images of points far beyond the grid may lie beyond its other end; no tap needs them.
__device__ __forceinline__ index_t in_grid(index_t i, index_t count) { return min(max(i, index_t(0)), count - 1); }

// What a patch reads of global memory at its own points alone, for each stage.
struct Beside {
  real points[STAGE_COUNT][INPUTS][ROWS][POINTS];
};
template <bool EDGE> __device__ __forceinline__ void load_beside(const Tile &t, index_t z, int stage, Beside &beside) {
#pragma unroll
  for (int input = 0; input < INPUTS; input++) {
    if (RINGS.read[stage][input] >= 0 || staged_slot(input) >= 0) continue;
    const int from = RINGS.from[stage][input];
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
#pragma unroll
      for (int lane = 0; lane < POINTS; lane += VECTOR) {
        real some[VECTOR];
        if (!EDGE) read_vector(t.f, from, t.g, t.x + lane, t.y + row, z, some);
#pragma unroll
        for (int i = 0; i < VECTOR; i++) {
          if (EDGE) some[i] = read_point(t.f, from, t.g, t.image_x[LOW_X + lane + i], t.image_y[LOW_Y + row], in_grid(image_z(t.g, z), t.g.nz));
          beside.points[stage][input][row][lane + i] = some[i];
        }
      }
    }
  }
}

// Taps of a point of the patch. EDGE: some points of this turn lie beyond the grid, or no stage computes them.
template <bool EDGE> struct StageTaps {
  const Tile &t;
  const Near &near;
  const real (&beside)[INPUTS][ROWS][POINTS];
  const index_t (&image_z)[NEAR_Z];  // planes of the grid that taps read
  index_t z;
  int stage, row, lane;
  __device__ __forceinline__ real operator()(int input, int dx, int dy, int dz) const {
    if (RINGS.read[stage][input] >= 0) return near.points[input][LOW_Z + dz][LOW_Y + row + dy][NEAR_LOW_X + lane + dx];
    if (staged_slot(input) < 0) return beside[input][row][lane];
    if (EDGE) {
      const real value = read_point(t.f, input, t.g, t.image_x[LOW_X + lane + dx], t.image_y[LOW_Y + row + dy], image_z[LOW_Z + dz]);
      return ghost_value(t.f, input, t.g, t.x + lane + dx, t.y + row + dy, z + dz, value);
    }
    const int position = lane + dx + 16*VECTOR;  // never negative: no radius is above 16
    real values[VECTOR];
    read_vector(t.f, input, t.g, t.x + (position/VECTOR - 16)*VECTOR, t.y + row + dy, z + dz, values);
    return values[position%VECTOR];
  }
};

// Where the launch loads a point along an axis; -1: taps read 0 there.
#if GHOSTS
__device__ __forceinline__ index_t image_in_x(const Geometry &g, index_t x) { return loaded_x(g, x); }
__device__ __forceinline__ index_t image_in_y(const Geometry &g, index_t y) { return loaded_y(g, y); }
__device__ __forceinline__ index_t image_in_z(const Geometry &g, index_t z) { return loaded_z(g, z); }
#else
__device__ __forceinline__ index_t image_in_x(const Geometry &g, index_t x) { return is_zero_x(g, x) ? index_t(-1) : image_x(g, x); }
__device__ __forceinline__ index_t image_in_y(const Geometry &g, index_t y) { return is_zero_y(g, y) ? index_t(-1) : image_y(g, y); }
__device__ __forceinline__ index_t image_in_z(const Geometry &g, index_t z) { return is_zero_z(g, z) ? index_t(-1) : image_z(g, z); }
#endif

// The place from which a row or a plane is copied; -1: its points are loaded one by one. Beyond the grid taps may read another place (`tap`).
// Then the values do not matter.
__device__ __forceinline__ index_t source_of_line(index_t i, index_t count, index_t tap, index_t image) {
  if (i >= 0 && i < count) return i;
  return IMAGES && tap == i ? image : i < 0 ? index_t(0) : count - 1;
}

// The same for a piece of VECTOR points in x. Their images may not be such a piece.
__device__ __forceinline__ index_t source_of_piece(const Geometry &g, index_t x) {
  if (x >= 0 && x < g.nx) return x;
  if (!IMAGES || tap_x(g, x) != x) return x < 0 ? index_t(0) : g.nx - VECTOR;
  const index_t first = image_in_x(g, x);
  return first >= 0 && first%VECTOR == 0 && image_in_x(g, x + VECTOR - 1) == first + VECTOR - 1 ? first : index_t(-1);
}

// The value that the launch loads for a point that may lie beyond the grid.
__device__ __forceinline__ real load_at_end(const Tile &t, int input, index_t x, index_t y, index_t z) {
#if GHOSTS
  return read_point(t.f, input, t.g, loaded_x(t.g, x), loaded_y(t.g, y), loaded_z(t.g, z));
#else
  return read_image(t.f, input, t.g, x, y, z);
#endif
}

// Start to copy plane z of all inputs that change. Each turn has a group of copies, though it may be empty.
__device__ __forceinline__ void request_plane(const Tile &t, index_t z, int place) {
  if (z < t.z_last + ALL_HIGH_Z) {
    const index_t from_z = source_of_line(z, t.g.nz, tap_z(t.g, z), image_in_z(t.g, z));
#pragma unroll
    for (int input = 0; input < INPUTS; input++) {
      if (RINGS.arriving[input] < 0) continue;
      real *to = t.shared + RINGS.arriving[input]*RING_ELEMENTS + place;
#pragma unroll
      for (int row = 0; row < ROWS; row++) {
#pragma unroll
        for (int i = 0; i < PIECES; i++) {
          real *piece = to + row*TILE_X + i*VECTOR;
          if (!IMAGES || (from_z >= 0 && t.from[row][i] >= 0)) {
            async_copy<VECTOR*int(sizeof(real))>(piece, t.f.in[input] + (from_z*t.g.plane + t.from[row][i]));
          } else {
#pragma unroll 1
            for (int k = 0; k < VECTOR; k++) piece[k] = load_at_end(t, input, t.x + i*VECTOR + k, t.y + row, z);
          }
        }
      }
    }
  }
  async_commit();
}

// Write the patch's points of an output that belong to the tile.
template <bool EDGE>
__device__ __forceinline__ void write_patch(const Tile &t, int array, int output, index_t z, const real (&results)[ROWS][OUTPUTS][POINTS]) {
  if (z < t.z_first || z >= t.z_last) return;
#pragma unroll
  for (int row = 0; row < ROWS; row++) {
#pragma unroll
    for (int i = 0; i < PIECES; i++) {
      real values[VECTOR];
#pragma unroll
      for (int k = 0; k < VECTOR; k++) values[k] = results[row][output][i*VECTOR + k];
      if (has(t.whole, row*POINTS + i*VECTOR)) write_vector(t.f, array, t.g, t.x + i*VECTOR, t.y + row, z, values);
    }
  }
  if (EDGE && t.cut != 0) {
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
#pragma unroll
      for (int lane = 0; lane < POINTS; lane++) {
        if (has(t.cut, row*POINTS + lane)) write_point(t.f, array, t.g, t.x + lane, t.y + row, z, results[row][output][lane]);
      }
    }
  }
}

// Compute a plane of a stage. Store the outputs for later stages, and write those that are needed after the launch.
template <bool EDGE> __device__ __forceinline__ void compute_stage(const Tile &t, const Turn &turn, int stage, const Beside &beside, Columns &columns) {
  const int later = STAGE_COUNT - 1 - stage, behind = planes_behind(stage);
  const index_t z = turn.z - behind;
  if (COLUMN == COLUMN_REGISTERS) move_columns(t, turn, stage, columns);
  if (EDGE && (z < t.z_first - sum_last(later, STAGE_LOW_Z) || z >= t.z_last + sum_last(later, STAGE_HIGH_Z))) return;
  Near near;
#pragma unroll
  for (int input = 0; input < INPUTS; input++) {
    if (RINGS.read[stage][input] < 0) continue;
    const real *ring = t.shared + RINGS.read[stage][input]*RING_ELEMENTS;
#if MOVES_TAPS
    if (EDGE) {
      load_near_images(t, turn, stage, input, ring, near.points[input]);
      continue;
    }
#endif
    load_near(turn, stage, input, ring, columns, near.points[input]);
  }
  index_t images[NEAR_Z] = {};
#pragma unroll
  for (int k = 0; k < NEAR_Z; k++) {
    if (EDGE) images[k] = in_grid(image_z(t.g, z + k - LOW_Z), t.g.nz);
  }
  const bool plane_computed = !EDGE || is_computed(t.g, t.g.x0, t.g.y0, z);
  real results[ROWS][OUTPUTS][POINTS];
#pragma unroll
  for (int row = 0; row < ROWS; row++) {
#pragma unroll
    for (int lane = 0; lane < POINTS; lane++) {
      const StageTaps<EDGE> taps = {t, near, beside.points[stage], images, z, stage, row, lane};
      real point[OUTPUTS];
      update_stage(stage, taps, t.coefficients, point);
#pragma unroll
      for (int o = 0; o < OUTPUTS; o++) {
        bool keeps = EDGE && !(plane_computed && has(t.computed, row*POINTS + lane));
#if GHOSTS
        keeps = keeps || (EDGE && keeps_value(o, t.g, t.x + lane, t.y + row, z));
#endif
        if (advanced_input(o) >= 0) point[o] = keeps ? taps(advanced_input(o), 0, 0, 0) : point[o];
        results[row][o][lane] = point[o];
      }
    }
  }
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) {
    if (RINGS.written[stage][o] >= 0) {
      real *ring = t.shared + RINGS.written[stage][o]*RING_ELEMENTS;
#pragma unroll
      for (int row = 0; row < ROWS; row++) store_vector(ring + place_of(turn, behind) + row*TILE_X, results[row][o]);
    }
    if (stored_as(later, o) >= 0) write_patch<EDGE>(t, stored_as(later, o), o, z, results);
  }
}

// Make a turn. The barrier separates it from the last one: plane z of the input and the planes that stages computed are there.
template <bool EDGE> __device__ __forceinline__ void take_plane(const Tile &t, Turn &turn, Columns &columns) {
  Beside beside;
#pragma unroll
  for (int stage = 0; stage < STAGE_COUNT; stage++) load_beside<EDGE>(t, turn.z - planes_behind(stage), stage, beside);
  async_wait<PREFETCH - 1>();
  __syncthreads();
  request_plane(t, turn.z + PREFETCH, place_of(turn, -PREFETCH));
#pragma unroll
  for (int stage = 0; stage < STAGE_COUNT; stage++) compute_stage<EDGE>(t, turn, stage, beside, columns);
  const int oldest = turn.place[DEPTH - 1];
#pragma unroll
  for (int i = DEPTH - 1; i > 0; i--) turn.place[i] = turn.place[i - 1];
  turn.place[0] = oldest, turn.z++, turn.slot = turn.slot + 1 == DEPTH ? 0 : turn.slot + 1;
}

// Find where the pieces of the patch are copied from, and which columns and rows taps at the edge read.
__device__ __forceinline__ void find_sources(Tile &t) {
  const Geometry &g = t.g;
#pragma unroll
  for (int row = 0; row < ROWS; row++) {
#pragma unroll
    for (int i = 0; i < PIECES; i++) {
      const index_t x = source_of_piece(g, t.x + i*VECTOR), y = source_of_line(t.y + row, g.ny, tap_y(g, t.y + row), image_in_y(g, t.y + row));
      t.from[row][i] = x < 0 || y < 0 ? index_t(-1) : at(g, x, y, 0);
    }
  }
#pragma unroll
  for (int i = 0; i < LOW_X + POINTS + HIGH_X; i++) t.image_x[i] = in_grid(image_x(g, t.x + i - LOW_X), g.nx);
#pragma unroll
  for (int j = 0; j < LOW_Y + ROWS + HIGH_Y; j++) t.image_y[j] = in_grid(image_y(g, t.y + j - LOW_Y), g.ny);
#if MOVES_TAPS
#pragma unroll
  for (int i = 0; i < LOW_X + POINTS + HIGH_X; i++) {
    t.near_x[i] = int(min(max(tap_x(g, t.x + i - LOW_X) - t.tile_x, index_t(0)), index_t(TILE_X - 1)));
  }
#pragma unroll
  for (int j = 0; j < LOW_Y + ROWS + HIGH_Y; j++) {
    t.near_y[j] = int(min(max(tap_y(g, t.y + j - LOW_Y) - t.tile_y, index_t(0)), index_t(TILE_Y - 1)))*TILE_X;
  }
#endif
}

// Find the points of the patch that stages compute, and those that are written: x_first <= x < x_last, y_first <= y < y_last.
__device__ __forceinline__ void find_points(Tile &t, index_t x_first, index_t x_last, index_t y_first, index_t y_last) {
#pragma unroll
  for (int row = 0; row < ROWS; row++) {
#pragma unroll
    for (int lane = 0; lane < POINTS; lane++) {
      const index_t x = t.x + lane, y = t.y + row, first = x - lane%VECTOR;
      const unsigned bit = 1u << (row*POINTS + lane);
      if (is_computed(t.g, x, y, t.g.z0)) t.computed |= bit;
      if (y < y_first || y >= y_last || x < x_first || x >= x_last) continue;
      if (first >= x_first && first + VECTOR <= x_last) t.whole |= bit;
      else t.cut |= bit;
    }
  }
}

// The march has at most three parts: planes near the box's first plane, planes in the middle, and planes near its last plane.
__device__ __forceinline__ void march(const Tile &t) {
  const Geometry &g = t.g;
  constexpr int last = planes_behind(STAGE_COUNT - 1);
  const index_t begin = t.z_first - ALL_LOW_Z, end = t.z_last + last;
  const bool is_regular = t.tile_x >= max(g.x0, index_t(round_up(LOW_X, VECTOR))) && t.tile_x + TILE_X <= min(g.x1, g.nx - round_up(HIGH_X, VECTOR)) &&
                          t.tile_y >= max(g.y0, index_t(LOW_Y)) && t.tile_y + TILE_Y <= min(g.y1, g.ny - HIGH_Y);
  const index_t middle_first = is_regular ? min(end, max(g.z0, index_t(LOW_Z)) + last) : end, middle_last = min(end, min(g.z1 + of_stage(0, STAGE_HIGH_Z), g.nz));
  Columns columns = {};
  Turn turn;
  turn.z = begin, turn.slot = 0;
#pragma unroll
  for (int i = 0; i < DEPTH; i++) turn.place[i] = (DEPTH - i)%DEPTH*PLANE_ELEMENTS + t.cell;
#pragma unroll
  for (int i = 0; i < PREFETCH; i++) request_plane(t, begin + i, place_of(turn, -i));
#pragma unroll 1
  for (int part = 0; part < 2; part++) {
    const index_t until = part == 0 ? middle_first : end;
#pragma unroll 1
    while (turn.z < until) take_plane<true>(t, turn, columns);
#pragma unroll 1
    while (turn.z < middle_last) take_plane<false>(t, turn, columns);
  }
  async_wait<0>();
}

// blockIdx.z counts the parts of the planes. So blocks that run at the same time are at the same plane.
extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  const int column = threadIdx.x%LANES_X*POINTS, row = threadIdx.x/LANES_X*ROWS;
  const index_t low_x = (g.x0 + 16*VECTOR*STAGE_COUNT - BEFORE_X)/VECTOR*VECTOR - 16*VECTOR*STAGE_COUNT, low_y = g.y0 - BEFORE_Y;
  const index_t high_x = (g.x1 + AFTER_X + VECTOR - 1)/VECTOR*VECTOR - TILE_X, high_y = g.y1 + AFTER_Y - TILE_Y;
  const index_t left = low_x + MARGIN_X + index_t(blockIdx.x)*STRIDE_X, top = low_y + MARGIN_Y + index_t(blockIdx.y)*STRIDE_Y;
  const index_t tile_x = max(min(left - MARGIN_X, high_x), low_x), tile_y = max(min(top - MARGIN_Y, high_y), low_y);
  Tile t = {f, g, COEFFICIENT_VALUES, tile_x, tile_y, tile_x + column, tile_y + row, row*TILE_X + column,
            share_begin<Z_SLICING>(g, blockIdx.z), share_begin<Z_SLICING>(g, blockIdx.z + 1), 0, 0, 0, SHARED_MEMORY(real) + GUARD, {}, {}, {}, {}, {}};
  find_sources(t);
  find_points(t, blockIdx.x == 0 ? g.x0 : left, blockIdx.x == gridDim.x - 1 ? g.x1 : left + STRIDE_X,
              blockIdx.y == 0 ? g.y0 : top, blockIdx.y == gridDim.y - 1 ? g.y1 : top + STRIDE_Y);
  march(t);
}
