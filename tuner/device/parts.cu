// parts: kernels that check a problem whose fields fill the GPU's memory. There is no room for copies of the inputs, and
// the reference exists for one part of the grid at a time. It follows fields.cu in one source.

// Check an input and its guards. Its content is compared, as numbers, with what the recipe says.
//   look  in elements of the field
template <class Bits, class Real>
__device__ __forceinline__ void check_start(const Bits *memory, const Recipe &recipe, int buffer, const Look &look, Found *found) {
  static_assert(sizeof(Bits) == sizeof(Real), "an element has the bits of a number");
  Found mine = nothing();
  const long long step = (long long)gridDim.x*blockDim.x, first = (long long)blockIdx.x*blockDim.x + threadIdx.x;
  for (long long i = first; i < look.front + look.behind; i += step) {
    const long long at = i < look.front ? i - look.front : i - look.front + look.count;
    if (is_poison(memory[look.front + at])) continue;
    mine.damaged++;
    mine.first_damaged = min(mine.first_damaged, at);
  }
  Walk walk = walk_from(recipe, first, step);
  for (long long i = first; look.compares && i < look.count; i += step, walk_on(recipe, walk)) {
    if (number_of(memory[look.front + i]) == double(start_value<Real>(recipe, buffer, walk.point))) continue;
    mine.bad++;
    mine.first_bad = min(mine.first_bad, i);
  }
  sum_up(mine, found);
}

extern "C" __global__ void __launch_bounds__(256)
check_start_f32(const unsigned *memory, const Recipe *recipe, int buffer, Look look, Found *found) {
  check_start<unsigned, float>(memory, *recipe, buffer, look, found);
}

extern "C" __global__ void __launch_bounds__(256)
check_start_f64(const unsigned long long *memory, const Recipe *recipe, int buffer, Look look, Found *found) {
  check_start<unsigned long long, double>(memory, *recipe, buffer, look, found);
}

// Compare the box of `look` with the reference.
//   memory  the field, without guards
//   part    where the reference is known; it contains the box
template <class Bits>
__device__ __forceinline__ void compare(const Bits *memory, const double *want, const double *magnitudes, const Look &look,
                                        const Box &part, Found *found) {
  Found mine = nothing();
  Box box;
  for (int axis = 0; axis < 3; axis++) box.low[axis] = look.low[axis], box.high[axis] = look.high[axis];
  const long long count = points_in(box), step = (long long)gridDim.x*blockDim.x;
  for (long long i = (long long)blockIdx.x*blockDim.x + threadIdx.x; i < count; i += step) {
    const Point point = point_in(box, i);
    const long long at = point.at[0] + look.nx*(point.at[1] + look.ny*point.at[2]), from = index_in(part, point);
    judge(look, least_number(memory), number_of(memory[at]), want[from], magnitudes[from], at, mine);
  }
  sum_up(mine, found);
}

extern "C" __global__ void __launch_bounds__(256)
check_part_f32(const unsigned *memory, const double *want, const double *magnitudes, Look look, Box part, Found *found) {
  compare(memory, want, magnitudes, look, part, found);
}

extern "C" __global__ void __launch_bounds__(256)
check_part_f64(const unsigned long long *memory, const double *want, const double *magnitudes, Look look, Box part, Found *found) {
  compare(memory, want, magnitudes, look, part, found);
}
