// pipeline_rows: a warp advances a strip of columns by STEPS time steps while it marches once through the rows. Each step is a stage of a
// pipeline. Registers hold sums instead of rows: a row that comes in is added to the sums of all rows that its taps reach, and is then
// dropped. The sums of a row are complete when the last of these rows has come in. The next stage takes this row in the same turn of the
// loop. Each warp has its own strips: a block needs no barrier. While row y of the input comes in, for reach 1:
//
//      stage 1   adds row y   to sums of y-1, y, y+1     and completes row y-1
//      stage 2   adds row y-1 to sums of y-2, y-1, y     and completes row y-2
//      ...
//      stage T   adds row y-T+1 ...                      and completes row y-T, which is written
//
// A lane owns POINTS neighbours in x. Shuffles fetch the points beside them from the next lanes. Each stage makes the outermost columns of
// a strip invalid. Strips overlap, and invalid columns are not written:
//
//      |<------------- 32*POINTS columns of a warp ------------->|
//      | MARGIN |            written            | at least ALL_HIGH_X |
//
// At the ends of the box nothing becomes invalid: points outside the box never change. Their sums are set to their own value, and no other
// point adds to them. Periodic images are loaded and computed like any point.
//
// Asynchronous copies bring rows to a ring of RING rows in shared memory, in the order of the columns.
//
// An update may be more than sums (FINISH_READS): finish() computes it from the sums, from the row itself, and from fields that no step
// changes, all at the point. Each stage then keeps rows until their sums are complete. Rows of fields come in with those of the input, and
// stay until the last stage has read them.
#ifndef HALOTUNE_PRELUDE
#include "example_rows.cuh"
#include "common.cuh"
#endif

#ifndef STEPS
#define STEPS 8
#define POINTS 8
#define WARPS 4
#define RING 4
#define VECTOR 4
#define STORE_BYTES 32
#define MIN_BLOCKS 2
#define UNROLL 1
#endif

constexpr int STRIP = 32*POINTS;

// MARGIN: invalid columns at the low end of a strip, rounded up to vectors. They are not written. STRIDE: the distance between the first
// columns of two strips.
constexpr int STORE_GRAIN = STORE_BYTES/int(sizeof(real)) < VECTOR ? VECTOR : STORE_BYTES/int(sizeof(real));
constexpr int MARGIN = round_up(ALL_LOW_X, VECTOR);
constexpr int STRIDE = (STRIP - MARGIN - ALL_HIGH_X)/STORE_GRAIN*STORE_GRAIN;

// Columns beyond the box that the strips at its ends load.
constexpr int BEFORE_X = IMAGES ? MARGIN : LOW_X, AFTER_X = IMAGES ? ALL_HIGH_X : HIGH_X;

// The number of fields that no step changes, and the rows of each that shared memory holds.
constexpr int FIELD_INPUTS = FINISH_READS ? INPUTS - 1 : 0, FIELD_ROWS = RING + ALL_HIGH_Y;
constexpr int CHANGED = staged_input(0), KEPT = FINISH_READS ? HIGH_Y : 1;
__device__ constexpr int field_input(int field) { return field < CHANGED ? field : field + 1; }

// Which points a turn tests for lying outside the box. NO_EDGE: none. EDGE_X: the outermost points, for a strip that ends LOW or HIGH
// columns beside the box. EDGE_ANY: all points, and the row, too.
enum Edge { NO_EDGE, EDGE_X, EDGE_ANY };

// A strip, the rows of it that this warp computes, and this lane's part.
struct Strip {
  const Fields &f;
  const Geometry &g;
  int lane;
  int x;                                  // the strip's first column
  int x_first, x_last, y_first, y_last;   // the warp writes x_first <= x < x_last and y_first <= y < y_last
  real *ring;                             // RING rows, and one more row for the output
  real *fields;                           // FIELD_ROWS rows of each field
  const Coefficients &coefficients;
};

// Whether one of the lane's points lies outside the box. EDGE says which points are tested.
template <Edge EDGE> __device__ __forceinline__ bool is_outside_x(const Strip &s, int point) {
  if (IMAGES || EDGE == NO_EDGE || (EDGE == EDGE_X && point >= LOW_X && point < POINTS - HIGH_X)) return false;
  const int x = s.x + s.lane*POINTS + point;
  return x < int(s.g.x0) || x >= int(s.g.x1);
}
template <Edge EDGE> __device__ __forceinline__ bool is_outside_y(const Strip &s, int y) {
  return !IMAGES && EDGE == EDGE_ANY && (y < int(s.g.y0) || y >= int(s.g.y1));
}

// Start to copy row y. Without images no result needs points beyond the grid: the nearest point replaces them.
template <Edge EDGE> __device__ __forceinline__ void request_row(const Strip &s, int y, int slot, int field_slot) {
  real *to = s.ring + slot*STRIP;
  const index_t in_y = IMAGES ? image_y(s.g, y) : min(index_t(y), s.g.ny - 1);
#pragma unroll
  for (int i = 0; i < POINTS/VECTOR; i++) {
    const int column = (i*32 + s.lane)*VECTOR;
    index_t x = s.x + column;
    if (EDGE != NO_EDGE && IMAGES) x = image_x(s.g, x);
    if (EDGE == EDGE_ANY && !IMAGES) x = min(x, s.g.nx - VECTOR);
    async_copy<VECTOR*int(sizeof(real))>(to + lane_place<POINTS>(column), s.f.in[CHANGED] + at(s.g, x, in_y, 0));
#pragma unroll
    for (int k = 0; k < FIELD_INPUTS; k++) {
      real *row = s.fields + (k*FIELD_ROWS + field_slot)*STRIP;
      async_copy<VECTOR*int(sizeof(real))>(row + lane_place<POINTS>(column), s.f.in[field_input(k)] + at(s.g, x, in_y, 0));
    }
  }
  async_commit();
}

// Write row y. It goes through shared memory, so that neighbouring lanes write neighbouring vectors.
template <Edge EDGE> __device__ __forceinline__ void write_row(const Strip &s, int y, const real (&row)[POINTS]) {
  real *shared = s.ring + RING*STRIP;
  __syncwarp();
  store_lane(shared, s.lane, row);
  __syncwarp();
#pragma unroll
  for (int i = 0; i < POINTS/VECTOR; i++) {
    const int column = (i*32 + s.lane)*VECTOR, x = s.x + column;
    const bool is_whole = x >= s.x_first && x + VECTOR <= s.x_last;
    real values[VECTOR];
    load_vector(shared + lane_place<POINTS>(column), values);
    if (is_whole) write_vector(s.f, 0, s.g, x, y, 0, values);
    if (EDGE != NO_EDGE && !is_whole) write_between(s.f, 0, s.g, x, y, 0, s.x_first, s.x_last, values);
  }
}

// Taps of one of the lane's points in the row that comes in.
struct RowTaps {
  const real (&near)[LOW_X + POINTS + HIGH_X];
  int point;
  __device__ __forceinline__ real operator()(int, int dx) const { return near[LOW_X + point + dx]; }
};

// The slot in the ring of the fields with the row that came in so many turns ago.
__device__ __forceinline__ int slot_before(int slot, int turns) { return slot >= turns ? slot - turns : slot - turns + FIELD_ROWS; }

// Add row y to the sums. The row that it completes replaces it in `row`. finish() computes this row from the sums, from its old values,
// which are the oldest row kept, and from the fields at field_slot.
template <Edge EDGE>
__device__ __forceinline__ void add_and_finish(const Strip &s, int y, int field_slot, const Weights &weights, real (&sums)[POINTS][FORMS][PLANES],
                                               real (&kept)[KEPT][POINTS], real (&row)[POINTS]) {
  real near[LOW_X + POINTS + HIGH_X], inputs[INPUTS][POINTS];
  find_near<32>(row, near);
#pragma unroll
  for (int k = 0; k < FIELD_INPUTS; k++) load_lane(s.fields + (k*FIELD_ROWS + field_slot)*STRIP, s.lane, inputs[field_input(k)]);
#pragma unroll
  for (int i = 0; i < POINTS; i++) {
    move_sums(sums[i]);
    add_row(0, RowTaps{near, i}, weights, sums[i]);
    inputs[CHANGED][i] = kept[KEPT - 1][i];
#pragma unroll
    for (int k = KEPT - 1; k > 0; k--) kept[k][i] = kept[k - 1][i];
    kept[0][i] = row[i];
    row[i] = finish(0, FinishTaps<POINTS>{inputs, i}, s.coefficients, sums[i]);
    if (is_outside_x<EDGE>(s, i) || is_outside_y<EDGE>(s, y - HIGH_Y)) row[i] = inputs[CHANGED][i];
  }
}

// Add row y to the sums. The row that it completes replaces it in `row`.
template <Edge EDGE>
__device__ __forceinline__ void add_to_sums(const Strip &s, int y, const Weights &weights, real (&sums)[POINTS][FORMS][PLANES],
                                            real (&row)[POINTS]) {
  real near[LOW_X + POINTS + HIGH_X];
  find_near<32>(row, near);
#pragma unroll
  for (int i = 0; i < POINTS; i++) {
    real before[PLANES];
    move_sums(sums[i]);
#pragma unroll
    for (int k = 0; k < PLANES; k++) before[k] = sums[i][0][k];
    add_row(0, RowTaps{near, i}, weights, sums[i]);
#pragma unroll
    for (int k = LOW_Y; k < PLANES; k++) {
      if (is_outside_x<EDGE>(s, i) || is_outside_y<EDGE>(s, y + LOW_Y - k)) sums[i][0][k] = k == LOW_Y ? row[i] : before[k];
    }
    row[i] = sums[i][0][PLANES - 1];
  }
}

// The state that a warp carries from turn to turn.
struct March {
  real sums[STAGE_COUNT][POINTS][FORMS][PLANES];
  real kept[STAGE_COUNT][KEPT][POINTS];
  int slot, field_slot;  // the places of the next row
};

// One turn: row y passes all stages, and row y - STEPS*HIGH_Y is written.
template <Edge EDGE> __device__ __forceinline__ void take_row(const Strip &s, int y, const Weights &weights, March &m) {
  real row[POINTS];
  async_wait<RING - 2>();
  __syncwarp();  // lanes copied for each other
  load_lane(s.ring + m.slot*STRIP, s.lane, row);
  __syncwarp();
  request_row<EDGE>(s, y + RING - 1, m.slot == 0 ? RING - 1 : m.slot - 1, slot_before(m.field_slot, FIELD_ROWS - RING + 1));
  m.slot = m.slot == RING - 1 ? 0 : m.slot + 1;
#pragma unroll
  for (int stage = 0; stage < STAGE_COUNT; stage++) {
    if (FINISH_READS) {
      add_and_finish<EDGE>(s, y - sum_first(stage, STAGE_HIGH_Y), slot_before(m.field_slot, sum_first(stage + 1, STAGE_HIGH_Y)), weights, m.sums[stage], m.kept[stage], row);
    } else {
      add_to_sums<EDGE>(s, y - sum_first(stage, STAGE_HIGH_Y), weights, m.sums[stage], row);
    }
  }
  m.field_slot = m.field_slot == FIELD_ROWS - 1 ? 0 : m.field_slot + 1;
  const int done = y - ALL_HIGH_Y;
  if (done >= s.y_first) write_row<EDGE>(s, done, row);
}

// The march has at most three parts: rows near the box's first row, rows in the middle, and rows near its last row.
__device__ __forceinline__ void march(const Strip &s, const Weights &weights) {
  const Geometry &g = s.g;
  March m = {};
  const int begin = IMAGES ? s.y_first - ALL_LOW_Y : max(s.y_first - ALL_LOW_Y, int(g.y0) - of_stage(0, STAGE_LOW_Y)), end = s.y_last + ALL_HIGH_Y;
  const bool is_inside = s.x >= g.x0 && s.x + STRIP <= g.x1;
  const bool is_regular = IMAGES || (s.x + LOW_X >= g.x0 && s.x + STRIP <= g.x1 + HIGH_X);
  const int middle_first = IMAGES ? begin : is_regular ? min(end, int(g.y0) + ALL_HIGH_Y) : end;
  const int middle_last = IMAGES ? end : min(end, int(g.y1));
  int y = begin;
#pragma unroll
  for (int i = 0; i < RING - 1; i++) request_row<EDGE_ANY>(s, begin + i, i, i);
#pragma unroll 1
  for (int part = 0; part < 2; part++) {
    const int until = part == 0 ? middle_first : end;
#pragma unroll 1
    for (; y < until; y++) take_row<EDGE_ANY>(s, y, weights, m);
    if (is_inside) {  // if several turns are unrolled, the compiler copies fewer registers at the end of a turn
#if UNROLL == 1
#pragma unroll 1
#else
#pragma unroll UNROLL
#endif
      for (; y < middle_last; y++) take_row<NO_EDGE>(s, y, weights, m);
    } else {
#pragma unroll 1
      for (; y < middle_last; y++) take_row<EDGE_X>(s, y, weights, m);
    }
  }
  async_wait<0>();
}

// A place in all strips, arranged one below the other. A row of the first or last strip costs EDGE_COST eighths of another row, because the
// ends of the box need additional instructions.
struct Place {
  int strip, row;
};
constexpr int EDGE_COST = IMAGES ? 8 : sizeof(real) == 8 ? 10 : 9;
__device__ __forceinline__ Place place_of(long long eighths, int strips, int rows) {
  const long long edge = (long long)rows*EDGE_COST, inner = (long long)rows*8;
  if (eighths < edge || strips == 1) return {0, int(eighths/EDGE_COST)};
  const int strip = 1 + int((eighths - edge)/inner);
  if (strip < strips - 1) return {strip, int((eighths - edge - (strip - 1)*inner)/8)};
  return {strips - 1, int((eighths - edge - (strips - 2)*inner)/EDGE_COST)};
}

// The warps of the grid share out all rows of all strips evenly. So a warp may end one strip and begin the next.
extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  const int lane = threadIdx.x%32, warp = threadIdx.x/32, rows = int(g.y1 - g.y0);
  const int low = (int(g.x0) - BEFORE_X)/VECTOR*VECTOR, high = round_up(int(g.x1) + AFTER_X, VECTOR) - STRIP;
  const int base = (MARGIN + low)/STORE_GRAIN*STORE_GRAIN;
  const int strips = max(1, 1 + divide_up(high + MARGIN - base, STRIDE));
  const long long total = (long long)rows*(strips == 1 ? EDGE_COST : 2*EDGE_COST + 8*(strips - 2));
  const long long warps = (long long)gridDim.x*WARPS, number = (long long)warp*gridDim.x + blockIdx.x;
  real *shared = SHARED_MEMORY(real) + warp*((RING + 1 + FIELD_INPUTS*FIELD_ROWS)*STRIP);
  Place next = place_of(total*number/warps, strips, rows);
  const Place end = place_of(total*(number + 1)/warps, strips, rows);
#pragma unroll 1
  for (; next.strip <= end.strip && next.strip < strips; next = {next.strip + 1, 0}) {
    const int last = next.strip < end.strip ? rows : end.row, left = base + next.strip*STRIDE;
    if (next.row >= last) continue;
    const Strip s = {f, g, lane, max(min(left - MARGIN, high), low), next.strip == 0 ? int(g.x0) : left,
                     next.strip == strips - 1 ? int(g.x1) : left + STRIDE, int(g.y0) + next.row, int(g.y0) + last,
                     shared, shared + (RING + 1)*STRIP, COEFFICIENT_VALUES};
    march(s, weights_of(COEFFICIENT_VALUES));
  }
}
