// advance.cuh: the kernel of this experiment. It has the structure of templates/pipeline_planes.cu, whose head explains it, for one
// update only: star7 in f32 with 4 steps, boundaries skip, `outside=shared`, `barrier=split`, and the extents built in. What differs
// between versions is who copies the planes of the input to shared memory:
//
//   BY_THREADS   each lane copies its own points with cp.async, as the template does
//   BY_ENGINE    the first thread asks the copy engine for the whole plane of the tile, through a tensor map. It does so behind the
//                barrier of the turn. All warps have then left the slot of the ring
//   BY_PRODUCER  a warp of its own asks the engine, as soon as all warps have left the slot. Each slot has two barriers:
//                full (the plane has come in) and empty (all warps have left it)
//
//      turn of a computing warp, BY_PRODUCER:
//      wait full[z] | load plane z | stage 1: own rows | wait for the other warps | stages 1 ... 3 | arrive, leave z - 3 | stage 4 | write
#pragma once
#include "templates/wrappers.cuh"
#include "templates/wrappers_sm_90.cuh"

enum Copies { BY_THREADS, BY_ENGINE, BY_PRODUCER };
constexpr int GRID_X = 512, GRID_Y = 512, GRID_Z = 512, STEPS = 4, POINTS = 4, LAST_STAGE = STEPS - 1;

struct Weights {
  float own, x_low, x_high, y_low, y_high, z_low, z_high;
};

// WARPS_: computing warps. ROWS_, LANES_: rows of a strip, and lanes of a row. RING_: planes that come in. The engine's boxes begin at
// multiples of ALIGN_ elements. REGISTERS_: those that a computing warp takes from the producer's (setmaxnreg), or 0. A warp can give
// registers away only together with the three others of its warpgroup. So there are four producing warps then, and three of them end.
template <Copies COPIES_, int WARPS_, int ROWS_, int LANES_, int RING_, int ALIGN_ = POINTS, int REGISTERS_ = 0>
struct Version {
  static constexpr Copies COPIES = COPIES_;
  static constexpr int WARPS = WARPS_, ROWS = ROWS_, LANES = LANES_, RING = RING_, ALIGN = ALIGN_, REGISTERS = REGISTERS_;
  static constexpr int PRODUCERS = COPIES != BY_PRODUCER ? 0 : REGISTERS ? 4 : 1, THREADS = (WARPS + PRODUCERS)*32;
  static constexpr int STRIPS = WARPS*32/LANES, TILE_X = LANES*POINTS, TILE_Y = STRIPS*ROWS;
  // Blocks write at multiples of 32 bytes (`store_bytes`). Each side of a tile has STEPS invalid points.
  static constexpr int STRIDE_X = (TILE_X - 2*STEPS)/8*8, TILES_X = 1 + (GRID_X + STEPS - TILE_X + STRIDE_X - 1)/STRIDE_X;
  static constexpr int STRIDE_Y = TILE_Y - 2*STEPS, TILES_Y = 1 + (GRID_Y - TILE_Y + STRIDE_Y - 1)/STRIDE_Y;
  // The ring also has the planes that stages still need. A row in the ring begins up to ALIGN - POINTS elements before the tile.
  static constexpr int SLOTS = RING + STEPS - 1, PITCH = TILE_X + ALIGN - POINTS, PLANE = (TILE_Y*PITCH + 31)/32*32;
  static constexpr int BOX_BYTES = TILE_Y*PITCH*4, INBOX = STRIPS*2*TILE_X;
  static constexpr int SHARED_BYTES = (SLOTS*PLANE + 2*STEPS*INBOX)*4 + (1 + 2*SLOTS)*8;
  static_assert(SHARED_BYTES <= 227*1024, "a block of sm_90 has 227 KiB");
};

enum Edge { NO_EDGE, EDGE_XY, EDGE_ANY };  // which points may lie outside the box: none, the tile's outermost, whole planes too

template <class V> struct Tile {
  const float *in;
  float *out;
  const TensorMap *map;
  int lane, strip, x, y, begin, end, z_first, z_last;  // planes begin <= z < end come in, z_first <= z < z_last are written
  unsigned rows, cut;                                  // a bit for each row that is written; for each point of a vector at the box's end
  bool is_whole;                                       // the lane's vectors are written whole
  unsigned outside_x[2], outside_y[2];                 // masks: whether the lane's first and last column and row lie outside the box
  float *ring, *inbox;                                 // ring: the lane's first point in slot 0
  unsigned long long *others, *full, *empty;           // barriers: the other warps have sent their rows; of each slot
};

struct Turn {
  int z, slot, inbox;
  unsigned phase;  // of the slot's barrier `full`
};

// Wait for a phase of a barrier. After about a tenth of a second the kernel ends with an error: a version with a mistake must not hang.
__device__ __forceinline__ void wait(unsigned long long *barrier, unsigned phase) {
  asm volatile("{ .reg .pred passed, late; .reg .u32 begin, now;\n"
               "mbarrier.try_wait.parity.shared::cta.b64 passed, [%0], %1;\n"
               "@passed bra done;\n"
               "mov.u32 begin, %%clock;\n"
               "again: mbarrier.try_wait.parity.shared::cta.b64 passed, [%0], %1;\n"
               "@passed bra done;\n"
               "mov.u32 now, %%clock; sub.u32 now, now, begin;\n"
               "setp.gt.u32 late, now, 200000000;\n"
               "@late trap;\n"
               "bra again;\n"
               "done: }" ::"r"(shared_address(barrier)), "r"(phase) : "memory");
}

template <class V> __device__ __forceinline__ int slot_at(int slot, int distance) {
  const int other = slot + distance;
  return other >= V::SLOTS ? other - V::SLOTS : other < 0 ? other + V::SLOTS : other;
}

// Each lane starts to copy its points of plane z.
template <class V> __device__ __forceinline__ void copy_own_points(const Tile<V> &t, int slot, int z) {
  const float *from = t.in + (min(z, GRID_Z - 1)*GRID_Y + t.y + t.strip*V::ROWS)*GRID_X + t.x + t.lane*POINTS;
  for (int j = 0; j < V::ROWS; j++) async_copy<16>(t.ring + slot*V::PLANE + j*V::PITCH, from + j*GRID_X);
  async_commit();
}

// One thread asks the engine for plane z of the tile. Behind the grid zeros come in, which no result needs.
template <class V> __device__ __forceinline__ void ask_engine(const Tile<V> &t, int slot, int z) {
  barrier_expect(t.full + slot, V::BOX_BYTES);
  tensor_copy(SHARED_MEMORY(float) + slot*V::PLANE, t.map, t.x/V::ALIGN*V::ALIGN, t.y, z, t.full + slot);
}

template <class V> __device__ __forceinline__ void load_rows(const Tile<V> &t, int slot, float (&plane)[V::ROWS][POINTS]) {
  for (int j = 0; j < V::ROWS; j++) load_vector(t.ring + slot*V::PLANE + j*V::PITCH, plane[j]);
}

// Wait for the plane that comes in, and load it.
template <class V> __device__ __forceinline__ void receive_plane(const Tile<V> &t, const Turn &turn, float (&plane)[V::ROWS][POINTS]) {
  if (V::COPIES == BY_THREADS) async_wait<V::RING - 2>();
  else wait(t.full + turn.slot, turn.phase);
  load_rows(t, turn.slot, plane);
  if (V::COPIES == BY_THREADS) copy_own_points(t, slot_at<V>(turn.slot, V::RING - 1), turn.z + V::RING - 1);
}

// Add the rows beside the strip, which came in one turn before, to the sums of their plane.
template <class V>
__device__ __forceinline__ void add_late_rows(const Tile<V> &t, const float *inbox, const Weights &w, float (&sums)[V::ROWS][POINTS]) {
  float low[POINTS], high[POINTS];
  load_vector(inbox + (t.strip*2*V::LANES + t.lane)*POINTS, low);
  load_vector(inbox + ((t.strip*2 + 1)*V::LANES + t.lane)*POINTS, high);
  for (int i = 0; i < POINTS; i++) {
    sums[0][i] = fma(w.y_low, low[i], sums[0][i]);
    sums[V::ROWS - 1][i] = fma(w.y_high, high[i], sums[V::ROWS - 1][i]);
  }
}

template <class V>
__device__ __forceinline__ void send_rows(const Tile<V> &t, float *inbox, const float (&first)[POINTS], const float (&last)[POINTS]) {
  if (t.strip > 0) store_vector(inbox + ((t.strip*2 - 1)*V::LANES + t.lane)*POINTS, first);
  if (t.strip < V::STRIPS - 1) store_vector(inbox + ((t.strip*2 + 2)*V::LANES + t.lane)*POINTS, last);
}

// Add plane z to the sums of planes z - 1, z and z + 1. Plane z - 1, which it completes, replaces it in `plane`.
template <class V>
__device__ __forceinline__ void add_own_rows(const Weights &w, float (&before)[V::ROWS][POINTS], float (&at)[V::ROWS][POINTS],
                                             float (&plane)[V::ROWS][POINTS]) {
  const unsigned everyone = 0xffffffffu;
  float complete[V::ROWS][POINTS];
  for (int j = 0; j < V::ROWS; j++) {
    const float left = __shfl_up_sync(everyone, plane[j][POINTS - 1], 1, V::LANES);
    const float right = __shfl_down_sync(everyone, plane[j][0], 1, V::LANES);
    for (int i = 0; i < POINTS; i++) {
      const float own = plane[j][i];
      complete[j][i] = fma(w.z_high, own, before[j][i]);
      float sum = fma(w.own, own, at[j][i]);
      sum = fma(w.x_low, i > 0 ? plane[j][i - 1] : left, sum);
      sum = fma(w.x_high, i < POINTS - 1 ? plane[j][i + 1] : right, sum);
      if (j > 0) sum = fma(w.y_low, plane[j - 1][i], sum);
      if (j < V::ROWS - 1) sum = fma(w.y_high, plane[j + 1][i], sum);
      before[j][i] = sum;
      at[j][i] = w.z_low*own;
    }
  }
  for (int k = 0; k < V::ROWS*POINTS; k++) plane[k/POINTS][k%POINTS] = complete[k/POINTS][k%POINTS];
}

// All bits, or none. The shuffle hides from the compiler that there are only two cases, as in the template.
__device__ __forceinline__ unsigned mask_of(bool is_set) { return __shfl_sync(0xffffffffu, is_set ? ~0u : 0u, int(threadIdx.x)%32); }

// Put the input's points back into plane z where they lie outside the box.
template <Edge EDGE, class V>
__device__ __forceinline__ void keep_outside(const Tile<V> &t, int z, const float (&input)[V::ROWS][POINTS], float (&plane)[V::ROWS][POINTS]) {
  const unsigned plane_outside = EDGE == EDGE_ANY && (z < 1 || z >= GRID_Z - 1) ? ~0u : 0;
  for (int j = 0; j < V::ROWS; j++) {
    for (int i = 0; i < POINTS; i++) {
      const bool in_x = i == 0 || i == POINTS - 1, in_y = j == 0 || j == V::ROWS - 1;
      if (EDGE != EDGE_ANY && !in_x && !in_y) continue;
      const unsigned mask = (in_x ? t.outside_x[i > 0] : 0) | (in_y ? t.outside_y[j > 0] : 0) | plane_outside;
      plane[j][i] = __uint_as_float((__float_as_uint(plane[j][i]) & ~mask) | (__float_as_uint(input[j][i]) & mask));
    }
  }
}

template <Edge EDGE, class V> __device__ __forceinline__ void write_plane(const Tile<V> &t, int z, const float (&plane)[V::ROWS][POINTS]) {
  float *to = t.out + (z*GRID_Y + t.y + t.strip*V::ROWS)*GRID_X + t.x + t.lane*POINTS;
  for (int j = 0; j < V::ROWS; j++) {
    if (t.is_whole && (t.rows >> j & 1)) store_vector(to + j*GRID_X, plane[j]);
  }
  if (EDGE != NO_EDGE && t.cut != 0) {
    for (int j = 0; j < V::ROWS; j++) {
      for (int i = 0; i < POINTS; i++) {
        if ((t.rows >> j & 1) && (t.cut >> i & 1)) to[j*GRID_X + i] = plane[j][i];
      }
    }
  }
}

// This warp has sent its rows, and has read those of the turn before. It has also left a slot, which the engine may overwrite.
template <class V> __device__ __forceinline__ void arrive(const Tile<V> &t, int left_slot) {
  if (V::COPIES != BY_THREADS) tensor_fence();
  __syncwarp();
  if (threadIdx.x%32 != 0) return;
  barrier_expect(t.others, 0);
  if (V::COPIES == BY_PRODUCER && left_slot >= 0) barrier_expect(t.empty + left_slot, 0);
}

// Make a turn: plane z comes in, plane z - STEPS is written.
template <Edge EDGE, class V>
__device__ __forceinline__ void take_plane(const Tile<V> &t, Turn &turn, const Weights &w, float (&before)[STEPS][V::ROWS][POINTS],
                                           float (&at)[STEPS][V::ROWS][POINTS]) {
  float plane[V::ROWS][POINTS], *to = t.inbox + turn.inbox*(STEPS*V::INBOX), *from = t.inbox + (1 - turn.inbox)*(STEPS*V::INBOX);
  receive_plane(t, turn, plane);
#pragma unroll
  for (int stage = 0; stage < STEPS; stage++) {
    const bool keeps = EDGE != NO_EDGE && stage < LAST_STAGE;
    float input[V::ROWS][POINTS];
    if (keeps) load_rows(t, slot_at<V>(turn.slot, -(stage + 1)), input);
    if (stage == 0) {
      float first[POINTS], last[POINTS];
      for (int i = 0; i < POINTS; i++) first[i] = plane[0][i], last[i] = plane[V::ROWS - 1][i];
      add_own_rows<V>(w, before[0], at[0], plane);
      wait(t.others, turn.inbox);
      const int next = turn.z + V::RING - 1;
      if (V::COPIES == BY_ENGINE && threadIdx.x == 0 && next < t.end) ask_engine(t, slot_at<V>(turn.slot, V::RING - 1), next);
      add_late_rows(t, from, w, plane);
      send_rows(t, to, first, last);
    } else {
      add_late_rows(t, from + stage*V::INBOX, w, before[stage]);
      send_rows(t, to + stage*V::INBOX, plane[0], plane[V::ROWS - 1]);
      if (stage == LAST_STAGE) arrive(t, turn.z - LAST_STAGE >= t.begin ? slot_at<V>(turn.slot, -LAST_STAGE) : -1);
      add_own_rows<V>(w, before[stage], at[stage], plane);
    }
    if (keeps) keep_outside<EDGE>(t, turn.z - (stage + 1), input, plane);
  }
  if (turn.z - STEPS >= t.z_first) write_plane<EDGE>(t, turn.z - STEPS, plane);
  turn.z++, turn.slot = slot_at<V>(turn.slot, 1), turn.inbox = 1 - turn.inbox;
  if (turn.slot == 0) turn.phase = 1 - turn.phase;
}

// The march has at most three parts: planes near the box's first plane, planes in the middle, and planes near its last plane.
template <class V> __device__ __forceinline__ void march(const Tile<V> &t, const Weights &w) {
  float before[STEPS][V::ROWS][POINTS] = {}, at[STEPS][V::ROWS][POINTS] = {};
  const bool is_inside = t.x >= 1 && t.x + V::TILE_X < GRID_X && t.y >= 1 && t.y + V::TILE_Y < GRID_Y;
  const int middle_first = min(t.end, STEPS + 2), middle_last = min(t.end, GRID_Z - 1);
  Turn turn = {t.begin, 0, 0, 0};
  arrive(t, -1);
#pragma unroll 1
  for (int part = 0; part < 2; part++) {
    while (turn.z < (part == 0 ? middle_first : t.end)) take_plane<EDGE_ANY>(t, turn, w, before, at);
    if (is_inside) {
      while (turn.z < middle_last) take_plane<NO_EDGE>(t, turn, w, before, at);
    } else {
      while (turn.z < middle_last) take_plane<EDGE_XY>(t, turn, w, before, at);
    }
  }
  async_wait<0>();
}

// The producer: ask for a plane when all computing warps have left its slot.
template <class V> __device__ __forceinline__ void produce(const Tile<V> &t) {
  int slot = 0;
  unsigned phase = 1;  // a barrier that nobody has used is as one whose phase 1 is complete
  for (int z = t.begin; z < t.end; z++) {
    wait(t.empty + slot, phase);
    ask_engine(t, slot, z);
    slot = slot_at<V>(slot, 1);
    if (slot == 0) phase = 1 - phase;
  }
}

// Planes are cut into parts. The last is shorter than the others: `last` percent of their length.
__device__ __forceinline__ int part_begin(int part, int parts, int last) {
  return part == parts ? GRID_Z - 1 : 1 + (GRID_Z - 2)*100*part/(100*(parts - 1) + last);
}

template <class V>
__global__ void __launch_bounds__(V::THREADS, 1)
advance(const float *__restrict__ in, float *__restrict__ out, Weights w, int parts, int last, const __grid_constant__ TensorMap map) {
  const int warp = threadIdx.x/32, lane = threadIdx.x%32%V::LANES, strip = warp*(32/V::LANES) + threadIdx.x%32/V::LANES;
  const int left = blockIdx.x*V::STRIDE_X, top = STEPS + blockIdx.y*V::STRIDE_Y;
  const int x = max(min(left - STEPS, GRID_X - V::TILE_X), 0), y = max(min(top - STEPS, GRID_Y - V::TILE_Y), 0);
  const int z_first = part_begin(blockIdx.z, parts, last), z_last = part_begin(blockIdx.z + 1, parts, last);
  float *ring = SHARED_MEMORY(float), *inbox = ring + V::SLOTS*V::PLANE;
  unsigned long long *barriers = reinterpret_cast<unsigned long long *>(inbox + 2*STEPS*V::INBOX);
  Tile<V> t = {in, out, &map, lane, strip, x, y, max(z_first - STEPS, 0), z_last + STEPS, z_first, z_last, 0, 0, false, {}, {},
               ring + strip*V::ROWS*V::PITCH + x%V::ALIGN + lane*POINTS, inbox, barriers, barriers + 1, barriers + 1 + V::SLOTS};

  for (int i = threadIdx.x; i < 2*STEPS*V::INBOX; i += V::THREADS) inbox[i] = 0;
  if (threadIdx.x == 0) {
    barrier_init(t.others, V::WARPS);
    for (int i = 0; i < V::SLOTS; i++) barrier_init(t.full + i, 1), barrier_init(t.empty + i, V::WARPS);
    barrier_init_done();
    if (V::COPIES != BY_THREADS) tensor_prefetch(t.map);
  }
  __syncthreads();
  if (V::COPIES == BY_PRODUCER && warp >= V::WARPS) {
    if (V::REGISTERS) asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x == V::WARPS*32) produce(t);
    return;
  }
  if (V::REGISTERS) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(V::REGISTERS ? V::REGISTERS : 24));
  for (int i = 0; i < V::RING - 1; i++) {
    if (V::COPIES == BY_THREADS) copy_own_points(t, i, t.begin + i);
    if (V::COPIES == BY_ENGINE && threadIdx.x == 0) ask_engine(t, i, t.begin + i);
  }

  const int x_first = blockIdx.x == 0 ? 1 : left, x_last = blockIdx.x == gridDim.x - 1 ? GRID_X - 1 : left + V::STRIDE_X;
  const int y_first = blockIdx.y == 0 ? 1 : top, y_last = blockIdx.y == gridDim.y - 1 ? GRID_Y - 1 : top + V::STRIDE_Y;
  const int own_x = x + lane*POINTS, own_y = y + strip*V::ROWS;
  t.is_whole = own_x >= x_first && own_x + POINTS <= x_last;
  for (int j = 0; j < V::ROWS; j++) t.rows |= unsigned(own_y + j >= y_first && own_y + j < y_last) << j;
  for (int i = 0; i < POINTS; i++) t.cut |= unsigned(!t.is_whole && own_x + i >= x_first && own_x + i < x_last) << i;
  t.outside_x[0] = mask_of(own_x == 0), t.outside_x[1] = mask_of(own_x + POINTS == GRID_X);
  t.outside_y[0] = mask_of(own_y == 0), t.outside_y[1] = mask_of(own_y + V::ROWS == GRID_Y);
  march(t, w);
}
