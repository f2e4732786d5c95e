// flat: each thread computes vectors of 16 bytes and reads its taps from global memory, as in `direct`. Registers and caches serve the values that
// several taps read. There is no shared memory and no barrier. The grid is one long line of aligned vectors, wherever rows and planes begin. So all
// loads and nearly all stores are aligned vectors, and a neighbour in y or z is a constant number of elements away. A vector may contain the end of
// a row and the beginning of the next. Points outside the box are computed but not written. The few vectors at the ends of the array whose taps
// leave the array are computed point by point. Loads on the read-only path stay vectors; the compiler may split plain loads.
//
// A plane is cut into lines of LINE vectors, about as long as a row. With rows of 9 points and vectors of 4:
//
//      line 0   |0 0 0 0|0 0 0 0|      The digits are rows. A thread's vectors in lines 0, 1, 2 lie below each other, so
//      line 1   |0 1 1 1|1 1 1 1|      that taps of one of its points in y fall into another of its vectors, or into the
//      line 2   |1 1 2 2|2 2 2 2|      vector beside that.
//
// A thread computes POINTS_Y lines in each of POINTS_Z planes. A plane owns the vectors that begin in it. Its first points may lie in a
// vector of the plane before; a rule keeps the box away from them. After VECTOR planes, a plane begins at the same lane of a vector again.
// So the first plane of a thread is a multiple of POINTS_Z.
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#include "common.cuh"
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

// LINE: the elements of a line. plane_begin(r): the elements before the first vector that begins in plane r. Both are multiples of VECTOR.
constexpr index_t LINE = (ROW_POINTS + VECTOR/2)/VECTOR*VECTOR;
__device__ constexpr index_t whole_vectors(index_t count) { return (count + VECTOR - 1)/VECTOR*VECTOR; }
__device__ constexpr index_t plane_begin(index_t r) { return whole_vectors(r*PLANE_POINTS); }

// How far taps reach along the long line, before and behind a point's vector, in elements of whole vectors.
constexpr index_t REACH_BEFORE = whole_vectors(LOW_Z*PLANE_POINTS + LOW_Y*ROW_POINTS + LOW_X);
constexpr index_t REACH_BEHIND = whole_vectors(HIGH_Z*PLANE_POINTS + HIGH_Y*ROW_POINTS + HIGH_X);

struct Thread {
  const Fields &f;
  const Geometry &g;
  const Coefficients &coefficients;
  index_t z;      // its first plane
  index_t first;  // its first element
};

#if USES_AXES
__device__ __forceinline__ real read_beside(const Thread &t, int input, int line, int plane, int lane);

#endif
// Taps of one of a thread's points. After unrolling, their distance from the thread's first element is a constant. So each vector is loaded
// once, however many taps of the thread's points fall into it.
struct LineTaps {
  const Thread &t;
  int line, plane, lane;
  __device__ __forceinline__ real operator()(int input, int dx, int dy, int dz) const {
#if USES_AXES
    if (staged_slot(input) < 0) return read_beside(t, input, line, plane, lane);
#endif
    const index_t position = REACH_BEFORE + plane_begin(plane) + line*LINE + lane + dz*PLANE_POINTS + dy*ROW_POINTS + dx;
    real values[VECTOR];
    read_vector(t.f, input, t.g, t.first + position/VECTOR*VECTOR - REACH_BEFORE, 0, 0, values);
    return values[position%VECTOR];
  }
};

// The distance of one of a thread's vectors from the first point of its plane, and from the first element of the array.
__device__ __forceinline__ index_t in_plane(const Thread &t, int line, int plane) {
  return t.first - t.z*PLANE_POINTS + (plane_begin(plane) - plane*PLANE_POINTS) + line*LINE;
}
__device__ __forceinline__ index_t in_array(const Thread &t, int line, int plane) { return t.first + plane_begin(plane) + line*LINE; }

// Whether the vector holds points of the box's planes and rows.
__device__ __forceinline__ bool has_points(const Thread &t, int line, int plane) {
  const index_t at = in_plane(t, line, plane);
  return t.z + plane >= t.g.z0 && t.z + plane < t.g.z1 && at + VECTOR > t.g.y0*ROW_POINTS && at < t.g.y1*ROW_POINTS;
}

// Whether all taps of the vector lie in the array.
__device__ __forceinline__ bool is_inside(const Thread &t, int line, int plane) {
  const index_t at = in_array(t, line, plane);
  return at >= REACH_BEFORE && at + VECTOR + REACH_BEHIND <= t.g.nz*PLANE_POINTS;
}

// The point at a distance from the first point of its plane.
struct Point {
  index_t x, y;
};
__device__ __forceinline__ Point point_at(index_t at) { return {at%ROW_POINTS, at/ROW_POINTS}; }

#if USES_AXES
// The value of a field that is read at the point alone. Its layout in memory may differ from the others. Some lanes lie behind the plane.
__device__ __forceinline__ real read_beside(const Thread &t, int input, int line, int plane, int lane) {
  const Point p = point_at(in_plane(t, line, plane) + lane);
  return read_point(t.f, input, t.g, p.x, p.y < t.g.ny ? p.y : t.g.ny - 1, t.z + plane);
}
#endif

#if PLAIN_ENDS && !IMAGES
// Write the lanes of a vector that lie in the box. The vector may end in the next row.
__device__ __forceinline__ void write_lanes(const Thread &t, int output, int line, int plane, const real (&values)[VECTOR]) {
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

#else
// Whether the vector's points lie in the box, and their taps in the grid.
__device__ __forceinline__ bool is_interior(const Thread &t, int line, int plane) {
  const Point first = point_at(in_plane(t, line, plane));
  const Geometry &g = t.g;
  return first.x >= g.x0 && first.x + VECTOR <= g.x1 && first.y >= g.y0 && first.y < g.y1 &&
         (!IMAGES || taps_inside<VECTOR>(g, first.x, first.y, t.z + plane));
}

// Write the lanes of a vector that lie in the box and whose taps lie in the grid. The vector may end in the next row.
__device__ __forceinline__ void write_lanes(const Thread &t, int output, int line, int plane, const real (&values)[VECTOR]) {
  const Geometry &g = t.g;
  const index_t at = in_plane(t, line, plane), z = t.z + plane;
  const Point first = point_at(at);
  if (is_interior(t, line, plane)) {
    write_vector(t.f, output, g, first.x, first.y, z, values);
    return;
  }
#pragma unroll
  for (int lane = 0; lane < VECTOR; lane++) {
    const Point p = point_at(at + lane);
    if (in_box(g, p.x, p.y, z) && (!IMAGES || taps_inside<1>(g, p.x, p.y, z))) write_point(t.f, output, g, p.x, p.y, z, values[lane]);
  }
}
#endif

#if IMAGES
// Compute the points whose taps leave the grid: in the long line, these taps fall on points of other rows. The points are not written yet.
// So an input that an output overwrites still holds their old values.
__device__ __forceinline__ void compute_ends(const Thread &t, int lines, int planes) {
#pragma unroll 1
  for (int n = 0; n < lines*planes; n++) {
    const int line = n%lines, plane = n/lines;
    const index_t at = in_plane(t, line, plane), z = t.z + plane;
    if (is_interior(t, line, plane)) continue;
#pragma unroll 1
    for (int lane = 0; lane < VECTOR; lane++) {
      const Point p = point_at(at + lane);
      if (taps_inside<1>(t.g, p.x, p.y, z)) continue;
      compute_point(PointTaps{t.f, t.g, p.x, p.y, z}, t.coefficients, t.f, t.g, p.x, p.y, z);
    }
  }
}
#endif

// Compute all vectors of the thread before any is written: the compiler cannot merge a load behind a store with a load before it.
__device__ __forceinline__ void compute_all(const Thread &t) {
  real results[POINTS_Z][POINTS_Y][OUTPUTS][VECTOR];
#pragma unroll
  for (int plane = 0; plane < POINTS_Z; plane++) {
#pragma unroll
    for (int line = 0; line < POINTS_Y; line++) update_vector(LineTaps{t, line, plane, 0}, t.coefficients, results[plane][line]);
  }
#pragma unroll
  for (int plane = 0; plane < POINTS_Z; plane++) {
#pragma unroll
    for (int line = 0; line < POINTS_Y; line++) {
#pragma unroll
      for (int o = 0; o < OUTPUTS; o++) write_lanes(t, o, line, plane, results[plane][line][o]);
    }
  }
#if IMAGES
  compute_ends(t, POINTS_Y, POINTS_Z);
#endif
}

__device__ __forceinline__ void compute_points(const Thread &t) {
  const index_t at = in_plane(t, 0, 0);
#pragma unroll 1
  for (int lane = 0; lane < VECTOR; lane++) {
    const Point p = point_at(at + lane);
    compute_point(PointTaps{t.f, t.g, p.x, p.y, t.z}, t.coefficients, t.f, t.g, p.x, p.y, t.z);
  }
}

// Compute the thread's vectors one by one. This is for threads with vectors beside the box or at an end of the array.
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
    real results[OUTPUTS][VECTOR];
    update_vector(LineTaps{one, 0, 0, 0}, t.coefficients, results);
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) write_lanes(one, o, 0, 0, results[o]);
#if IMAGES
    compute_ends(one, 1, 1);
#endif
  }
}

// The line in which the first row of the box begins. It begins slightly before the line with the same number; if lines are longer than
// rows, it begins some lines before.
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
