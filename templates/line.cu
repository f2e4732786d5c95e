// line: each thread computes a patch, with all values that the patch needs in registers. No shared memory, no barrier.
//
// A patch is VECTOR neighbours in x times POINTS rows, which follow each other along the axis of all taps, in y where that is x.
// The thread loads the patch's window, the patch and the reach of the taps, before it uses any of it. Axis y, VECTOR 2,
// POINTS 3, reach 1:
//
//      x -->      row -1   w w      each row is a vector, and beyond the grid that of its image: no row needs a loop or a path of
//                 row  0   p p      its own. What the windows of neighbouring threads share they find in the L1 cache.
//                 row  1   p p
//                 row  2   p p
//                 row  3   w w
//
// Where the axis is x, the window is wider than the patch: VECTOR 2, reach 3, rows of 4 lanes:
//
//      | t0 t0 | t1 t1 | t2 t2 | t3 t3 |      BESIDE_SHUFFLE: t1 gets what lies beside its vector from t0, t2 and t3, and loads
//        w   w   p  p    w  w    w            itself the one value that lies before t0. BESIDE_LOAD: it loads all of that again.
//
// With BESIDE_SHUFFLE a lane beyond the end of a row holds the images of the points there.
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
#endif

// The rows and columns of a window. All taps lie on one axis, so that the reach along the others is 0.
constexpr int ROWS_BEFORE = LOW_Y + LOW_Z, ROWS = ROWS_BEFORE + POINTS + HIGH_Y + HIGH_Z, COLUMNS = LOW_X + VECTOR + HIGH_X;
constexpr int FURTHEST = LOW_X > HIGH_X ? LOW_X : HIGH_X;  // column beside the patch
constexpr bool IS_SHUFFLED = AXIS == 0 && BESIDE == BESIDE_SHUFFLE;
constexpr int LANES = BLOCK_X < 32 ? BLOCK_X : 32;  // of a warp that have the same row
constexpr unsigned everyone = 0xffffffffu;  // of the lanes of a warp

__device__ __forceinline__ index_t smaller(index_t a, index_t b) { return a < b ? a : b; }

// The thread's patch: its first point. Where lanes shuffle, it may lie behind the box in x and y.
struct Patch {
  const Fields &f;
  const Geometry &g;
  index_t x, y, z;
  __device__ __forceinline__ index_t y_of(int row) const { return y + (AXIS == 2 ? 0 : row); }
  __device__ __forceinline__ index_t z_of(int row) const { return z + (AXIS == 2 ? row : 0); }
};

// What a thread has in registers: staged inputs with the reach of the taps, the others at the points of the patch.
struct Window {
  real staged[STAGED][ROWS][COLUMNS];
#if INPUTS > STAGED
  real others[INPUTS][POINTS][VECTOR];
#endif
};

#if PLAIN_ENDS && !USES_AXES
// ---- where the window is read

// The row in place of one that lies beyond the grid: along the axis its image, else the last one of the box.
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

// The same for a column. What lies behind all taps of the box is not used; the last column that is used stands for it.
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

// For BESIDE_SHUFFLE, a lane has the column at a distance from this lane's own, divide_up(distance, VECTOR) lanes away. Lanes at the ends
// of their part of a row read themselves what no lane has. None is near both ends, so that there is one such column at each distance.
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
// Numbers of elements and columns, which need no input.
struct Places {
  index_t rows[ROWS];                    // of the patch's first column in each row
  index_t ends[at_least_one(FURTHEST)];  // for BESIDE_SHUFFLE, how far behind it the column of an end is
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
#else
// ---- where rules differ between ends or inputs or change values, or the axes tell where a field lies: a thread whose window reaches beyond
// the grid looks up point by point

// Where the rows of the window lie, also beyond the grid along the axis. Else the last row of the box stands for those behind it.
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
// ---- loads. The number of an element is an x in row 0 of plane 0.

// One of the columns that may lie beyond the grid.
__device__ __forceinline__ real read_column(const Patch &p, int input, index_t place, index_t x) {
  return is_zero_column(p, x) ? real(0) : read_point(p.f, input, p.g, place - p.x + column_in_grid(p, x), 0, 0);
}

// The VECTOR columns of the patch in a row of the window.
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
__device__ __forceinline__ bool is_zero_row(const Patch &, int) { return false; }  // rules have the value of each point

// What taps read in a column, which may lie beyond the grid, as the row may.
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

// The columns beside the patch, for BESIDE_LOAD.
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

// What lanes at the ends read for BESIDE_SHUFFLE, by distance.
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

// Fill in the columns beside the patch: all lanes of the warp, when all have their own.
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

// Whether the patch's columns all lie in the grid. Where rows end with a block's patches, or with a patch, all do, and a built-in
// grid needs no branch.
__device__ __forceinline__ bool is_whole(const Patch &p) {
  const bool all_are = IS_SHUFFLED ? p.g.x0 == 0 && p.g.nx%(BLOCK_X*VECTOR) == 0 : p.g.nx%VECTOR == 0;
  return all_are || p.x + VECTOR <= p.g.nx;
}

// Where the axis is x, what lies beside the patch in all rows. Lanes that shuffle read all ends before they exchange any.
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

__device__ __forceinline__ void write_row(const Patch &p, int row, const real (&results)[OUTPUTS][VECTOR]) {
  const index_t y = p.y_of(row), z = p.z_of(row);
  if (y < p.g.y1 && z < p.g.z1) write_results(p.f, p.g, p.x, y, z, results);
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
  // Where lanes shuffle, those without points still read for others.
  if (IS_SHUFFLED ? !__any_sync(everyone, has_points) : !has_points) return;
  const Places places = places_of(p);
#if OVERLAP
  wait_for_previous();
#endif
  Window w;
  read_window(p, places, w);
  if (has_points) compute_patch(p, COEFFICIENT_VALUES, w);
}
