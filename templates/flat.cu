// flat: as in `direct`, each thread reads its taps from global memory and leaves their reuse to registers and caches. But the grid is
// taken as one long line of vectors of 16 bytes, wherever rows and planes begin: so all loads, and nearly all stores, are of aligned
// vectors, and a neighbour in y or z is so many elements further on, a constant of the code. A vector may hold the end of a row and
// the begin of the next; points that are not in the box are computed for nothing and not written. Vectors from which a tap would lie
// before or behind the array, a few at its ends, are computed point by point. Loads through the read-only path stay vectors; plain ones
// the compiler may take apart.
//
// A plane is cut into lines of LINE vectors, about as long as a row. With rows of 9 points and vectors of 4:
//
//      line 0   |0 0 0 0|0 0 0 0|      The digits are rows. A thread's vectors in lines 0, 1, 2 lie beneath each other,
//      line 1   |0 1 1 1|1 1 1 1|      so that taps of one of its points in y fall into the others of its vectors,
//      line 2   |1 1 2 2|2 2 2 2|      or into those beside them.
//
// Likewise with planes: each has the vectors that begin in it, so that points of its first vector's length have to be beside the box. A thread computes POINTS_Y lines times POINTS_Z planes. Where planes
// begin within vectors repeats itself after VECTOR planes, and so threads begin with planes that are multiples of VECTOR.
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#endif

#ifndef POINTS_Z
#define BLOCK_X 32
#define BLOCK_Y 8
#define BLOCK_Z 1
#define POINTS_Y 2
#define POINTS_Z 1
#define ROW_POINTS 512
#define PLANE_POINTS (512*512)
#else
#define ROW_POINTS (Geometry::row)
#define PLANE_POINTS (Geometry::plane)
#endif

constexpr int VECTOR = 16/int(sizeof(real));

__device__ constexpr index_t round_up(index_t count) { return (count + VECTOR - 1)/VECTOR*VECTOR; }

// Elements of a line, and those before the first vector of the r-th of some planes; multiples of VECTOR.
constexpr index_t LINE = (ROW_POINTS + VECTOR/2)/VECTOR*VECTOR;
__device__ constexpr index_t plane_begin(index_t r) { return round_up(r*PLANE_POINTS); }

// How far taps reach in the one long line: whole vectors before that of a point, and behind it.
constexpr index_t REACH_BEFORE = round_up(LOW_Z*PLANE_POINTS + LOW_Y*ROW_POINTS + LOW_X);
constexpr index_t REACH_BEHIND = round_up(HIGH_Z*PLANE_POINTS + HIGH_Y*ROW_POINTS + HIGH_X);

// Taps of one of a thread's points, whose place from the element `first` is known to the compiler: each vector is loaded once however
// many taps of the thread's points fall into it.
struct VectorTaps {
  const Fields &f;
  const Geometry &g;
  index_t first;
  int line, plane, lane;
  __device__ __forceinline__ real operator()(int input, int dx, int dy, int dz) const {
    const index_t position = REACH_BEFORE + plane_begin(plane) + line*LINE + lane + dz*PLANE_POINTS + dy*ROW_POINTS + dx;
    real values[VECTOR];
    read_vector(f, input, g, first + position/VECTOR*VECTOR - REACH_BEFORE, 0, 0, values);
    return values[position%VECTOR];
  }
};

// Taps of any point.
struct PointTaps {
  const Fields &f;
  const Geometry &g;
  index_t x, y, z;
  __device__ __forceinline__ real operator()(int input, int dx, int dy, int dz) const {
    return read_image(f, input, g, x + dx, y + dy, z + dz);
  }
};

struct Thread {
  const Fields &f;
  const Geometry &g;
  const Coefficients &coefficients;
  index_t z;      // its first plane
  index_t first;  // its first element
};

// One of a thread's vectors: how far it lies behind the first point of its plane, and of the array.
__device__ __forceinline__ index_t in_plane(const Thread &t, int line, int plane) {
  return t.first - t.z*PLANE_POINTS + (plane_begin(plane) - plane*PLANE_POINTS) + line*LINE;
}
__device__ __forceinline__ index_t in_array(const Thread &t, int line, int plane) { return t.first + plane_begin(plane) + line*LINE; }

// Whether it holds points of the box's planes and rows.
__device__ __forceinline__ bool has_points(const Thread &t, int line, int plane) {
  const index_t at = in_plane(t, line, plane);
  return t.z + plane >= t.g.z0 && t.z + plane < t.g.z1 && at + VECTOR > t.g.y0*ROW_POINTS && at < t.g.y1*ROW_POINTS;
}

// Whether its taps lie within the array.
__device__ __forceinline__ bool is_inside(const Thread &t, int line, int plane) {
  const index_t at = in_array(t, line, plane);
  return at >= REACH_BEFORE && at + VECTOR + REACH_BEHIND <= t.g.nz*PLANE_POINTS;
}

// Where a point lies that is some elements behind the first one of its plane; a vector may end in the next row.
struct Point {
  index_t x, y;
};
__device__ __forceinline__ Point point_at(index_t at) { return {at%ROW_POINTS, at/ROW_POINTS}; }

__device__ __forceinline__ void write(const Thread &t, int output, int line, int plane, const real (&values)[VECTOR]) {
  const Geometry &g = t.g;
  const index_t at = in_plane(t, line, plane), element = in_array(t, line, plane), z = t.z + plane;
  const Point first = point_at(at);
  if (first.x >= g.x0 && first.x + VECTOR <= g.x1 && first.y >= g.y0 && first.y < g.y1) {
    write_vector(t.f, output, g, element, 0, 0, values);
    return;
  }
#pragma unroll
  for (int lane = 0; lane < VECTOR; lane++) {
    const bool next = first.x + lane >= ROW_POINTS;
    if (in_box(g, first.x + lane - (next ? ROW_POINTS : 0), first.y + (next ? 1 : 0), z)) {
      write_point(t.f, output, g, element + lane, 0, 0, values[lane]);
    }
  }
}

// The results of one vector.
struct Results {
  real value[OUTPUTS][VECTOR];
};

__device__ __forceinline__ void compute(const Thread &t, int line, int plane, Results &results) {
#pragma unroll
  for (int lane = 0; lane < VECTOR; lane++) {
    real point[OUTPUTS];
    update(VectorTaps{t.f, t.g, t.first, line, plane, lane}, t.coefficients, point);
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) results.value[o][lane] = point[o];
  }
}

// All is computed before any is written, since a load behind a store could not be one with those before it.
__device__ __forceinline__ void compute_all(const Thread &t) {
  Results results[POINTS_Z][POINTS_Y];
#pragma unroll
  for (int plane = 0; plane < POINTS_Z; plane++) {
#pragma unroll
    for (int line = 0; line < POINTS_Y; line++) compute(t, line, plane, results[plane][line]);
  }
#pragma unroll
  for (int plane = 0; plane < POINTS_Z; plane++) {
#pragma unroll
    for (int line = 0; line < POINTS_Y; line++) {
#pragma unroll
      for (int o = 0; o < OUTPUTS; o++) write(t, o, line, plane, results[plane][line].value[o]);
    }
  }
}

__device__ __forceinline__ void compute_points(const Thread &t) {
  const index_t at = in_plane(t, 0, 0);
#pragma unroll 1
  for (int lane = 0; lane < VECTOR; lane++) {
    const Point p = point_at(at + lane);
    real point[OUTPUTS];
    if (!in_box(t.g, p.x, p.y, t.z)) continue;
    update(PointTaps{t.f, t.g, p.x, p.y, t.z}, t.coefficients, point);
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) write_point(t.f, o, t.g, p.x, p.y, t.z, point[o]);
  }
}

// Where some of the vectors lie beside the box, or at an end of the array: one by one, as if each were the thread's only one.
__device__ __forceinline__ void compute_some(const Thread &t) {
#pragma unroll 1
  for (int n = 0; n < POINTS_Z*POINTS_Y; n++) {
    const int line = n%POINTS_Y, plane = n/POINTS_Y;
    const Thread one = {t.f, t.g, t.coefficients, t.z + plane, in_array(t, line, plane)};
    if (!has_points(t, line, plane)) continue;
    if (!is_inside(t, line, plane)) {
      compute_points(one);
      continue;
    }
    Results results;
    compute(one, 0, 0, results);
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) write(one, o, 0, 0, results.value[o]);
  }
}

// A row of the box may begin a little before the line of its number, or some lines before where lines are longer than rows.
__device__ __forceinline__ index_t first_line(const Geometry &g) {
  return g.y0*ROW_POINTS > 2*VECTOR ? (g.y0*ROW_POINTS - 2*VECTOR)/LINE : 0;
}

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  const index_t column = (index_t(blockIdx.x)*BLOCK_X + threadIdx.x)*VECTOR;
  const index_t line = first_line(g) + (index_t(blockIdx.y)*BLOCK_Y + threadIdx.y)*POINTS_Y;
  const index_t z = g.z0/POINTS_Z*POINTS_Z + (index_t(blockIdx.z)*BLOCK_Z + threadIdx.z)*POINTS_Z;
  if (column >= LINE || z >= g.z1) return;
  const Thread t = {f, g, COEFFICIENT_VALUES, z, plane_begin(z) + line*LINE + column};
  bool all = is_inside(t, 0, 0) && is_inside(t, POINTS_Y - 1, POINTS_Z - 1);
#pragma unroll
  for (int plane = 0; plane < POINTS_Z; plane++) all = all && has_points(t, 0, plane) && has_points(t, POINTS_Y - 1, plane);
  if (all) compute_all(t);
  else compute_some(t);
}
