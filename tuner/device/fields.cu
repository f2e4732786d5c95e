// fields: kernels that make the fields of a problem in the GPU's memory: inputs from a seed, and the reference in double
// precision, of the whole grid or of a part. It follows check.cu in one source, with the limits MOST_... of tuner/device/gpu_recipe.h between them. Its
// structs are those of that file.
//
// The reference interprets the instructions that tuner/verify/row_program.h runs on the CPU, a point a thread. It shares
// nothing with the kernels that are verified with it.

enum { PERIODIC = 1, PERIODIC_ENDPOINT, CLAMP };  // other boundaries: the value is 0
enum { COPY, NEGATE, ADD, SUBTRACT, MULTIPLY, DIVIDE, FABS, SQRT, FMIN = 11, FMAX, FMA };  // of tuner/verify/row_operations.h

struct Filling {
  unsigned long long key;
  double low, high;   // the range of values; both 0: from -1 to 1
  long long leader;   // the buffer whose points outside of the box it has; its own number: none
};

struct Constant {
  double value, magnitude;
};

struct Tap {
  int input, offset[3];
};

struct Instruction {
  int operation, result, args[3], carried;
  double doubt;
};

struct Recipe {
  long long n[3], period[3], low[3], high[3];
  long long boundary[3];
  double most;  // the largest number of the element type
  Filling fillings[2*MOST_FIELDS];
  long long input_count, output_count, constant_count, tap_count, instruction_count;
  Constant constants[MOST_CONSTANTS];
  Tap taps[MOST_TAPS];
  Instruction instructions[MOST_INSTRUCTIONS];
  long long steps, sources[8];
};

// What a step reads. Where a step before has computed an input, its values and magnitudes have the computed points.
struct Inputs {
  const void *starts[8];                    // NULL: each value is drawn once more where it is read
  const double *values[8], *magnitudes[8];  // NULL: not computed yet
};

// Points with low <= point < high.
struct Box {
  long long low[3], high[3];
};

// The part of the grid that a step of the reference computes, and the parts whose results are in memory, x fastest.
// Parts may go beyond the ends of a periodic axis.
struct Window {
  Box points, from, to;  // from: results of the step before; to: those of this step
};

struct Point {
  long long at[3];
};

__device__ __forceinline__ Point point_of(const Recipe &recipe, long long index) {
  const long long row = index/recipe.n[0], z = row/recipe.n[1];
  return {{index - row*recipe.n[0], row - z*recipe.n[1], z}};
}

// The points of a field that a thread visits, each `step` after the one before. A walk has no division in its loop.
struct Walk {
  Point point, step;
};

__device__ __forceinline__ Walk walk_from(const Recipe &recipe, long long first, long long step) {
  return {point_of(recipe, first), point_of(recipe, step)};
}

__device__ __forceinline__ void walk_on(const Recipe &recipe, Walk &walk) {
  long long carry = 0;
  for (int axis = 0; axis < 3; axis++) {
    const long long next = walk.point.at[axis] + walk.step.at[axis] + carry;
    carry = next >= recipe.n[axis] && axis < 2;
    walk.point.at[axis] = carry ? next - recipe.n[axis] : next;
  }
}

__device__ __forceinline__ bool is_computed(const Recipe &recipe, const Point &point) {
  bool inside = true;
  for (int axis = 0; axis < 3; axis++) inside = inside && point.at[axis] >= recipe.low[axis] && point.at[axis] < recipe.high[axis];
  return inside;
}

// random_bits of base/numbers/random.h.
__device__ __forceinline__ unsigned long long random_bits(unsigned long long key, unsigned long long index) {
  unsigned long long bits = key + (index + 1)*0x9e3779b97f4a7c15ull;
  bits = (bits ^ bits >> 30)*0xbf58476d1ce4e5b9ull;
  bits = (bits ^ bits >> 27)*0x94d049bb133111ebull;
  return bits ^ bits >> 31;
}

__device__ __forceinline__ long long in_period(long long at, long long period) { return at < period ? at : at % period; }

// input_value of tuner/verify/inputs.h, with the same bits. The compiler makes fused multiply-adds of products and sums,
// but not of __dmul_rn and __dadd_rn.
template <class Real> __device__ __forceinline__ Real input_value(const Recipe &recipe, const Filling &filling, const Point &point) {
  const long long x = in_period(point.at[0], recipe.period[0]), y = in_period(point.at[1], recipe.period[1]);
  const long long z = in_period(point.at[2], recipe.period[2]);
  const unsigned long long bits = random_bits(filling.key, x + recipe.n[0]*(y + recipe.n[1]*z));
  const double value = __dadd_rn(double((long long)(bits >> 12 << 1 | 1))*0x1p-52, -1);
  const double in_range = __dadd_rn(filling.low, __dmul_rn(filling.high - filling.low, (1 + value)/2));
  return Real(filling.low < filling.high ? in_range : value);
}

// A buffer's content before a launch.
template <class Real> __device__ __forceinline__ Real start_value(const Recipe &recipe, int buffer, const Point &point) {
  const long long leader = recipe.fillings[buffer].leader;
  return input_value<Real>(recipe, recipe.fillings[is_computed(recipe, point) ? buffer : leader], point);
}

template <class Real> __device__ __forceinline__ void fill(Real *to, const Recipe &recipe, int buffer) {
  const long long count = recipe.n[0]*recipe.n[1]*recipe.n[2], step = (long long)gridDim.x*blockDim.x;
  const long long first = (long long)blockIdx.x*blockDim.x + threadIdx.x;
  Walk walk = walk_from(recipe, first, step);
  for (long long i = first; i < count; i += step, walk_on(recipe, walk)) to[i] = start_value<Real>(recipe, buffer, walk.point);
}

extern "C" __global__ void __launch_bounds__(256) fill_f32(float *to, const Recipe *recipe, int buffer) { fill(to, *recipe, buffer); }

extern "C" __global__ void __launch_bounds__(256) fill_f64(double *to, const Recipe *recipe, int buffer) { fill(to, *recipe, buffer); }

// The index of the point whose value a tap reads along an axis; negative: the value is 0.
__device__ __forceinline__ long long image_of(const Recipe &recipe, int axis, long long index) {
  const long long n = recipe.n[axis];
  if (index >= 0 && index < n) return index;
  const long long boundary = recipe.boundary[axis], period = boundary == PERIODIC ? n : n - 1;
  if (boundary == CLAMP) return index < 0 ? 0 : n - 1;
  if (boundary != PERIODIC && boundary != PERIODIC_ENDPOINT) return -1;
  const long long rest = index % period;
  return rest < 0 ? rest + period : rest;
}

__device__ __forceinline__ long long points_in(const Box &box) {
  return (box.high[0] - box.low[0])*(box.high[1] - box.low[1])*(box.high[2] - box.low[2]);
}

// The point of a box with this index.
__device__ __forceinline__ Point point_in(const Box &box, long long index) {
  const long long nx = box.high[0] - box.low[0], ny = box.high[1] - box.low[1], row = index/nx, z = row/ny;
  return {{box.low[0] + index - row*nx, box.low[1] + row - z*ny, box.low[2] + z}};
}

__device__ __forceinline__ long long index_in(const Box &box, const Point &point) {
  const long long nx = box.high[0] - box.low[0], ny = box.high[1] - box.low[1];
  return point.at[0] - box.low[0] + nx*(point.at[1] - box.low[1] + ny*(point.at[2] - box.low[2]));
}

// A point beyond the end of a periodic axis has two indices: its own, and that of its image in the grid. A box holds one of them
// at least, for each axis.
__device__ __forceinline__ Point place_in(const Box &box, const Point &point, const Point &image) {
  Point place;
  for (int axis = 0; axis < 3; axis++) {
    const bool is_there = point.at[axis] >= box.low[axis] && point.at[axis] < box.high[axis];
    place.at[axis] = is_there ? point.at[axis] : image.at[axis];
  }
  return place;
}

__device__ __forceinline__ Point image_in_grid(const Recipe &recipe, const Point &point) {
  Point image;
  for (int axis = 0; axis < 3; axis++) image.at[axis] = image_of(recipe, axis, point.at[axis]);
  return image;
}

template <class Real>
__device__ __forceinline__ Constant read_tap(const Recipe &recipe, const Inputs &inputs, const Box &from, const Tap &tap, const Point &point) {
  const Point at = {{point.at[0] + tap.offset[0], point.at[1] + tap.offset[1], point.at[2] + tap.offset[2]}};
  const Point image = image_in_grid(recipe, at);
  if (image.at[0] < 0 || image.at[1] < 0 || image.at[2] < 0) return {0, 0};
  if (inputs.values[tap.input] && is_computed(recipe, image)) {
    const long long i = index_in(from, place_in(from, at, image));
    return {inputs.values[tap.input][i], inputs.magnitudes[tap.input][i]};
  }
  const Real *start = static_cast<const Real *>(inputs.starts[tap.input]);
  const long long i = image.at[0] + recipe.n[0]*(image.at[1] + recipe.n[1]*image.at[2]);
  const double value = double(start ? start[i] : start_value<Real>(recipe, tap.input, image));
  return {value, fabs(value)};
}

// See root_magnitude of tuner/verify/row_operations.c.
__device__ __forceinline__ double root_magnitude(double a, double m) { return m == 0 ? 0 : m/sqrt(fmax(fabs(a), 0x1p-53*m)); }

// Infinity, for which NVRTC has no name.
__device__ __forceinline__ double no_bound() { return __dmul_rn(1e308, 10); }

// See product_magnitude of tuner/verify/row_operations.c.
__device__ __forceinline__ double product_magnitude(const Constant &a, const Constant &b, double doubt, bool carried) {
  const double counted = carried ? 0 : 1;
  const double size = __dadd_rn(fabs(a.value), __dmul_rn(doubt, a.magnitude - counted*fabs(a.value)));
  return __dadd_rn(__dmul_rn(a.magnitude, fabs(b.value)), __dmul_rn(size, b.magnitude - counted*fabs(b.value)));
}

// See quotient_magnitude of tuner/verify/row_operations.c.
__device__ __forceinline__ double quotient_magnitude(const Constant &a, const Constant &b, double doubt, bool carried) {
  const double rest = b.magnitude/fabs(b.value) - (carried ? 0 : 1), sum = __dadd_rn(a.magnitude, __dmul_rn(fabs(a.value), rest));
  const double part = __dmul_rn(doubt, rest), nearness = part < 1 ? 1/__dadd_rn(1, -part) : carried ? no_bound() : __dadd_rn(1, part);
  return __dmul_rn(sum/fabs(b.value), nearness);
}

// The values and magnitudes of tuner/verify/row_operations.c.
__device__ __noinline__ Constant operate(int operation, const Constant &a, const Constant &b, const Constant &c, double doubt, bool carried) {
  switch (operation) {
  case NEGATE: return {-a.value, a.magnitude};
  case ADD: return {a.value + b.value, a.magnitude + b.magnitude};
  case SUBTRACT: return {a.value - b.value, a.magnitude + b.magnitude};
  case MULTIPLY: return {a.value*b.value, product_magnitude(a, b, doubt, carried)};
  case DIVIDE: return {a.value/b.value, quotient_magnitude(a, b, doubt, carried)};
  case FABS: return {fabs(a.value), a.magnitude};
  case SQRT: return {sqrt(a.value), root_magnitude(a.value, a.magnitude)};
  case FMIN: return {fmin(a.value, b.value), fmax(a.magnitude, b.magnitude)};
  case FMAX: return {fmax(a.value, b.value), fmax(a.magnitude, b.magnitude)};
  case FMA: return {fma(a.value, b.value, c.value), __dadd_rn(product_magnitude(a, b, doubt, carried), c.magnitude)};
  default: return a;
  }
}

// Compute the outputs at one point.
template <class Real>
__device__ __forceinline__ void compute(const Recipe &recipe, const Inputs &inputs, const Box &from, const Point &point,
                                        Constant *results) {
  const int first_tap = int(recipe.constant_count), first_result = first_tap + int(recipe.tap_count);
  for (int i = 0; i < int(recipe.instruction_count); i++) {
    const Instruction &instruction = recipe.instructions[i];
    Constant args[3];
    for (int k = 0; k < 3; k++) {
      const int row = instruction.args[k];
      args[k] = row < first_tap      ? recipe.constants[row]
                : row < first_result ? read_tap<Real>(recipe, inputs, from, recipe.taps[row - first_tap], point)
                                     : results[row - first_result];
      if (k == 0 && instruction.operation <= NEGATE) break;
      if (k == 1 && instruction.operation != FMA) break;
    }
    Constant &result = results[instruction.result - first_result];
    result = operate(instruction.operation, args[0], args[1], args[2], instruction.doubt, instruction.carried);
    if (!(result.magnitude >= 0)) result.magnitude = no_bound();  // see bound_or_none of tuner/verify/row_operations.c
  }
}

// Compute a step of the reference of one output in a window. Points whose value the element type cannot hold, or whose
// magnitude is infinite, are bad.
template <class Real>
__device__ __forceinline__ void refer(const Recipe &recipe, const Inputs &inputs, const Window &window, int output,
                                      double *want, double *magnitudes, Found *found) {
  Found mine = nothing();
  const long long count = points_in(window.points), step = (long long)gridDim.x*blockDim.x;
  for (long long i = (long long)blockIdx.x*blockDim.x + threadIdx.x; i < count; i += step) {
    const Point point = point_in(window.points, i), image = image_in_grid(recipe, point);
    Constant results[MOST_RESULTS];
    if (!is_computed(recipe, image)) continue;
    compute<Real>(recipe, inputs, window.from, point, results);
    const long long to = index_in(window.to, point);
    want[to] = results[output].value;
    magnitudes[to] = results[output].magnitude;
    if (fabs(results[output].value) <= recipe.most && is_finite(results[output].magnitude)) continue;
    mine.bad++;
    mine.first_bad = min(mine.first_bad, image.at[0] + recipe.n[0]*(image.at[1] + recipe.n[1]*image.at[2]));
  }
  sum_up(mine, found);
}

// Each pointer is an argument of its own, so that the driver of tests sees which memory a kernel uses.
extern "C" __global__ void __launch_bounds__(256)
reference_f32(const Recipe *recipe,
              const float *s0, const float *s1, const float *s2, const float *s3,
              const float *s4, const float *s5, const float *s6, const float *s7,
              const double *v0, const double *v1, const double *v2, const double *v3,
              const double *v4, const double *v5, const double *v6, const double *v7,
              const double *m0, const double *m1, const double *m2, const double *m3,
              const double *m4, const double *m5, const double *m6, const double *m7,
              Window window, int output, double *want, double *magnitudes, Found *found) {
  const Inputs inputs = {{s0, s1, s2, s3, s4, s5, s6, s7},
                         {v0, v1, v2, v3, v4, v5, v6, v7},
                         {m0, m1, m2, m3, m4, m5, m6, m7}};
  refer<float>(*recipe, inputs, window, output, want, magnitudes, found);
}

extern "C" __global__ void __launch_bounds__(256)
reference_f64(const Recipe *recipe,
              const double *s0, const double *s1, const double *s2, const double *s3,
              const double *s4, const double *s5, const double *s6, const double *s7,
              const double *v0, const double *v1, const double *v2, const double *v3,
              const double *v4, const double *v5, const double *v6, const double *v7,
              const double *m0, const double *m1, const double *m2, const double *m3,
              const double *m4, const double *m5, const double *m6, const double *m7,
              Window window, int output, double *want, double *magnitudes, Found *found) {
  const Inputs inputs = {{s0, s1, s2, s3, s4, s5, s6, s7},
                         {v0, v1, v2, v3, v4, v5, v6, v7},
                         {m0, m1, m2, m3, m4, m5, m6, m7}};
  refer<double>(*recipe, inputs, window, output, want, magnitudes, found);
}
