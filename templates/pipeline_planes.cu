// pipeline_planes: a block advances a tile by STEPS time steps while it marches once through the planes. Each step is a stage of a
// pipeline. Registers hold sums instead of planes: a plane that comes in is added to the sums of all planes that its taps reach, and is
// then dropped. The sums of a plane are complete when the last of these planes has come in. The next stage takes this plane in the same
// turn of the loop. While plane z of the input comes in, for reach 1:
//
//      stage 1   adds plane z   to sums of z-1, z, z+1     and completes plane z-1
//      stage 2   adds plane z-1 to sums of z-2, z-1, z     and completes plane z-2
//      ...
//      stage T   adds plane z-T+1 ...                      and completes plane z-T, which is written
//
// A warp owns strips of ROWS rows. A lane owns POINTS neighbours in x of each row of its strip:
//
//      x -->     |0 0|1 1|2 2|3 3|      strip 0, by the number of the lane     POINTS 2, ROWS 2, LANES_X 4
//                |0 0|1 1|2 2|3 3|
//      y         |4 4|5 5|6 6|7 7|      strip 1
//                |4 4|5 5|6 6|7 7|
//
// Shuffles fetch neighbours in x from the next lanes. Neighbours in y come from the lane's own rows. The first and last rows of a strip
// also go to the strips beside it, through shared memory. They arrive one turn late, so that one barrier a turn serves all stages. A star
// adds its own rows at once, and the late rows in the next turn: the sums of their plane wait for a later plane anyway. Other shapes (HOLD)
// need the rows of all strips before the sums of the plane before are complete. So each stage holds a plane until its late rows are there,
// and stages are one plane further apart. While plane z comes in, for reach 1:
//
//      stage 1   holds plane z;    adds z-1   to sums of z-2, z-1, z       and completes z-2
//      stage 2   holds plane z-2;  adds z-3   to sums of z-4, z-3, z-2     and completes z-4
//      ...
//
// BARRIER says where a warp waits for the others. BARRIER_WHOLE: all warps begin a turn together. BARRIER_SPLIT: a warp arrives at the
// barrier when it has sent all rows of a turn, before the last stage computes. It waits when the first stage of the next turn has added its
// own rows. Meanwhile no warp is idle:
//
//      turn   | stage 1: own rows | wait | late rows, send | stages 2 ... T-1 | stage T: late rows, send | arrive | own rows |
//
// Each stage makes the outermost points of a tile invalid. Tiles overlap, and invalid points are not written. At the ends of the box
// nothing becomes invalid: points outside the box never change. OUTSIDE says where their values are kept. OUTSIDE_SHARED: after each stage,
// the points of the input replace them; the input stays in shared memory until the last stage but one has passed it. OUTSIDE_LANES: the
// same, but only lanes that have such points read the input again. OUTSIDE_SUMS: their sums are set to their own value, and no other point
// adds to them. Periodic images are loaded and computed like any point.
//
// COPIES says who copies planes of the input to shared memory. COPIES_BLOCK: each lane copies its own points, at the beginning of a turn.
// COPIES_ENGINE: one thread asks the copy engine for the whole plane of the tile, through a tensor map, when all warps have ended the turn
// before and so have left the slot of the ring.
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#include "common.cuh"
#endif

#ifndef STEPS
#define STEPS 4
#define POINTS 4
#define ROWS 4
#define LANES_X 16
#define WARPS 8
#define CHUNKS 3
#define LAST_CHUNK 100
#define RING 3
#define VECTOR 4
#define STORE_BYTES 16
#define OUTSIDE_SHARED 0
#define OUTSIDE_SUMS 1
#define OUTSIDE_LANES 2
#define OUTSIDE OUTSIDE_SHARED
#define BARRIER_WHOLE 0
#define BARRIER_SPLIT 1
#define BARRIER BARRIER_SPLIT
#define WEIGHTS_EACH 0
#define WEIGHTS_GROUPED 1
#define WEIGHTS WEIGHTS_EACH
#define COPIES_BLOCK 0
#define COPIES_ENGINE 1
#define COPIES COPIES_BLOCK
#endif

constexpr int TILE_X = LANES_X*POINTS, STRIPS = WARPS*(32/LANES_X), TILE_Y = STRIPS*ROWS;

// MARGIN: invalid points at the low end of a tile, along x rounded up to vectors. They are not written. STRIDE: the distance between the
// first points of two tiles.
constexpr int STORE_GRAIN = STORE_BYTES/int(sizeof(real)) < VECTOR ? VECTOR : STORE_BYTES/int(sizeof(real));
constexpr int MARGIN_X = round_up(ALL_LOW_X, VECTOR), MARGIN_Y = ALL_LOW_Y;
constexpr int STRIDE_X = (TILE_X - MARGIN_X - ALL_HIGH_X)/STORE_GRAIN*STORE_GRAIN, STRIDE_Y = TILE_Y - MARGIN_Y - ALL_HIGH_Y;

// Points beyond the box that the tiles at its ends load.
constexpr int BEFORE_X = IMAGES ? MARGIN_X : LOW_X, AFTER_X = IMAGES ? ALL_HIGH_X : HIGH_X;
constexpr int BEFORE_Y = IMAGES ? MARGIN_Y : LOW_Y, AFTER_Y = IMAGES ? ALL_HIGH_Y : HIGH_Y;

// LAG: how many planes a stage is behind the stage before it.
constexpr PerStage HOLD = !STAR, LAG = STAGE_HIGH_Z + HOLD;

// Shared memory: a ring of planes of the tile, and two inboxes, used in turn. The ring has RING planes that come in, and planes that stages
// still need. An inbox holds the neighbours' rows for each stage and strip.
constexpr int SLOTS = RING + (IMAGES || OUTSIDE == OUTSIDE_SUMS ? 0 : sum_first(STAGE_COUNT - 1, LAG));
constexpr int PLANE_ELEMENTS = TILE_X*TILE_Y, NEAR_ROWS = LOW_Y + HIGH_Y, INBOX_ELEMENTS = STRIPS*NEAR_ROWS*TILE_X;

constexpr bool ENGINE = COPIES == COPIES_ENGINE;

// Which points a turn tests for lying outside the box. NO_EDGE: none. EDGE_XY: the outermost points, for a tile that ends LOW or HIGH
// points beside the box. EDGE_ANY: all points, and the plane, too.
enum Edge { NO_EDGE, EDGE_XY, EDGE_ANY };

// A tile, the planes of it that this block computes, and this lane's part.
struct Tile {
  const Fields &f;
  const Geometry &g;
  int lane, strip;                                            // the lane's number in its row; its strip
  int x, y;                                                   // the tile's first point
  int z_first, z_last;                                        // planes that are written: z_first <= z < z_last
  unsigned whole, cut;                                        // whole: a bit for each of the lane's points that is written with its
                                                              // vector; cut: a bit for each that is written alone
  unsigned outside;                                           // a bit for each of the lane's points that lies outside the box
  unsigned outside_x[POINTS], outside_y[ROWS];                // of the lane's columns and rows: all bits are set if it lies outside the box
  real *ring, *inbox;
  index_t image_x[IMAGES ? POINTS/VECTOR : 1], image_y[IMAGES ? ROWS : 1];  // with images: the columns and rows that the lane copies
};

// A turn of the march.
struct Turn {
  int z;         // the plane that comes in
  int slot;      // the slot of the ring with this plane
  int inbox;     // the inbox, of the two, that receives rows now
  index_t next;  // the plane of the grid that is copied next
#if COPIES == COPIES_ENGINE
  unsigned phase;  // of the barriers of slots, which is complete when the plane has come in
#endif
};

__device__ __forceinline__ bool has(unsigned bits, int number) { return bits >> number & 1; }

// Whether a turn tests this column or row for lying outside the box.
__device__ constexpr bool may_lie_outside(Edge edge, int number, int count, int low, int high) {
  return edge == EDGE_ANY || (edge == EDGE_XY && (number < low || number >= count - high));
}

// Whether the sums of a point of plane z keep the point's value.
template <Edge EDGE> __device__ __forceinline__ bool is_kept(const Tile &t, int row, int point, int z) {
  if (IMAGES || OUTSIDE != OUTSIDE_SUMS) return false;
  if (EDGE == EDGE_ANY && (z < int(t.g.z0) || z >= int(t.g.z1))) return true;
  const bool may_lie = may_lie_outside(EDGE, point, POINTS, LOW_X, HIGH_X) || may_lie_outside(EDGE, row, ROWS, LOW_Y, HIGH_Y);
  return may_lie && has(t.outside, row*POINTS + point);
}

// Start to copy the next plane. Without images no result needs points beyond the grid: the nearest point replaces them.
template <Edge EDGE> __device__ __forceinline__ void request_plane(const Tile &t, int slot, index_t &next) {
  real *to = t.ring + slot*PLANE_ELEMENTS + t.strip*ROWS*TILE_X;
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
#pragma unroll
    for (int i = 0; i < POINTS/VECTOR; i++) {
      const int column = (i*LANES_X + t.lane)*VECTOR;
      index_t x = t.x + column, y = t.y + t.strip*ROWS + j;
      if (IMAGES) x = t.image_x[i], y = t.image_y[j];
      else if (EDGE == EDGE_ANY) x = min(x, t.g.nx - VECTOR), y = min(y, t.g.ny - 1);
      async_copy<VECTOR*int(sizeof(real))>(to + j*TILE_X + lane_place<POINTS>(column), t.f.in[0] + at(t.g, x, y, next));
    }
  }
  async_commit();
  next = next + 1 < t.g.nz ? next + 1 : IMAGES ? 0 : next;
}

// Taps of one of the lane's points: in its own row, and in a row beside it, where a star reads only the same x.
struct OwnRowTaps {
  const real (&near)[LOW_X + POINTS + HIGH_X];
  int point;
  __device__ __forceinline__ real operator()(int, int dx) const { return near[LOW_X + point + dx]; }
};
struct NearRowTaps {
  const real (&row)[POINTS];
  int point;
  __device__ __forceinline__ real operator()(int, int) const { return row[point]; }
};

// Add the late rows: rows of plane z, which came in one turn before, from the strips beside this one.
template <Edge EDGE>
__device__ __forceinline__ void add_late_rows(const Tile &t, int z, const real *inbox, const Weights &weights,
                                              real (&sums)[ROWS][POINTS][FORMS][PLANES]) {
#pragma unroll
  for (int k = 0; k < NEAR_ROWS; k++) {
    const int number = k < LOW_Y ? k - LOW_Y : ROWS + k - LOW_Y;  // counted from the strip's first row
    real row[POINTS];
    load_lane(inbox + (t.strip*NEAR_ROWS + k)*TILE_X, t.lane, row);
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
      if (number - j < -LOW_Y || number - j > HIGH_Y) continue;
#pragma unroll
      for (int i = 0; i < POINTS; i++) {
        const real before = sums[j][i][0][LOW_Z];
        add_row(number - j, NearRowTaps{row, i}, weights, sums[j][i]);
        if (is_kept<EDGE>(t, j, i, z)) sums[j][i][0][LOW_Z] = before;
      }
    }
  }
}

// Send the strip's first and last rows to the strips beside it.
__device__ __forceinline__ void send_rows(const Tile &t, real *inbox, const real (&plane)[ROWS][POINTS]) {
  if (t.strip > 0) {
#pragma unroll
    for (int k = 0; k < HIGH_Y; k++) store_lane(inbox + ((t.strip - 1)*NEAR_ROWS + LOW_Y + k)*TILE_X, t.lane, plane[k]);
  }
  if (t.strip < STRIPS - 1) {
#pragma unroll
    for (int k = 0; k < LOW_Y; k++) store_lane(inbox + ((t.strip + 1)*NEAR_ROWS + k)*TILE_X, t.lane, plane[ROWS - LOW_Y + k]);
  }
}

// Undo what plane z added to the sums of a point that keeps its value.
template <Edge EDGE>
__device__ __forceinline__ void keep_sums(const Tile &t, int row, int point, int z, real own, const real (&before)[PLANES], real (&sums)[FORMS][PLANES]) {
#pragma unroll
  for (int k = LOW_Z; k < PLANES; k++) {
    if (is_kept<EDGE>(t, row, point, z + LOW_Z - k)) sums[0][k] = k == LOW_Z ? own : before[k];
  }
}

// Add plane z to the sums. The plane that it completes replaces it in `plane`.
template <Edge EDGE>
__device__ __forceinline__ void add_own_rows(const Tile &t, int z, const Weights &weights, real (&sums)[ROWS][POINTS][FORMS][PLANES],
                                             real (&plane)[ROWS][POINTS]) {
  real complete[ROWS][POINTS];
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
    real near[LOW_X + POINTS + HIGH_X];
    find_near<LANES_X>(plane[j], near);
#pragma unroll
    for (int i = 0; i < POINTS; i++) {
      real before[PLANES];
      move_sums(sums[j][i]);
#pragma unroll
      for (int k = 0; k < PLANES; k++) before[k] = sums[j][i][0][k];
#pragma unroll
      for (int dy = -LOW_Y; dy <= HIGH_Y; dy++) {
        if (dy == 0) add_row(0, OwnRowTaps{near, i}, weights, sums[j][i]);
        else if (j + dy >= 0 && j + dy < ROWS) add_row(dy, NearRowTaps{plane[j + dy], i}, weights, sums[j][i]);
      }
      keep_sums<EDGE>(t, j, i, z, plane[j][i], before, sums[j][i]);
      complete[j][i] = sums[j][i][0][PLANES - 1];
    }
  }
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
#pragma unroll
    for (int i = 0; i < POINTS; i++) plane[j][i] = complete[j][i];
  }
}

// Taps of one of the lane's points in a plane with the rows of the strips beside it.
struct PlaneTaps {
  const real (&near)[LOW_Y + ROWS + HIGH_Y][LOW_X + POINTS + HIGH_X];
  int row, point;
  __device__ __forceinline__ real operator()(int, int dx, int dy) const { return near[LOW_Y + row + dy][LOW_X + point + dx]; }
};

// Add plane z to the sums: `plane` has the strip's own rows, `inbox` those of the strips beside it. `complete` receives the completed plane.
template <Edge EDGE>
__device__ __forceinline__ void add_plane_with_rows(const Tile &t, int z, const real *inbox, const Weights &weights,
                                                    real (&sums)[ROWS][POINTS][FORMS][PLANES], const real (&plane)[ROWS][POINTS],
                                                    real (&complete)[ROWS][POINTS]) {
  real near[LOW_Y + ROWS + HIGH_Y][LOW_X + POINTS + HIGH_X];
#pragma unroll
  for (int k = 0; k < LOW_Y + ROWS + HIGH_Y; k++) {
    real row[POINTS];
    if (k >= LOW_Y && k < LOW_Y + ROWS) {
      find_near<LANES_X>(plane[k - LOW_Y], near[k]);
    } else {
      load_lane(inbox + (t.strip*NEAR_ROWS + (k < LOW_Y ? k : k - ROWS))*TILE_X, t.lane, row);
      find_near<LANES_X>(row, near[k]);
    }
  }
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
#pragma unroll
    for (int i = 0; i < POINTS; i++) {
      real before[PLANES];
#if WEIGHTS == WEIGHTS_GROUPED  // the plane as a whole: its rows share sums
#pragma unroll
      for (int k = 0; k < PLANES; k++) before[k] = k > 0 ? sums[j][i][0][k - 1] : real(0);
      add_plane(PlaneTaps{near, j, i}, weights, sums[j][i]);
#else
      move_sums(sums[j][i]);
#pragma unroll
      for (int k = 0; k < PLANES; k++) before[k] = sums[j][i][0][k];
#pragma unroll
      for (int dy = -LOW_Y; dy <= HIGH_Y; dy++) add_row(dy, OwnRowTaps{near[LOW_Y + j + dy], i}, weights, sums[j][i]);
#endif
      keep_sums<EDGE>(t, j, i, z, plane[j][i], before, sums[j][i]);
      complete[j][i] = sums[j][i][0][PLANES - 1];
    }
  }
}

// Load a plane of the input from a slot of the ring. Loads of whole rows are fewer than loads of single points at a tile's ends.
__device__ __forceinline__ void load_input(const Tile &t, int slot, real (&input)[ROWS][POINTS]) {
  const real *plane = t.ring + slot*PLANE_ELEMENTS + t.strip*ROWS*TILE_X;
#pragma unroll
  for (int j = 0; j < ROWS; j++) load_lane(plane + j*TILE_X, t.lane, input[j]);
}

// All bits, or none. The shuffle hides from the compiler that there are only two cases, so that it creates no predicate.
__device__ __forceinline__ unsigned mask_of(bool is_set) { return __shfl_sync(0xffffffffu, is_set ? ~0u : 0u, int(threadIdx.x)%32); }

// Choose `second` if all bits of `mask` are set, and `first` if none is. There is no predicate: its latency would appear several times in
// each stage.
union Bits {
  real value;
  unsigned words[sizeof(real)/4];
};
__device__ __forceinline__ real choose(unsigned mask, real first, real second) {
  Bits a, b;
  a.value = first, b.value = second;
#pragma unroll
  for (int i = 0; i < int(sizeof(real)/4); i++) a.words[i] = (a.words[i] & ~mask) | (b.words[i] & mask);
  return a.value;
}

// Put the input's points back into plane z of a stage where they lie outside the box.
template <Edge EDGE> __device__ __forceinline__ void keep_outside(const Tile &t, int z, const real (&input)[ROWS][POINTS], real (&plane)[ROWS][POINTS]) {
  const unsigned plane_outside = EDGE == EDGE_ANY && (z < int(t.g.z0) || z >= int(t.g.z1)) ? ~0u : 0;
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
#pragma unroll
    for (int i = 0; i < POINTS; i++) {
      const bool in_x = may_lie_outside(EDGE, i, POINTS, LOW_X, HIGH_X), in_y = may_lie_outside(EDGE, j, ROWS, LOW_Y, HIGH_Y);
      if (in_x || in_y) plane[j][i] = choose((in_x ? t.outside_x[i] : 0) | (in_y ? t.outside_y[j] : 0) | plane_outside, plane[j][i], input[j][i]);
    }
  }
}

// Write plane z.
template <Edge EDGE> __device__ __forceinline__ void write_plane(const Tile &t, int z, const real (&plane)[ROWS][POINTS]) {
  const int x = t.x + t.lane*POINTS, y = t.y + t.strip*ROWS;
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
#pragma unroll
    for (int i = 0; i < POINTS; i += VECTOR) {
      real values[VECTOR];
#pragma unroll
      for (int k = 0; k < VECTOR; k++) values[k] = plane[j][i + k];
      if (has(t.whole, j*POINTS + i)) write_vector(t.f, 0, t.g, x + i, y + j, z, values);
    }
  }
  if (!IMAGES && EDGE != NO_EDGE && t.cut != 0) {
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
#pragma unroll
      for (int i = 0; i < POINTS; i++) {
        if (has(t.cut, j*POINTS + i)) write_point(t.f, 0, t.g, x + i, y + j, z, plane[j][i]);
      }
    }
  }
}

// The slot of the ring at a distance from `slot`.
__device__ __forceinline__ int slot_at(int slot, int distance) {
  const int other = slot + distance;
  return other >= SLOTS ? other - SLOTS : other < 0 ? other + SLOTS : other;
}

// Load a plane from the ring, and start to copy a later one.
template <Edge EDGE> __device__ __forceinline__ void receive_plane(const Tile &t, Turn &turn, real (&plane)[ROWS][POINTS]) {
  async_wait<RING - 2>();
  if (POINTS > VECTOR) __syncwarp();  // lanes copied for each other
#pragma unroll
  for (int j = 0; j < ROWS; j++) load_lane(t.ring + turn.slot*PLANE_ELEMENTS + (t.strip*ROWS + j)*TILE_X, t.lane, plane[j]);
  request_plane<EDGE>(t, slot_at(turn.slot, RING - 1), turn.next);
}

// The barrier of BARRIER_SPLIT lies behind the inboxes. Its phase n is complete when all warps have sent their rows of turn n and have read
// those of the turn before.
__device__ __forceinline__ unsigned long long *barrier_of(const Tile &t) {
  return reinterpret_cast<unsigned long long *>(t.inbox + 2*STAGE_COUNT*INBOX_ELEMENTS);
}
__device__ __forceinline__ void begin_barrier(const Tile &t) {
  if (threadIdx.x == 0) {
    barrier_init(barrier_of(t), WARPS);
    barrier_init_done();
  }
  __syncthreads();  // the inboxes are empty
}
__device__ __forceinline__ void arrive(const Tile &t) {
  if (ENGINE) tensor_fence();
  __syncwarp();
  if (threadIdx.x%32 == 0) barrier_expect(barrier_of(t), 0);
}

// Each slot has a barrier, which counts the bytes of a plane. They lie behind that of BARRIER_SPLIT.
__device__ __forceinline__ unsigned long long *full(const Tile &t, int slot) { return barrier_of(t) + (BARRIER == BARRIER_SPLIT) + slot; }

// Ask the engine for the tile's part of plane z, unless it lies behind the last turn: a block must not end while the engine writes to its
// shared memory. Behind the grid zeros come in, which no result needs.
__device__ __forceinline__ void ask_engine(const Tile &t, int slot, int z) {
  if (threadIdx.x != 0 || z >= t.z_last + sum_first(STAGE_COUNT, LAG)) return;
  barrier_expect(full(t, slot), unsigned(PLANE_ELEMENTS*int(sizeof(real))));
  tensor_copy(t.ring + slot*PLANE_ELEMENTS, t.f.map_in[0], t.x, t.y, z, full(t, slot));
}

// Ask for a later plane. All warps have ended the turn before, and so have left its slot.
__device__ __forceinline__ void ask_for_later_plane(const Tile &t, const Turn &turn) {
  ask_engine(t, slot_at(turn.slot, RING - 1), turn.z + RING - 1);
}

__device__ __forceinline__ void begin_ring(const Tile &t, const Turn &turn) {
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < SLOTS; slot++) barrier_init(full(t, slot), 1);
    barrier_init_done();
    tensor_prefetch(t.f.map_in[0]);
  }
  __syncthreads();
  for (int i = 0; i < RING - 1; i++) ask_engine(t, i, turn.z + i);
}

// Wait for the plane that comes in, and load it.
__device__ __forceinline__ void receive_from_engine(const Tile &t, const Turn &turn, real (&plane)[ROWS][POINTS]) {
#if COPIES == COPIES_ENGINE
  barrier_wait(full(t, turn.slot), turn.phase);
#endif
  load_input(t, turn.slot, plane);
}

// The first stage with BARRIER_SPLIT: it adds its own rows, waits, and then adds the rows of the strips beside it. The sums have moved on
// by then: the late rows belong to the next place.
template <Edge EDGE>
__device__ __forceinline__ void add_rows_and_wait(const Tile &t, const Turn &turn, real *to, const real *from, const Weights &weights,
                                                  real (&sums)[ROWS][POINTS][FORMS][PLANES], real (&plane)[ROWS][POINTS]) {
  real own[ROWS][POINTS], late[ROWS][POINTS][FORMS][PLANES] = {};
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
#pragma unroll
    for (int i = 0; i < POINTS; i++) own[j][i] = plane[j][i];
  }
  add_own_rows<EDGE>(t, turn.z, weights, sums, plane);
  barrier_wait(barrier_of(t), turn.inbox);
  if (ENGINE) ask_for_later_plane(t, turn);
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
#pragma unroll
    for (int i = 0; i < POINTS; i++) late[j][i][0][LOW_Z] = sums[j][i][0][LOW_Z + 1];
  }
  add_late_rows<EDGE>(t, turn.z - 1, from, weights, late);
  send_rows(t, to, own);
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
#pragma unroll
    for (int i = 0; i < POINTS; i++) {
      sums[j][i][0][LOW_Z + 1] = late[j][i][0][LOW_Z];
      plane[j][i] = sums[j][i][0][PLANES - 1];
    }
  }
}

// A plane passes all stages in one turn.
template <Edge EDGE>
__device__ __forceinline__ void pass_stages(const Tile &t, Turn &turn, real *to, const real *from, const Weights &weights,
                                            real (&sums)[STAGE_COUNT][ROWS][POINTS][FORMS][PLANES], real (&plane)[ROWS][POINTS]) {
  if (ENGINE) receive_from_engine(t, turn, plane);
  else receive_plane<EDGE>(t, turn, plane);
#pragma unroll
  for (int stage = 0; stage < STAGE_COUNT; stage++) {
    const int behind = sum_first(stage + 1, LAG), stage_z = turn.z - sum_first(stage, LAG);
    const bool keeps = OUTSIDE != OUTSIDE_SUMS && !IMAGES && EDGE != NO_EDGE && stage < STAGE_COUNT - 1;
    real input[ROWS][POINTS];
    if (keeps && (OUTSIDE != OUTSIDE_LANES || EDGE == EDGE_ANY || t.outside != 0)) load_input(t, slot_at(turn.slot, -behind), input);  // early, to hide its latency
    if (BARRIER == BARRIER_SPLIT && stage == 0) {
      add_rows_and_wait<EDGE>(t, turn, to, from, weights, sums[0], plane);
    } else {
      add_late_rows<EDGE>(t, stage_z - 1, from + stage*INBOX_ELEMENTS, weights, sums[stage]);
      send_rows(t, to + stage*INBOX_ELEMENTS, plane);
      if (BARRIER == BARRIER_SPLIT && stage == STAGE_COUNT - 1) arrive(t);
      add_own_rows<EDGE>(t, stage_z, weights, sums[stage], plane);
    }
    if (keeps) keep_outside<EDGE>(t, turn.z - behind, input, plane);
  }
}

// Each stage computes with the plane that it holds, the last stage first, and hands a completed plane to the next stage.
template <Edge EDGE>
__device__ __forceinline__ void hold_stages(const Tile &t, Turn &turn, real *to, const real *from, const Weights &weights,
                                            real (&sums)[STAGE_COUNT][ROWS][POINTS][FORMS][PLANES], real (&held)[STAGE_COUNT][ROWS][POINTS],
                                            real (&plane)[ROWS][POINTS]) {
#pragma unroll
  for (int stage = STAGE_COUNT - 1; stage >= 0; stage--) {
    const int behind = sum_first(stage + 1, LAG);
    const bool keeps = OUTSIDE != OUTSIDE_SUMS && !IMAGES && EDGE != NO_EDGE && stage < STAGE_COUNT - 1;
    real complete[ROWS][POINTS], input[ROWS][POINTS];
    if (keeps && (OUTSIDE != OUTSIDE_LANES || EDGE == EDGE_ANY || t.outside != 0)) load_input(t, slot_at(turn.slot, -behind), input);
    add_plane_with_rows<EDGE>(t, turn.z - 1 - sum_first(stage, LAG), from + stage*INBOX_ELEMENTS, weights, sums[stage], held[stage], complete);
    if (keeps) keep_outside<EDGE>(t, turn.z - behind, input, complete);
    if (stage < STAGE_COUNT - 1) send_rows(t, to + (stage + 1)*INBOX_ELEMENTS, complete);
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
#pragma unroll
      for (int i = 0; i < POINTS; i++) (stage < STAGE_COUNT - 1 ? held[stage + 1] : plane)[j][i] = complete[j][i];
    }
  }
  if (ENGINE) receive_from_engine(t, turn, held[0]);
  else receive_plane<EDGE>(t, turn, held[0]);
  send_rows(t, to, held[0]);
}

// Make a turn: plane z comes in, and plane z - STEPS*LAG is written.
template <Edge EDGE>
__device__ __forceinline__ void take_plane(const Tile &t, Turn &turn, const Weights &weights,
                                           real (&sums)[STAGE_COUNT][ROWS][POINTS][FORMS][PLANES], real (&held)[STAGE_COUNT][ROWS][POINTS]) {
  real plane[ROWS][POINTS];
  real *to = t.inbox + turn.inbox*(STAGE_COUNT*INBOX_ELEMENTS), *from = t.inbox + (1 - turn.inbox)*(STAGE_COUNT*INBOX_ELEMENTS);
  if (ENGINE && BARRIER == BARRIER_WHOLE) tensor_fence();
  if (BARRIER == BARRIER_WHOLE) __syncthreads();  // the rows that were sent in the last turn are there
  if (ENGINE && BARRIER == BARRIER_WHOLE) ask_for_later_plane(t, turn);
  if (HOLD) hold_stages<EDGE>(t, turn, to, from, weights, sums, held, plane);
  else pass_stages<EDGE>(t, turn, to, from, weights, sums, plane);
  const int done = turn.z - sum_first(STAGE_COUNT, LAG);
  if (done >= t.z_first) write_plane<EDGE>(t, done, plane);
  turn.z++, turn.slot = slot_at(turn.slot, 1), turn.inbox = 1 - turn.inbox;
#if COPIES == COPIES_ENGINE
  if (turn.slot == 0) turn.phase = 1 - turn.phase;
#endif
}

// Find the points that this lane writes: x_first <= x < x_last, y_first <= y < y_last. Vectors at the ends of the box in x may be cut.
__device__ __forceinline__ void find_written(Tile &t, int x_first, int x_last, int y_first, int y_last) {
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
    const int y = t.y + t.strip*ROWS + j;
#pragma unroll
    for (int i = 0; i < POINTS; i++) {
      const int x = t.x + t.lane*POINTS + i, first = x - i%VECTOR;
      const bool is_whole = first >= x_first && first + VECTOR <= x_last;
      if (y >= y_first && y < y_last && x >= x_first && x < x_last) (is_whole ? t.whole : t.cut) |= 1u << (j*POINTS + i);
    }
  }
}

// Find the lane's points that lie outside the box.
__device__ __forceinline__ void find_outside(Tile &t) {
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
#pragma unroll
    for (int i = 0; i < POINTS; i++) {
      const int x = t.x + t.lane*POINTS + i, y = t.y + t.strip*ROWS + j;
      if (x < int(t.g.x0) || x >= int(t.g.x1) || y < int(t.g.y0) || y >= int(t.g.y1)) t.outside |= 1u << (j*POINTS + i);
    }
  }
}

// Find the lane's columns and rows that lie outside the box, as masks.
__device__ __forceinline__ void find_outside_masks(Tile &t) {
#pragma unroll
  for (int i = 0; i < POINTS; i++) {
    const int x = t.x + t.lane*POINTS + i;
    t.outside_x[i] = mask_of(x < int(t.g.x0) || x >= int(t.g.x1));
  }
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
    const int y = t.y + t.strip*ROWS + j;
    t.outside_y[j] = mask_of(y < int(t.g.y0) || y >= int(t.g.y1));
  }
}

// Find the columns and rows that this lane copies, with images.
__device__ __forceinline__ void find_images(Tile &t) {
#pragma unroll
  for (int i = 0; i < POINTS/VECTOR; i++) t.image_x[i] = image_x(t.g, t.x + (i*LANES_X + t.lane)*VECTOR);
#pragma unroll
  for (int j = 0; j < ROWS; j++) t.image_y[j] = image_y(t.g, t.y + t.strip*ROWS + j);
}

// The march has at most three parts: planes near the box's first plane, planes in the middle, and planes near its last plane.
__device__ __forceinline__ void march(const Tile &t, const Weights &weights) {
  const Geometry &g = t.g;
  real sums[STAGE_COUNT][ROWS][POINTS][FORMS][PLANES] = {}, held[STAGE_COUNT][ROWS][POINTS] = {};
  const int begin = IMAGES ? t.z_first - ALL_LOW_Z : max(t.z_first - ALL_LOW_Z, int(g.z0) - of_stage(0, STAGE_LOW_Z)), end = t.z_last + sum_first(STAGE_COUNT, LAG);
  const bool is_inside = !IMAGES && t.x >= g.x0 && t.x + TILE_X <= g.x1 && t.y >= g.y0 && t.y + TILE_Y <= g.y1;
  const bool is_regular = IMAGES || (t.x + LOW_X >= g.x0 && t.x + TILE_X <= g.x1 + HIGH_X && t.y + LOW_Y >= g.y0 && t.y + TILE_Y <= g.y1 + HIGH_Y);
  const int middle_first = IMAGES ? begin : is_regular ? min(end, int(g.z0) + sum_first(STAGE_COUNT, LAG) + !HOLD) : end;
  const int middle_last = IMAGES ? end : min(end, int(g.z1) + HOLD);
  Turn turn = {begin, 0, 0, IMAGES ? image_z(g, begin) : index_t(begin)};
  for (int i = threadIdx.x; i < 2*STAGE_COUNT*INBOX_ELEMENTS; i += WARPS*32) t.inbox[i] = 0;
  if (ENGINE) begin_ring(t, turn);
  if (!ENGINE) {
#pragma unroll
    for (int i = 0; i < RING - 1; i++) request_plane<EDGE_ANY>(t, i, turn.next);
  }
  if (BARRIER == BARRIER_SPLIT) {
    begin_barrier(t);
    arrive(t);
  }
#pragma unroll 1
  for (int part = 0; part < 2; part++) {
    const int until = part == 0 ? middle_first : end;
#pragma unroll 1
    while (!IMAGES && turn.z < until) take_plane<EDGE_ANY>(t, turn, weights, sums, held);
    if (is_inside) {  // with images, both bodies would take as many instructions
#pragma unroll 1
      while (turn.z < middle_last) take_plane<NO_EDGE>(t, turn, weights, sums, held);
    } else {
#pragma unroll 1
      while (turn.z < middle_last) take_plane<EDGE_XY>(t, turn, weights, sums, held);
    }
  }
  async_wait<0>();
}

// The first plane of a part of the planes. The last part is shorter than the others. It gives work to multiprocessors that would be idle at
// the end:
//
//      |------ part 0 ------|------ part 1 ------|------ part 2 ------|- 3 -|      CHUNKS 4, LAST_CHUNK 33
__device__ __forceinline__ int chunk_begin(const Geometry &g, int chunk) {
  if (chunk == CHUNKS) return int(g.z1);
  return int(g.z0) + int((long long)(g.z1 - g.z0)*100*chunk/(100*(CHUNKS - 1) + LAST_CHUNK));
}

// blockIdx.z counts the parts of the planes. So blocks that run at the same time are at the same plane, and share what they read in the L2
// cache.
extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  const int lane = threadIdx.x%32, warp = threadIdx.x/32;
  const int low_x = (int(g.x0) - BEFORE_X)/VECTOR*VECTOR, high_x = round_up(int(g.x1) + AFTER_X, VECTOR) - TILE_X;
  const int low_y = int(g.y0) - BEFORE_Y, high_y = int(g.y1) + AFTER_Y - TILE_Y;
  const int base = (MARGIN_X + low_x)/STORE_GRAIN*STORE_GRAIN;
  const int left = base + int(blockIdx.x)*STRIDE_X, top = low_y + MARGIN_Y + int(blockIdx.y)*STRIDE_Y;
  const int chunk = blockIdx.z;
  real *shared = SHARED_MEMORY(real);
  Tile t = {f, g, lane%LANES_X, warp*(32/LANES_X) + lane/LANES_X, max(min(left - MARGIN_X, high_x), low_x),
            max(min(top - MARGIN_Y, high_y), low_y), chunk_begin(g, chunk), chunk_begin(g, chunk + 1),
            0, 0, 0, {}, {}, shared, shared + SLOTS*PLANE_ELEMENTS, {}, {}};
  find_written(t, blockIdx.x == 0 ? int(g.x0) : left, blockIdx.x == gridDim.x - 1 ? int(g.x1) : left + STRIDE_X,
               blockIdx.y == 0 ? int(g.y0) : top, blockIdx.y == gridDim.y - 1 ? int(g.y1) : top + STRIDE_Y);
  if (IMAGES) find_images(t);
  if (!IMAGES && OUTSIDE != OUTSIDE_SHARED) find_outside(t);
  if (!IMAGES && OUTSIDE != OUTSIDE_SUMS) find_outside_masks(t);
  march(t, weights_of(COEFFICIENT_VALUES));
}
