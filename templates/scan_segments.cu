// scan_segments: the inclusive sum along an axis, for few long lines. A block sums one segment of its lines, so that all parts of a line
// are processed at once. It publishes its sums in the workspace, and adds the sums of the segments before its own.
//
//      segment      0   1   2   3 |  4   5   6   7 |  8   9          WINDOW 4
//      publishes   own own own all  own own own all  own own         own: the segment's sum; all: the line's sum up to its end
//      6 reads                 [3] [4] [5]                           at most WINDOW sums, and adds them in this order
//
// All segments but the last of a window publish at once. So a line is a chain of windows, which is shorter than a chain of segments.
// Another look-back would add the sums that are ready. This one adds the same numbers in the same order in every launch.
//
// Along y or z, a block has BLOCK_X*VECTOR neighbouring lines in x, and each thread of a column loads POINTS points. Along x, a block has
// one line, and each thread loads POINTS vectors, BLOCK_X*VECTOR points apart.
//
// The workspace keeps from launch to launch: the number of tickets that were taken, a flag for each block, and the published sums.
#ifndef HALOTUNE_PRELUDE
#include "example_scan.cuh"
#include "common.cuh"
#endif

#ifndef BLOCK_X
#define BLOCK_X 16
#define BLOCK_Y 16
#define VECTOR 4
#define POINTS 4
#define WINDOW 4
#endif

constexpr int WARP = 32, WARPS = (BLOCK_X + WARP - 1)/WARP;  // WARPS: of a row
constexpr index_t SEGMENT = AXIS == 0 ? BLOCK_X*VECTOR*POINTS : BLOCK_Y*POINTS;  // points along the axis
constexpr int TOLD = AXIS == 0 ? 1 : BLOCK_X*VECTOR;  // numbers that a block publishes: one for each of its lines

struct Segment {
  index_t number, group;  // the segment's place in its line; which lines
  unsigned launch;        // the number of the launch, from 1: flags of this launch have this value
};

// Blocks take segments in the order in which they begin. So all segments before a block's own have begun. Tickets are never reset: they
// also count the launches, so that no flag has to be cleared.
__device__ __forceinline__ Segment take_segment(unsigned long long *tickets, index_t groups) {
  unsigned *taken = SHARED_MEMORY(unsigned);
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    const unsigned long long ticket = atomicAdd(tickets, 1ull);
    taken[0] = unsigned(ticket%gridDim.x);
    taken[1] = unsigned(ticket/gridDim.x) + 1;
  }
  __syncthreads();
  const index_t turn = taken[0];
  return {turn/groups, turn%groups, taken[1]};
}

// The flags and sums of one group of lines, by number of segment.
struct Board {
  unsigned *flags;
  real *told;
};

// First come the flags of all groups, those of a group together. `told` follows, aligned to 16 bytes.
__device__ __forceinline__ Board board_of(void *workspace, const Segment &s, index_t groups) {
  const index_t segments = index_t(gridDim.x)/groups, first = s.group*segments;
  unsigned *flags = static_cast<unsigned *>(workspace) + 4;
  real *told = reinterpret_cast<real *>(flags + (gridDim.x + 3)/4*4);
  return {flags + first, told + (long long)(first)*TOLD};
}

__device__ __forceinline__ bool ends_window(const Segment &s) { return s.number%WINDOW == WINDOW - 1; }

// All threads call this after the publishing threads have written their sums.
__device__ __forceinline__ void raise_flag(const Board &b, const Segment &s) {
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) store_release(b.flags + s.number, s.launch);
}

// Wait until a segment has published, and return its number. The i-th thread along the axis waits for the i-th segment; -1: for none.
__device__ __forceinline__ index_t wait_for_segment(const Board &b, const Segment &s, int i) {
  const index_t window = s.number/WINDOW*WINDOW, first = window > 0 ? window - 1 : 0;
  if (first + i >= s.number) return -1;
  while (load_acquire(b.flags + first + i) != s.launch) spin_yield();
  return first + i;
}

__device__ __forceinline__ void tell_columns(const Board &b, const Segment &s, const real (&sums)[VECTOR]) {
  if (threadIdx.y == 0) store_vector(b.told + (long long)(s.number)*TOLD + threadIdx.x*VECTOR, sums);
  raise_flag(b, s);
}

// The sum before the segment, in each of the thread's lines.
__device__ __forceinline__ void look_back_in_columns(const Board &b, const Segment &s, real *totals, real (&earlier)[VECTOR]) {
  real told[VECTOR] = {}, before[VECTOR];
  const index_t other = wait_for_segment(b, s, threadIdx.y);
  if (other >= 0) load_vector(b.told + (long long)(other)*TOLD + threadIdx.x*VECTOR, told);
  sum_column<BLOCK_X, BLOCK_Y>(totals, told, before, earlier);
}

__device__ __forceinline__ void scan_columns(const Fields &f, const Geometry &g, void *workspace) {
  const index_t x_first = g.x0/VECTOR*VECTOR, groups_in_x = (g.x1 - x_first + BLOCK_X*VECTOR - 1)/(BLOCK_X*VECTOR);
  const index_t begin = AXIS == 2 ? g.z0 : g.y0, end = AXIS == 2 ? g.z1 : g.y1;  // of the box
  const index_t groups = groups_in_x*(AXIS == 2 ? g.y1 - g.y0 : g.z1 - g.z0);
  const Segment s = take_segment(static_cast<unsigned long long *>(workspace), groups);
  const Board b = board_of(workspace, s, groups);
  const index_t x = x_first + (s.group%groups_in_x*BLOCK_X + index_t(threadIdx.x))*VECTOR;
  const index_t across = (AXIS == 2 ? g.y0 : g.z0) + s.group/groups_in_x;
  const index_t first = s.number*SEGMENT + index_t(threadIdx.y)*POINTS;
  real *totals = SHARED_MEMORY(real) + 16/sizeof(real);

  real sums[POINTS][VECTOR];
#pragma unroll
  for (int p = 0; p < POINTS; p++) {
    if (first + p < end) {
      read_in_row(f, 0, g, x, AXIS == 2 ? across : first + p, AXIS == 2 ? first + p : across, sums[p]);
    } else {
#pragma unroll
      for (int lane = 0; lane < VECTOR; lane++) sums[p][lane] = 0;
    }
  }
#pragma unroll
  for (int p = 1; p < POINTS; p++) {
#pragma unroll
    for (int lane = 0; lane < VECTOR; lane++) sums[p][lane] += sums[p - 1][lane];
  }
  real before[VECTOR], all[VECTOR], earlier[VECTOR];
  sum_column<BLOCK_X, BLOCK_Y>(totals, sums[POINTS - 1], before, all);
  if (!ends_window(s)) tell_columns(b, s, all);
  look_back_in_columns(b, s, totals + BLOCK_Y*BLOCK_X*VECTOR, earlier);
#pragma unroll
  for (int lane = 0; lane < VECTOR; lane++) all[lane] += earlier[lane];
  if (ends_window(s)) tell_columns(b, s, all);
#pragma unroll
  for (int p = 0; p < POINTS; p++) {
#pragma unroll
    for (int lane = 0; lane < VECTOR; lane++) sums[p][lane] += earlier[lane] + before[lane];
    if (first + p < begin || first + p >= end) continue;
    write_in_box(f, 0, g, x, AXIS == 2 ? across : first + p, AXIS == 2 ? first + p : across, sums[p]);
  }
}

__device__ __forceinline__ void tell_row(const Board &b, const Segment &s, real sum) {
  if (threadIdx.x == 0) b.told[s.number] = sum;
  raise_flag(b, s);
}

// The sum of the line before the segment.
__device__ __forceinline__ real look_back_in_row(const Board &b, const Segment &s, real *totals) {
  const index_t other = wait_for_segment(b, s, threadIdx.x);
  real all, earlier = 0;
  sum_lanes<WARP>(other >= 0 ? b.told[other] : real(0), all);
  if (threadIdx.x%WARP == 0) totals[threadIdx.x/WARP] = all;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < WARPS; w++) earlier += totals[w];
  return earlier;
}

__device__ __forceinline__ void scan_row(const Fields &f, const Geometry &g, void *workspace) {
  const index_t groups_in_y = g.y1 - g.y0, groups = groups_in_y*(g.z1 - g.z0);
  const Segment s = take_segment(static_cast<unsigned long long *>(workspace), groups);
  const Board b = board_of(workspace, s, groups);
  const index_t y = g.y0 + s.group%groups_in_y, z = g.z0 + s.group/groups_in_y;
  const index_t x = s.number*SEGMENT + index_t(threadIdx.x)*VECTOR;
  const int warp = threadIdx.x/WARP;
  real *totals = SHARED_MEMORY(real) + 16/sizeof(real);

  real sums[POINTS][VECTOR], before[POINTS];
#pragma unroll
  for (int p = 0; p < POINTS; p++) read_in_row(f, 0, g, x + p*BLOCK_X*VECTOR, y, z, sums[p]);
#pragma unroll
  for (int p = 0; p < POINTS; p++) {
#pragma unroll
    for (int lane = 1; lane < VECTOR; lane++) sums[p][lane] += sums[p][lane - 1];
    real all;
    before[p] = sum_lanes<WARP>(sums[p][VECTOR - 1], all);
    if (threadIdx.x%WARP == 0) totals[p*WARPS + warp] = all;
  }
  __syncthreads();
  real own = 0;  // of the segment
#pragma unroll
  for (int p = 0; p < POINTS; p++) {
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
      if (w == warp) before[p] += own;
      own += totals[p*WARPS + w];
    }
  }
  if (!ends_window(s)) tell_row(b, s, own);
  const real earlier = look_back_in_row(b, s, totals + POINTS*WARPS);
  if (ends_window(s)) tell_row(b, s, earlier + own);
#pragma unroll
  for (int p = 0; p < POINTS; p++) {
#pragma unroll
    for (int lane = 0; lane < VECTOR; lane++) sums[p][lane] += earlier + before[p];
    write_in_box(f, 0, g, x + p*BLOCK_X*VECTOR, y, z, sums[p]);
  }
}

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  if (AXIS == 0) scan_row(f, g, workspace);
  else scan_columns(f, g, workspace);
}
