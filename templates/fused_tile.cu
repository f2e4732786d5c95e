// fused_tile: a block advances a tile by STEPS time steps in shared memory, and writes the tile once. Each step is a stage.
//
// The block loads the tile with a halo as wide as all stages together reach. Each stage computes the points that later stages need: the region
// shrinks by the reach of the next stage at each side. Neighbouring blocks compute the halos, too, and exchange nothing. In one dimension:
//
//      x -->   h 0 1 2 2 2 2 1 0 h     TILE_X 4, STEPS 3, reach 1. A digit is the last stage that computes the point; h is only loaded.
//
// A stage reads each input from one buffer in shared memory, and writes its outputs to other buffers. Buffers swap from stage to stage, and
// a barrier comes before each stage. Inputs that no stage changes are read from global memory in every stage.
//
// A point outside the box keeps its value. So does a point beyond the grid where taps read 0. Images beyond a periodic axis are computed
// like any point. Taps beyond other ends read the images in shared memory (GHOSTS).
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#include "common.cuh"
#endif

#ifndef STEPS
#define STEPS 2
#define TILE_X 32
#define TILE_Y 8
#define TILE_Z 8
#define BLOCK_X 256
#endif

// The volume that a block loads to shared memory, in elements.
constexpr int ROW = TILE_X + ALL_SPAN_X;
constexpr int PLANE = ROW*(TILE_Y + ALL_SPAN_Y);
constexpr int VOLUME = PLANE*(TILE_Z + ALL_SPAN_Z);

// The place of a point in shared memory. The point is given relative to the tile's first point.
__device__ __forceinline__ int cell(int x, int y, int z) {
  return (z + ALL_LOW_Z)*PLANE + (y + ALL_LOW_Y)*ROW + x + ALL_LOW_X;
}

struct Tile {
  const Fields &f;
  const Geometry &g;
  const Coefficients &coefficients;
  index_t x, y, z;  // its first point
  real *shared;     // STAGE_BUFFERS volumes
};

#if GHOSTS
// The place in shared memory of the point that a tap reads, or of its image.
__device__ __forceinline__ int image_cell(const Tile &t, index_t x, index_t y, index_t z) {
  return cell(int(tap_x(t.g, x) - t.x), int(tap_y(t.g, y) - t.y), int(tap_z(t.g, z) - t.z));
}

// The value that a block at an end loads for a point. Beyond ends that are not periodic, no tap reads it.
__device__ __forceinline__ real load_at_end(const Tile &t, int input, index_t x, index_t y, index_t z) {
  return read_point(t.f, input, t.g, loaded_x(t.g, x), loaded_y(t.g, y), loaded_z(t.g, z));
}
#endif

// A point of the block's volume, relative to the tile's first point.
struct Point {
  int x, y, z;
};

// The n-th point of the tile with the halo that `later` more stages need.
__device__ __forceinline__ Point point_of(int n, int later) {
  const int width = TILE_X + sum_last(later, STAGE_SPAN_X), height = TILE_Y + sum_last(later, STAGE_SPAN_Y);
  return {n%width - sum_last(later, STAGE_LOW_X), n/width%height - sum_last(later, STAGE_LOW_Y), n/(width*height) - sum_last(later, STAGE_LOW_Z)};
}
__device__ constexpr int count_of_points(int later) {
  return (TILE_X + sum_last(later, STAGE_SPAN_X))*(TILE_Y + sum_last(later, STAGE_SPAN_Y))*(TILE_Z + sum_last(later, STAGE_SPAN_Z));
}

// Taps of a point in one stage. EDGE: some of the block's points lie beyond the grid, or no stage computes them.
template <bool EDGE> struct StageTaps {
  const Tile &t;
  Point p;
  int stage;
  __device__ __forceinline__ real operator()(int input, int dx, int dy, int dz) const {
    const index_t x = t.x + p.x + dx, y = t.y + p.y + dy, z = t.z + p.z + dz;
    const int buffer = input_buffer(stage, input);
    if (buffer < 0) return EDGE ? read_image(t.f, input, t.g, x, y, z) : read_point(t.f, input, t.g, x, y, z);
    const real *values = t.shared + buffer*VOLUME;
    if (!EDGE) return values[cell(p.x + dx, p.y + dy, p.z + dz)];
#if GHOSTS
    return ghost_value(t.f, input, t.g, x, y, z, values[image_cell(t, x, y, z)]);
#else
    return values[cell(int(tap_x(t.g, x) - t.x), int(tap_y(t.g, y) - t.y), int(tap_z(t.g, z) - t.z))];
#endif
  }
};

// Load an input that changes, with the halo that the taps of the first stage reach.
template <bool EDGE> __device__ __forceinline__ void load_input(const Tile &t, int input) {
  const int later = staged_slot(input) < 0 ? STAGE_COUNT - 1 : STAGE_COUNT;
  real *values = t.shared + input_buffer(0, input)*VOLUME;
#pragma unroll 4
  for (int n = threadIdx.x; n < count_of_points(later); n += BLOCK_X) {
    const Point p = point_of(n, later);
    const index_t x = t.x + p.x, y = t.y + p.y, z = t.z + p.z;
#if GHOSTS
    values[cell(p.x, p.y, p.z)] = EDGE ? load_at_end(t, input, x, y, z) : read_point(t.f, input, t.g, x, y, z);
#else
    values[cell(p.x, p.y, p.z)] = EDGE ? read_image(t.f, input, t.g, x, y, z) : read_point(t.f, input, t.g, x, y, z);
#endif
  }
}

// Copy the inputs of a point that no step computes to its results.
__device__ __forceinline__ void keep_inputs(const Tile &t, int stage, Point p, real (&results)[OUTPUTS]) {
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) {
    const int input = advanced_input(o);
    if (input >= 0) results[o] = t.shared[input_buffer(stage, input)*VOLUME + cell(p.x, p.y, p.z)];
  }
}

#if GHOSTS
// Copy the inputs only to the outputs that have the rule `keep` at the point.
__device__ __forceinline__ void keep_values(const Tile &t, int stage, Point p, real (&results)[OUTPUTS]) {
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) {
    const int input = advanced_input(o);
    if (input < 0 || !keeps_value(o, t.g, t.x + p.x, t.y + p.y, t.z + p.z)) continue;
    results[o] = t.shared[input_buffer(stage, input)*VOLUME + cell(p.x, p.y, p.z)];
  }
}
#endif

// Whether the launch writes a point: it lies in the tile and in the box.
__device__ __forceinline__ bool is_written(const Tile &t, Point p) {
  return p.x >= 0 && p.x < TILE_X && p.y >= 0 && p.y < TILE_Y && p.z >= 0 && p.z < TILE_Z &&
         in_box(t.g, t.x + p.x, t.y + p.y, t.z + p.z);
}

// Compute a stage. Write the outputs to the buffers of the next stage, and store those that are needed after the launch.
template <bool EDGE> __device__ __forceinline__ void compute_stage(const Tile &t, int stage) {
  const int later = STAGE_COUNT - 1 - stage;
#pragma unroll 1
  for (int n = threadIdx.x; n < count_of_points(later); n += BLOCK_X) {
    const Point p = point_of(n, later);
    real results[OUTPUTS];
    if (!EDGE || is_computed(t.g, t.x + p.x, t.y + p.y, t.z + p.z)) update_stage(stage, StageTaps<EDGE>{t, p, stage}, t.coefficients, results);
    else keep_inputs(t, stage, p, results);
#if GHOSTS
    if (EDGE) keep_values(t, stage, p, results);
#endif
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) {
      if (later > 0 && output_buffer(stage, o) >= 0) t.shared[output_buffer(stage, o)*VOLUME + cell(p.x, p.y, p.z)] = results[o];
      if (stored_as(later, o) >= 0 && is_written(t, p)) {
        write_point(t.f, stored_as(later, o), t.g, t.x + p.x, t.y + p.y, t.z + p.z, results[o]);
      }
    }
  }
}

template <bool EDGE> __device__ __forceinline__ void compute_tile(const Tile &t) {
#pragma unroll
  for (int input = 0; input < INPUTS; input++) {
    if (input_buffer(0, input) >= 0) load_input<EDGE>(t, input);
  }
#pragma unroll
  for (int stage = 0; stage < STAGE_COUNT; stage++) {
    __syncthreads();
    compute_stage<EDGE>(t, stage);
  }
}

// Whether all points that the block loads lie in the grid, and all points that it computes lie in the box.
__device__ __forceinline__ bool is_inside(const Tile &t) {
  const Geometry &g = t.g;
  constexpr int last = STAGE_COUNT - 1;
  return t.x >= ALL_LOW_X && t.x + TILE_X + ALL_HIGH_X <= g.nx && t.y >= ALL_LOW_Y && t.y + TILE_Y + ALL_HIGH_Y <= g.ny &&
         t.z >= ALL_LOW_Z && t.z + TILE_Z + ALL_HIGH_Z <= g.nz && t.x - sum_last(last, STAGE_LOW_X) >= g.x0 &&
         t.x + TILE_X + sum_last(last, STAGE_HIGH_X) <= g.x1 && t.y - sum_last(last, STAGE_LOW_Y) >= g.y0 && t.y + TILE_Y + sum_last(last, STAGE_HIGH_Y) <= g.y1 &&
         t.z - sum_last(last, STAGE_LOW_Z) >= g.z0 && t.z + TILE_Z + sum_last(last, STAGE_HIGH_Z) <= g.z1;
}

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  const Tile t = {f, g, COEFFICIENT_VALUES, g.x0 + index_t(blockIdx.x)*TILE_X, g.y0 + index_t(blockIdx.y)*TILE_Y,
                  g.z0 + index_t(blockIdx.z)*TILE_Z, SHARED_MEMORY(real)};
  if (is_inside(t)) compute_tile<false>(t);
  else compute_tile<true>(t);
}
