// fused_line: a warp advances a strip of a line by STEPS time steps in registers, and writes the strip once. Each step is a stage. A lane
// owns POINTS neighbours. Shuffles fetch the points beside them from the next lanes. There is no shared memory and no barrier.
//
//      |<------------- 32*POINTS points of a warp ------------->|
//      | MARGIN |          written          | at least ALL_HIGH_X |
//
// Each stage makes the outermost points of a strip invalid, because their taps lie outside the strip. Strips overlap, and invalid points
// are not written. A point outside the box keeps its value. So does a point beyond the grid where taps read 0. Images beyond a periodic end
// are computed like any point. Beyond other ends, each stage sets the points that taps reach to the values of their images (GHOSTS).
//
// What is the same in all stages is found once: which points are computed, and the inputs that no stage changes.
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#include "common.cuh"
#endif

#ifndef STEPS
#define STEPS 16
#define POINTS 8
#define WARPS 4
#define VECTOR 4
#endif

// MARGIN: invalid points at the low end of a strip, rounded up to vectors. STRIDE: the distance between the first points of two strips.
constexpr int STRIP = 32*POINTS, MARGIN = round_up(ALL_LOW_X, VECTOR), STRIDE = (STRIP - MARGIN - ALL_HIGH_X)/VECTOR*VECTOR;

// A lane's part of a strip. The warp writes first <= x < last.
struct Part {
  const Fields &f;
  const Geometry &g;
  const Coefficients &coefficients;
  index_t x;  // the lane's first point
  index_t first, last;
#if INPUTS > 1
  real (*kept)[LOW_X + POINTS + HIGH_X];  // the inputs that no stage changes, at the lane's points and those beside them
#endif
#if IMAGES
  unsigned computed;  // a bit for each of the lane's points: whether stages compute it
#endif
};

#if GHOSTS
// Broadcast the value at a point of the strip from its lane to all lanes of the warp.
__device__ __forceinline__ real value_at(const Part &p, const real (&values)[POINTS], index_t x) {
  const unsigned everyone = 0xffffffffu;
  const index_t strip = p.x - int(threadIdx.x%32)*POINTS;
  real value = values[0];
#pragma unroll
  for (int i = 1; i < POINTS; i++) value = (x - strip)%POINTS == i ? values[i] : value;
  return __shfl_sync(everyone, value, int((x - strip)/POINTS)%32);
}

// Set the point at x, beyond an end, to the value that taps read there. If no lane holds the image, no written point needs this value.
__device__ __forceinline__ void fill_ghost(const Part &p, int input, index_t x, real (&values)[POINTS]) {
  const index_t strip = p.x - int(threadIdx.x%32)*POINTS, image = tap_x(p.g, x);
  const bool is_here = image >= strip && image < strip + STRIP;
  const real value = ghost_value(p.f, input, p.g, x, 0, 0, value_at(p, values, is_here ? image : strip));
#pragma unroll
  for (int i = 0; i < POINTS; i++) values[i] = p.x + i == x ? value : values[i];
}
__device__ __forceinline__ void fill_ghosts(const Part &p, int input, real (&values)[POINTS]) {
#pragma unroll
  for (int i = 1; i <= LOW_X; i++) fill_ghost(p, input, -i, values);
#pragma unroll
  for (int i = 0; i < HIGH_X; i++) fill_ghost(p, input, p.g.nx + i, values);
}

// The value that a tap reads of an input that no stage changes. Only taps of points that are not computed reach beyond the clamped range.
__device__ __forceinline__ real read_tap(const Part &p, int input, index_t x) {
  const index_t first = -LOW_X, last = p.g.nx - 1 + HIGH_X;
  return read_image(p.f, input, p.g, x < first ? first : x > last ? last : x, 0, 0);
}
#endif

// Taps of one of the lane's points in a stage. EDGE: some points of the strip lie beyond the grid, or no stage computes them.
template <bool EDGE> struct StageTaps {
  const Part &p;
  const real (&near)[STAGE_BUFFERS][LOW_X + POINTS + HIGH_X];
  int point, stage;
  __device__ __forceinline__ real operator()(int input, int dx, int, int) const {
    const int buffer = input_buffer(stage, input);
    if (buffer >= 0) return near[buffer][LOW_X + point + dx];
#if INPUTS > 1
    return p.kept[input][LOW_X + point + dx];
#elif GHOSTS
    if (EDGE) return read_tap(p, input, p.x + point + dx);
    return read_point(p.f, input, p.g, p.x + point + dx, 0, 0);
#else
    return EDGE ? read_image(p.f, input, p.g, p.x + point + dx, 0, 0) : read_point(p.f, input, p.g, p.x + point + dx, 0, 0);
#endif
  }
};

#if INPUTS > 1
// Load an input that no stage changes, once for all stages. Where no tap goes beside the point, the points beside the lane's are left out.
template <bool EDGE> __device__ __forceinline__ void load_kept(const Part &p, int input) {
  const bool is_beside = staged_slot(input) >= 0;
#pragma unroll
  for (int i = is_beside ? 0 : LOW_X; i < (is_beside ? LOW_X + POINTS + HIGH_X : LOW_X + POINTS); i++) {
    const index_t x = p.x + i - LOW_X;
#if GHOSTS
    p.kept[input][i] = EDGE ? read_tap(p, input, x) : read_point(p.f, input, p.g, x, 0, 0);
#else
    p.kept[input][i] = EDGE ? read_image(p.f, input, p.g, x, 0, 0) : read_point(p.f, input, p.g, x, 0, 0);
#endif
  }
}
#endif

// Load the lane's points of an input.
template <bool EDGE> __device__ __forceinline__ void load_input(const Part &p, int input, real (&values)[POINTS]) {
#pragma unroll
  for (int i = 0; i < POINTS; i += VECTOR) {
    real some[VECTOR];
    if (!EDGE) read_vector(p.f, input, p.g, p.x + i, 0, 0, some);
#pragma unroll
#if GHOSTS
    for (int k = 0; k < VECTOR; k++) values[i + k] = EDGE ? read_point(p.f, input, p.g, loaded_x(p.g, p.x + i + k), 0, 0) : some[k];
#else
    for (int k = 0; k < VECTOR; k++) values[i + k] = EDGE ? read_image(p.f, input, p.g, p.x + i + k, 0, 0) : some[k];
#endif
  }
}

// Write the lane's points of an output. If the strip lies inside the box, a vector is written as a whole or not at all.
template <bool EDGE> __device__ __forceinline__ void write_output(const Part &p, int output, const real (&values)[POINTS]) {
#pragma unroll
  for (int i = 0; i < POINTS; i += VECTOR) {
    const index_t x = p.x + i;
    real some[VECTOR];
#pragma unroll
    for (int k = 0; k < VECTOR; k++) some[k] = values[i + k];
    if (EDGE) write_between(p.f, output, p.g, x, 0, 0, p.first, p.last, some);
    else if (x >= p.first && x < p.last) write_vector(p.f, output, p.g, x, 0, 0, some);
  }
}

// Compute one stage of all points of the lane.
template <bool EDGE> __device__ __forceinline__ void compute_stage(const Part &p, int stage, real (&buffers)[STAGE_BUFFERS][POINTS]) {
  real near[STAGE_BUFFERS][LOW_X + POINTS + HIGH_X], results[OUTPUTS][POINTS];
#pragma unroll
  for (int input = 0; input < INPUTS; input++) {
#if GHOSTS
    if (EDGE && staged_slot(input) >= 0 && input_buffer(stage, input) >= 0) fill_ghosts(p, input, buffers[input_buffer(stage, input)]);
#endif
    if (input_buffer(stage, input) >= 0) find_near<32>(buffers[input_buffer(stage, input)], near[input_buffer(stage, input)]);
  }
#pragma unroll
  for (int i = 0; i < POINTS; i++) {
    real point[OUTPUTS];
    update_stage(stage, StageTaps<EDGE>{p, near, i, stage}, p.coefficients, point);
#if IMAGES
    const bool keeps = EDGE && !(p.computed >> i & 1);
#else
    const bool keeps = EDGE && !is_computed(p.g, p.x + i, 0, 0);
#endif
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) {
      const int input = advanced_input(o);
      results[o][i] = point[o];
#if GHOSTS
      const bool keeps_this = keeps || (EDGE && keeps_value(o, p.g, p.x + i, 0, 0));
      if (keeps_this && input >= 0) results[o][i] = buffers[input_buffer(stage, input)][i];
#else
      if (keeps && input >= 0) results[o][i] = buffers[input_buffer(stage, input)][i];
#endif
    }
  }
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) {
    const int buffer = output_buffer(stage, o), array = stored_as(STAGE_COUNT - 1 - stage, o);
#pragma unroll
    for (int i = 0; i < POINTS; i++) {
      if (buffer >= 0) buffers[buffer][i] = results[o][i];
    }
    if (array >= 0) write_output<EDGE>(p, array, results[o]);
  }
}

template <bool EDGE> __device__ __forceinline__ void compute_strip(const Part &p) {
  real buffers[STAGE_BUFFERS][POINTS];
#pragma unroll
  for (int input = 0; input < INPUTS; input++) {
    if (input_buffer(0, input) >= 0) load_input<EDGE>(p, input, buffers[input_buffer(0, input)]);
#if INPUTS > 1
    else load_kept<EDGE>(p, input);
#endif
  }
#pragma unroll
  for (int stage = 0; stage < STAGE_COUNT; stage++) compute_stage<EDGE>(p, stage, buffers);
}

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  const index_t number = index_t(blockIdx.x)*WARPS + threadIdx.x/32, left = g.x0/VECTOR*VECTOR + number*STRIDE, x = left - MARGIN;
  if (left >= g.x1) return;
#if INPUTS > 1
  real kept[INPUTS][LOW_X + POINTS + HIGH_X];
#endif
#if IMAGES
  unsigned computed = 0;
#pragma unroll
  for (int i = 0; i < POINTS; i++) computed |= unsigned(is_computed(g, x + int(threadIdx.x%32)*POINTS + i, 0, 0)) << i;
#endif
  const Part p = {f, g, COEFFICIENT_VALUES, x + int(threadIdx.x%32)*POINTS, max(left, g.x0), min(left + STRIDE, g.x1)
#if INPUTS > 1
                  , kept
#endif
#if IMAGES
                  , computed
#endif
  };
  if (x >= g.x0 + LOW_X && x + STRIP + HIGH_X <= g.x1) compute_strip<false>(p);
  else compute_strip<true>(p);
}
