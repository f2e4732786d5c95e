// line: each thread computes a patch, and keeps all values that the patch needs in registers. There is no shared memory and no barrier.
//
// A patch is VECTOR neighbours in x times POINTS rows. Rows follow each other along the axis of all taps, or along y if that axis is x. The
// window is the patch and all points that its taps reach. The thread loads the whole window before it uses any value. With axis y, VECTOR
// 2, POINTS 3, reach 1:
//
//      x -->      row -1   w w      Each row is a vector. A row beyond the grid is replaced by its image, so that all rows take the
//                 row  0   p p      same path. The L1 cache serves the rows that the windows of neighbouring threads share.
//                 row  1   p p
//                 row  2   p p
//                 row  3   w w
//
// If the axis is x, the window is wider than the patch. With VECTOR 2, reach 3, rows of 4 lanes:
//
//      | t0 t0 | t1 t1 | t2 t2 | t3 t3 |      BESIDE_SHUFFLE: t1 gets the points beside its vector from t0, t2 and t3. It loads
//        w   w   p  p    w  w    w            only the one point before t0. BESIDE_LOAD: t1 loads all points beside its vector.
//
// With BESIDE_SHUFFLE, a lane beyond the end of a row holds the images of its points.
#ifndef HALOTUNE_PRELUDE
#include "example_pencil.cuh"
#include "common.cuh"
#endif

#ifndef POINTS
#define VECTOR 1
#define POINTS 1
#define BLOCK_X 32
#define BLOCK_Y 4
#define BESIDE_SHUFFLE 0
#define BESIDE_LOAD 1
#define BESIDE BESIDE_SHUFFLE
#define OVERLAP 0
#define ADDRESSES_LAZY 0
#define ADDRESSES_EARLY 1
#define ADDRESSES_ONCE 2
#define ADDRESSES ADDRESSES_LAZY
#endif

// The rows and columns of a window. All taps lie on one axis, so the reach along the other axes is 0.
constexpr int ROWS_BEFORE = LOW_Y + LOW_Z, ROWS = ROWS_BEFORE + POINTS + HIGH_Y + HIGH_Z, COLUMNS = LOW_X + VECTOR + HIGH_X;
constexpr int FURTHEST = LOW_X > HIGH_X ? LOW_X : HIGH_X;  // the largest distance of a column beside the patch
constexpr bool IS_SHUFFLED = AXIS == 0 && BESIDE == BESIDE_SHUFFLE;
constexpr int LANES = BLOCK_X < 32 ? BLOCK_X : 32;  // lanes of a warp in the same row
constexpr unsigned everyone = 0xffffffffu;  // all lanes of a warp

__device__ __forceinline__ index_t smaller(index_t a, index_t b) { return a < b ? a : b; }

// A thread's patch, given by its first point. If lanes shuffle, the patch may lie behind the box in x and y.
struct Patch {
  const Fields &f;
  const Geometry &g;
  index_t x, y, z;
  __device__ __forceinline__ index_t y_of(int row) const { return y + (AXIS == 2 ? 0 : row); }
  __device__ __forceinline__ index_t z_of(int row) const { return z + (AXIS == 2 ? row : 0); }
};

// The values that a thread keeps in registers: staged inputs in the whole window, other inputs at the points of the patch.
struct Window {
  real staged[STAGED][ROWS][COLUMNS];
#if INPUTS > STAGED
  real others[INPUTS][POINTS][VECTOR];
#endif
};

#if PLAIN_ENDS && !USES_AXES
// ---- the places from which the window is read

// The row that replaces a row beyond the grid: its image along the axis, otherwise the last row of the box.
__device__ __forceinline__ index_t row_in_grid(const Patch &p, int row) {
#if AXIS == 0
  return at(p.g, 0, smaller(p.y + row, p.g.y1 - 1), p.z);
#elif AXIS == 1
  return at(p.g, 0, near_image_y(p.g, p.y + row), p.z);
#else
  return at(p.g, 0, p.y, near_image_z(p.g, p.z + row));
#endif
}
__device__ __forceinline__ bool is_zero_row(const Patch &p, int row) {
#if AXIS == 1
  return is_zero_y(p.g, p.y + row);
#elif AXIS == 2
  return is_zero_z(p.g, p.z + row);
#else
  return false;
#endif
}

#endif

// Columns behind all taps of the box are not used. The last column that is used replaces them.
__device__ __forceinline__ index_t used_column(const Patch &p, index_t x) {
  return smaller(x, AXIS == 0 ? p.g.x1 - 1 + HIGH_X : p.g.nx - 1);
}
#if PLAIN_ENDS && !USES_AXES
__device__ __forceinline__ index_t column_in_grid(const Patch &p, index_t x) {
#if AXIS == 0
  return near_image_x(p.g, used_column(p, x));
#else
  return used_column(p, x);
#endif
}
__device__ __forceinline__ bool is_zero_column(const Patch &p, index_t x) {
#if AXIS == 0
  return is_zero_x(p.g, used_column(p, x));
#else
  return false;
#endif
}

#endif

// With BESIDE_SHUFFLE, the lane divide_up(distance, VECTOR) lanes away has the column at this distance. Lanes at the ends of a row load the
// columns that no lane has. No lane is near both ends, so a lane loads at most one column for each distance.
struct End {
  bool is_first, is_last;
  index_t x;
};
__device__ __forceinline__ End end_at(const Patch &p, int distance) {
  const int lane = int(threadIdx.x)%LANES;
  const bool is_first = distance <= LOW_X && lane < divide_up(distance, VECTOR);
  const bool is_last = distance <= HIGH_X && lane >= LANES - divide_up(distance, VECTOR);
  return {is_first, is_last, is_first ? p.x - distance : p.x + VECTOR - 1 + distance};
}

#if PLAIN_ENDS && !USES_AXES
// Places that are the same for all inputs.
struct Places {
  index_t rows[ROWS];                    // the element of the patch's first column in each row
  index_t ends[at_least_one(FURTHEST)];  // with BESIDE_SHUFFLE: the distance from the patch's first column to an end's column
};
__device__ __forceinline__ Places places_of(const Patch &p) {
  Places places;
#pragma unroll
  for (int row = 0; row < ROWS; row++) places.rows[row] = row_in_grid(p, row - ROWS_BEFORE) + p.x;
#pragma unroll
  for (int distance = 1; distance <= FURTHEST; distance++) {
    places.ends[distance - 1] = column_in_grid(p, end_at(p, distance).x) - p.x;
  }
  return places;
}

// Whether a place is negative, which never happens. The compiler does not know that, so it computes all places before the answer is used.
__device__ __forceinline__ bool has_negative(const Patch &p, const Places &places) {
  index_t all = 0;
#pragma unroll
  for (int row = 0; row < ROWS; row++) all |= places.rows[row];
#pragma unroll
  for (int distance = 1; distance <= FURTHEST; distance++) {
    if (IS_SHUFFLED) all |= places.ends[distance - 1] + p.x;
  }
  return all < 0;
}
#else
// ---- for rules that differ between ends or inputs or change values, and for fields whose place depends on the axes: a thread whose window
// reaches beyond the grid reads point by point

// The places of the window's rows. Along the axis they may lie beyond the grid. If the axis is x, the box's last row replaces rows behind it.
struct Place {
  index_t y, z;
};
struct Places {
  Place rows[ROWS];
};
__device__ __forceinline__ Places places_of(const Patch &p) {
  Places places;
#pragma unroll
  for (int row = 0; row < ROWS; row++) {
    const index_t y = p.y_of(row - ROWS_BEFORE);
    places.rows[row] = {AXIS == 0 ? smaller(y, p.g.y1 - 1) : y, p.z_of(row - ROWS_BEFORE)};
  }
  return places;
}

// Whether all rows lie in the grid.
__device__ __forceinline__ bool has_rows(const Patch &p) {
  if (AXIS == 1) return p.y >= LOW_Y && p.y + POINTS + HIGH_Y <= p.g.ny;
  if (AXIS == 2) return p.z >= LOW_Z && p.z + POINTS + HIGH_Z <= p.g.nz;
  return true;
}
#endif

#if PLAIN_ENDS && !USES_AXES
// ---- loads. An element is given as an x in row 0 of plane 0.

// Read a column that may lie beyond the grid.
__device__ __forceinline__ real read_column(const Patch &p, int input, index_t place, index_t x) {
  return is_zero_column(p, x) ? real(0) : read_point(p.f, input, p.g, place - p.x + column_in_grid(p, x), 0, 0);
}

// Read the VECTOR columns of the patch in a row of the window.
template <bool IS_WHOLE>
__device__ __forceinline__ void read_own(const Patch &p, int input, index_t place, real (&values)[VECTOR]) {
  if (IS_WHOLE) {
    read_vector(p.f, input, p.g, place, 0, 0, values);
  } else {
#pragma unroll
    for (int lane = 0; lane < VECTOR; lane++) values[lane] = read_column(p, input, place, p.x + lane);
  }
}
#else
__device__ __forceinline__ bool is_zero_row(const Patch &, int) { return false; }  // the rules give the value of each point

// The value that taps read in a column. The column and the row may lie beyond the grid.
__device__ __forceinline__ real read_column(const Patch &p, int input, const Place &place, index_t x) {
  return read_image(p.f, input, p.g, used_column(p, x), place.y, place.z);
}
template <bool IS_WHOLE>
__device__ __forceinline__ void read_own(const Patch &p, int input, const Place &place, real (&values)[VECTOR]) {
  if (IS_WHOLE) {
    read_vector(p.f, input, p.g, p.x, place.y, place.z, values);
  } else {
#pragma unroll
    for (int lane = 0; lane < VECTOR; lane++) values[lane] = read_column(p, input, place, p.x + lane);
  }
}
#endif
template <bool IS_WHOLE> __device__ __forceinline__ void read_rows(const Patch &p, const Places &places, Window &w) {
#pragma unroll
  for (int slot = 0; slot < STAGED; slot++) {
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
      real own[VECTOR] = {};
      if (!is_zero_row(p, row - ROWS_BEFORE)) read_own<IS_WHOLE>(p, staged_input(slot), places.rows[row], own);
#pragma unroll
      for (int lane = 0; lane < VECTOR; lane++) w.staged[slot][row][LOW_X + lane] = own[lane];
    }
  }
#if INPUTS > STAGED
#pragma unroll
  for (int input = 0; input < INPUTS; input++) {
    if (staged_slot(input) >= 0) continue;
#pragma unroll
    for (int row = 0; row < POINTS; row++) read_own<IS_WHOLE>(p, input, places.rows[ROWS_BEFORE + row], w.others[input][row]);
  }
#endif
}

// Read the columns beside the patch, for BESIDE_LOAD.
#if PLAIN_ENDS && !USES_AXES
__device__ __forceinline__ void read_beside(const Patch &p, int input, index_t place, real (&row)[COLUMNS]) {
#else
__device__ __forceinline__ void read_beside(const Patch &p, int input, const Place &place, real (&row)[COLUMNS]) {
#endif
  constexpr int before = divide_up(LOW_X, VECTOR), behind = divide_up(HIGH_X, VECTOR);  // vectors
  if (p.x >= before*VECTOR && p.x + (1 + behind)*VECTOR <= p.g.nx) {
#pragma unroll
    for (int group = -before; group <= behind; group++) {
      if (group == 0) continue;
      real values[VECTOR];
#if PLAIN_ENDS && !USES_AXES
      read_vector(p.f, input, p.g, place + group*VECTOR, 0, 0, values);
#else
      read_vector(p.f, input, p.g, p.x + group*VECTOR, place.y, place.z, values);
#endif
#pragma unroll
      for (int lane = 0; lane < VECTOR; lane++) {
        const int column = LOW_X + group*VECTOR + lane;
        if (column >= 0 && column < COLUMNS) row[column] = values[lane];
      }
    }
    return;
  }
#pragma unroll
  for (int column = 0; column < COLUMNS; column++) {
    if (column >= LOW_X && column < LOW_X + VECTOR) continue;
    row[column] = read_column(p, input, place, p.x - LOW_X + column);
  }
}

// The columns that lanes at the ends of a row load for BESIDE_SHUFFLE, by distance.
struct Ends {
  real values[at_least_one(FURTHEST)];
};
#if PLAIN_ENDS && !USES_AXES
__device__ __forceinline__ Ends read_ends(const Patch &p, int input, index_t place, const Places &places) {
  Ends ends = {};
#pragma unroll
  for (int distance = 1; distance <= FURTHEST; distance++) {
    const End end = end_at(p, distance);
    if ((end.is_first || end.is_last) && !is_zero_column(p, end.x)) {
      ends.values[distance - 1] = read_point(p.f, input, p.g, place + places.ends[distance - 1], 0, 0);
    }
  }
  return ends;
}
#else
__device__ __forceinline__ Ends read_ends(const Patch &p, int input, const Place &place, const Places &) {
  Ends ends = {};
#pragma unroll
  for (int distance = 1; distance <= FURTHEST; distance++) {
    const End end = end_at(p, distance);
    if (end.is_first || end.is_last) ends.values[distance - 1] = read_column(p, input, place, end.x);
  }
  return ends;
}
#endif

// Fill in the columns beside the patch. All lanes of the warp call this when they have loaded their own columns.
__device__ __forceinline__ void shuffle_beside(const Patch &p, const Ends &ends, real (&row)[COLUMNS]) {
#pragma unroll
  for (int distance = 1; distance <= LOW_X; distance++) {
    const int away = divide_up(distance, VECTOR);
    const real value = __shfl_up_sync(everyone, row[LOW_X + away*VECTOR - distance], away, LANES);
    row[LOW_X - distance] = end_at(p, distance).is_first ? ends.values[distance - 1] : value;
  }
#pragma unroll
  for (int distance = 1; distance <= HIGH_X; distance++) {
    const int away = divide_up(distance, VECTOR);
    const real value = __shfl_down_sync(everyone, row[LOW_X + VECTOR - 1 - away*VECTOR + distance], away, LANES);
    row[LOW_X + VECTOR - 1 + distance] = end_at(p, distance).is_last ? ends.values[distance - 1] : value;
  }
}

// Whether all columns of the patch lie in the grid. This is always true if rows end with a patch, or, for lanes that shuffle, with a
// block's patches. A grid that the compiler knows then needs no branch.
__device__ __forceinline__ bool is_whole(const Patch &p) {
  const bool all_are = IS_SHUFFLED ? p.g.x0 == 0 && p.g.nx%(BLOCK_X*VECTOR) == 0 : p.g.nx%VECTOR == 0;
  return all_are || p.x + VECTOR <= p.g.nx;
}

// Fill in the columns beside the patch in all rows if the axis is x. Lanes that shuffle load all ends before the first exchange.
__device__ __forceinline__ void shuffle_all_beside(const Patch &p, const Places &places, Window &w) {
  Ends ends[STAGED][ROWS];
#pragma unroll
  for (int slot = 0; slot < STAGED; slot++) {
#pragma unroll
    for (int row = 0; row < ROWS; row++) ends[slot][row] = read_ends(p, staged_input(slot), places.rows[row], places);
  }
#pragma unroll
  for (int slot = 0; slot < STAGED; slot++) {
#pragma unroll
    for (int row = 0; row < ROWS; row++) shuffle_beside(p, ends[slot][row], w.staged[slot][row]);
  }
}
__device__ __forceinline__ void read_all_beside(const Patch &p, const Places &places, Window &w) {
#pragma unroll
  for (int slot = 0; slot < STAGED; slot++) {
#pragma unroll
    for (int row = 0; row < ROWS; row++) read_beside(p, staged_input(slot), places.rows[row], w.staged[slot][row]);
  }
}

__device__ __forceinline__ void read_window(const Patch &p, const Places &places, Window &w) {
#if PLAIN_ENDS && !USES_AXES
  if (is_whole(p)) read_rows<true>(p, places, w);
#else
  if (is_whole(p) && has_rows(p)) read_rows<true>(p, places, w);
#endif
  else read_rows<false>(p, places, w);
  if (IS_SHUFFLED) shuffle_all_beside(p, places, w);
  else if (AXIS == 0) read_all_beside(p, places, w);
}

// ---- results

struct WindowTaps {
  const Window &w;
  int row, lane;
  __device__ __forceinline__ real operator()(int input, int dx, int dy, int dz) const {
    const int slot = staged_slot(input);
#if INPUTS > STAGED
    if (slot < 0) return w.others[input][row][lane];
#endif
    return w.staged[slot][ROWS_BEFORE + row + dy + dz][LOW_X + lane + dx];
  }
};

#if ADDRESSES == ADDRESSES_EARLY && AXIS == 0
// Write the lanes that lie in the box to the place from which the row was read. Both branches share its address, so that the compiler
// computes it before the results.
__device__ __forceinline__ void write_at(const Patch &p, index_t place, const real (&results)[OUTPUTS][VECTOR]) {
  const bool is_in_box = p.x >= p.g.x0 && p.x + VECTOR <= p.g.x1;
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) {
    if (is_in_box) {
      write_vector(p.f, o, p.g, place, 0, 0, results[o]);
      continue;
    }
#pragma unroll
    for (int lane = 0; lane < VECTOR; lane++) {
      const index_t x = p.x + lane;
      if (x >= p.g.x0 && x < p.g.x1) write_point(p.f, o, p.g, place + lane, 0, 0, results[o][lane]);
    }
  }
}
#endif
#if ADDRESSES == ADDRESSES_ONCE
// Write a vector of the box, or each of its points that lies in the box. The compiler then computes one address for both, before the results.
__device__ __forceinline__ void write_checked(const Patch &p, index_t y, index_t z, const real (&results)[OUTPUTS][VECTOR]) {
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) {
    if (p.x >= p.g.x0 && p.x + VECTOR <= p.g.x1) {
      write_vector(p.f, o, p.g, p.x, y, z, results[o]);
      continue;
    }
#pragma unroll
    for (int lane = 0; lane < VECTOR; lane++) {
      if (in_box(p.g, p.x + lane, y, z)) write_point(p.f, o, p.g, p.x + lane, y, z, results[o][lane]);
    }
  }
}
#endif

__device__ __forceinline__ void write_row(const Patch &p, int row, const real (&results)[OUTPUTS][VECTOR]) {
  const index_t y = p.y_of(row), z = p.z_of(row);
#if ADDRESSES == ADDRESSES_ONCE
  if (y < p.g.y1 && z < p.g.z1) write_checked(p, y, z, results);
#elif ADDRESSES == ADDRESSES_EARLY && AXIS == 0
  if (y < p.g.y1 && z < p.g.z1) write_at(p, row_in_grid(p, row) + p.x, results);
#else
  if (y < p.g.y1 && z < p.g.z1) write_results(p.f, p.g, p.x, y, z, results);
#endif
}

__device__ __forceinline__ void compute_patch(const Patch &p, const Coefficients &coefficients, const Window &w) {
#pragma unroll
  for (int row = 0; row < POINTS; row++) {
    real results[OUTPUTS][VECTOR];
    update_vector(WindowTaps{w, row, 0}, coefficients, results);
    write_row(p, row, results);
  }
}

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
#if OVERLAP
  launch_dependents();
#endif
  const Fields f = FIELDS;
  const unsigned block = AXIS == 2 ? blockIdx.z : blockIdx.y, thread = AXIS == 2 ? threadIdx.z : threadIdx.y;
  const index_t row = (index_t(block)*BLOCK_Y + index_t(thread))*POINTS;
  const Patch p = {f, g, (g.x0/VECTOR + index_t(blockIdx.x)*BLOCK_X + index_t(threadIdx.x))*VECTOR,
                   g.y0 + (AXIS == 2 ? index_t(blockIdx.y) : row), g.z0 + (AXIS == 2 ? row : index_t(blockIdx.z))};
  const bool has_points = p.x < g.x1 && p.y < g.y1 && p.z < g.z1;
  // If lanes shuffle, lanes without points still load values for other lanes.
  if (IS_SHUFFLED ? !__any_sync(everyone, has_points) : !has_points) return;
  const Places places = places_of(p);
#if ADDRESSES == ADDRESSES_EARLY
  if (has_negative(p, places)) return;
#endif
#if OVERLAP
  wait_for_previous();
#endif
  Window w;
  read_window(p, places, w);
  if (has_points) compute_patch(p, COEFFICIENT_VALUES, w);
}
