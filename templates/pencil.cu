// pencil: a block keeps whole lines along the axis of all taps, or long segments of them, in shared memory.
//
// A block has PENCILS lines side by side: along y if the axis is x, otherwise along x. So the lanes of a warp access neighbours in global
// memory. Each line is padded at both ends by the reach of the taps. The digits are numbers of threads, with PENCILS 2, a line of 8 points,
// reach 2, BLOCK_X 4 (along the line, because the axis is x), BLOCK_Y 2:
//
//               ends    | line, i -->     | ends
//      line 0   6 7     | 0 1 2 3 0 1 2 3 | 0 1        1. threads copy the line from global memory       -- barrier
//      line 1   6 7     | 4 5 6 7 4 5 6 7 | 0 1        2. images fill the ends (here: i = 6, 7 and 0, 1) -- barrier
//                                                      3. threads compute the points of the line
//
// The drawing shows ENDS_SHARED, which copies images from the line itself. ENDS_GLOBAL reads them from global memory in step 1 and has no
// step 2. A SEGMENT of a line needs ENDS_GLOBAL, because its ends are points of the neighbouring segments. SEGMENT 0 is the whole line. If
// the axis is y or z, BLOCK_X threads stand across the lines and BLOCK_Y threads along them.
#ifndef HALOTUNE_PRELUDE
#include "example_pencil.cuh"
#include "common.cuh"
#endif

#ifndef PENCILS
#define PENCILS 4
#define BLOCK_X 64
#define BLOCK_Y 4
#define SEGMENT 0
#define ENDS_SHARED 0
#define ENDS_GLOBAL 1
#define ENDS ENDS_SHARED
#define PADDING 0
#define UNROLL 1
#define OVERLAP 0
#endif

constexpr int LOW = AXIS == 0 ? LOW_X : AXIS == 1 ? LOW_Y : LOW_Z;
constexpr int HIGH = AXIS == 0 ? HIGH_X : AXIS == 1 ? HIGH_Y : HIGH_Z;
constexpr int THREADS_ALONG = AXIS == 0 ? BLOCK_X : BLOCK_Y, THREADS_ACROSS = AXIS == 0 ? BLOCK_Y : BLOCK_X;
constexpr int LINES = PENCILS/THREADS_ACROSS;  // lines of a thread
constexpr int AT_ONCE = UNROLL;  // a pragma takes no macro

// The extent of the grid and of the box along the lines.
__device__ __forceinline__ index_t extent(const Geometry &g) { return AXIS == 0 ? g.nx : AXIS == 1 ? g.ny : g.nz; }
__device__ __forceinline__ index_t box_begin(const Geometry &g) { return AXIS == 0 ? g.x0 : AXIS == 1 ? g.y0 : g.z0; }
__device__ __forceinline__ index_t box_end(const Geometry &g) { return AXIS == 0 ? g.x1 : AXIS == 1 ? g.y1 : g.z1; }
__device__ __forceinline__ index_t image(const Geometry &g, index_t i) {
#if AXIS == 0
  return image_x(g, i);
#elif AXIS == 1
  return image_y(g, i);
#else
  return image_z(g, i);
#endif
}

// A point of the block: its line, and its position along the line.
struct Spot {
  int line, i;
};

struct Pencils {
  const Fields &f;
  const Geometry &g;
  const Coefficients &coefficients;
  real *shared;
  index_t x, y, z;  // position 0 of line 0
  index_t start;    // position 0 along the axis
  int length;       // positions of a line without its ends

  __device__ __forceinline__ index_t x_of(Spot s) const { return x + (AXIS == 0 ? s.i : s.line); }
  __device__ __forceinline__ index_t y_of(Spot s) const { return y + (AXIS == 0 ? s.line : AXIS == 1 ? s.i : 0); }
  __device__ __forceinline__ index_t z_of(Spot s) const { return z + (AXIS == 2 ? s.i : 0); }
  __device__ __forceinline__ bool has_line(int line) const { return AXIS == 0 ? y + line < g.y1 : x + line < g.x1; }

  // Neighbouring lanes access neighbours in shared memory: values of a line if the axis is x, otherwise values of neighbouring lines.
  __device__ __forceinline__ int step() const { return AXIS == 0 ? 1 : PENCILS + PADDING; }
  __device__ __forceinline__ int cell(int slot, Spot s) const {
    const int padded = length + LOW + HIGH;
    return AXIS == 0 ? (slot*PENCILS + s.line)*(padded + PADDING) + LOW + s.i
                     : (slot*padded + LOW + s.i)*(PENCILS + PADDING) + s.line;
  }
};

// The threads share the positions [begin, end) of all lines. A thread takes one position in each of its LINES lines. It then goes
// THREADS_ALONG positions further.
__device__ __forceinline__ Spot spot(int begin, int turn) {
  const int along = AXIS == 0 ? threadIdx.x : threadIdx.y, across = AXIS == 0 ? threadIdx.y : threadIdx.x;
  return {across + turn%LINES*THREADS_ACROSS, begin + along + turn/LINES*THREADS_ALONG};
}
__device__ __forceinline__ int turns(int begin, int end) {
  return divide_up(end - begin, THREADS_ALONG)*LINES;
}

// ---- step 1

// Whether a tap of the box reads this position.
__device__ __forceinline__ bool is_in_reach(const Pencils &p, index_t position) {
  return position >= box_begin(p.g) - LOW && position < box_end(p.g) + HIGH;
}

// Whether a thread reads this position from global memory.
__device__ __forceinline__ bool is_loaded(const Pencils &p, Spot s, int end) {
  return s.i < end && p.has_line(s.line) && (ENDS == ENDS_SHARED || is_in_reach(p, p.start + s.i));
}

__device__ __forceinline__ real read(const Pencils &p, int input, Spot s) {
  if (ENDS == ENDS_SHARED) return read_point(p.f, input, p.g, p.x_of(s), p.y_of(s), p.z_of(s));
  return read_image(p.f, input, p.g, p.x_of(s), p.y_of(s), p.z_of(s));
}

// AT_ONCE loads are in flight before the first value is used.
__device__ __forceinline__ void load_lines(const Pencils &p) {
  const int begin = ENDS == ENDS_SHARED ? 0 : -LOW, end = ENDS == ENDS_SHARED ? p.length : p.length + HIGH;
  for (int slot = 0; slot < STAGED; slot++) {
#pragma unroll 1
    for (int turn = 0; turn < turns(begin, end); turn += AT_ONCE) {
      real values[AT_ONCE];
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++) {
        const Spot s = spot(begin, turn + u);
        values[u] = is_loaded(p, s, end) ? read(p, staged_input(slot), s) : real(0);
      }
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++) {
        const Spot s = spot(begin, turn + u);
        if (s.i < end) p.shared[p.cell(slot, s)] = values[u];
      }
    }
  }
}

// ---- step 2

__device__ __forceinline__ void fill_ends(const Pencils &p) {
  for (int slot = 0; slot < STAGED; slot++) {
#pragma unroll 1
    for (int turn = 0; turn < turns(0, LOW + HIGH); turn++) {
      const Spot end = spot(0, turn);
      if (end.i >= LOW + HIGH) continue;
      const int i = end.i < LOW ? end.i - LOW : p.length + end.i - LOW;
      p.shared[p.cell(slot, {end.line, i})] = p.shared[p.cell(slot, {end.line, int(image(p.g, i))})];
    }
  }
}

// ---- step 3

struct LineTaps {
  const Pencils &p;
  Spot s;
  __device__ __forceinline__ real operator()(int input, int dx, int dy, int dz) const {
    const int slot = staged_slot(input);
    if (slot < 0) return read_point(p.f, input, p.g, p.x_of(s), p.y_of(s), p.z_of(s));  // read at the point only
    return p.shared[p.cell(slot, s) + (dx + dy + dz)*p.step()];  // two of the offsets are 0
  }
};

__device__ __forceinline__ void compute_lines(const Pencils &p) {
  const index_t to_begin = box_begin(p.g) - p.start, to_end = box_end(p.g) - p.start;
  const int begin = to_begin > 0 ? int(to_begin) : 0, end = to_end < p.length ? int(to_end) : p.length;
#pragma unroll AT_ONCE
  for (int turn = 0; turn < turns(begin, end); turn++) {
    const Spot s = spot(begin, turn);
    if (s.i >= end || !p.has_line(s.line)) continue;
    real results[OUTPUTS];
    update(LineTaps{p, s}, p.coefficients, results);
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) write_point(p.f, o, p.g, p.x_of(s), p.y_of(s), p.z_of(s), results[o]);
  }
}

// The first point of the block's segment.
__device__ __forceinline__ index_t segment_begin(const Geometry &g) {
  const unsigned segment = AXIS == 0 ? blockIdx.x : AXIS == 1 ? blockIdx.y : blockIdx.z;
  return box_begin(g) + index_t(segment)*SEGMENT;
}

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  const index_t start = SEGMENT == 0 ? 0 : segment_begin(g);
  const index_t x = AXIS == 0 ? start : g.x0 + index_t(blockIdx.x)*PENCILS;
  const index_t y = AXIS == 0 ? g.y0 + index_t(blockIdx.y)*PENCILS : AXIS == 1 ? start : g.y0 + index_t(blockIdx.y);
  const index_t z = AXIS == 2 ? start : g.z0 + index_t(blockIdx.z);
  const int length = SEGMENT == 0 ? int(extent(g)) : SEGMENT;
  const Pencils p = {f, g, COEFFICIENT_VALUES, SHARED_MEMORY(real), x, y, z, start, length};
#if OVERLAP
  launch_dependents();
  wait_for_previous();
#endif
  load_lines(p);
  __syncthreads();
  if (ENDS == ENDS_SHARED) {
    fill_ends(p);
    __syncthreads();
  }
  compute_lines(p);
}
