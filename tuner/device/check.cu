// check: kernels that check fields in the GPU's memory: whether a result is right, whether anything was written outside
// of the box, whether inputs are unchanged. Also an empty kernel, and one that keeps the GPU busy. It is compiled after
// templates/wrappers.cuh. Its structs are those of tuner/device/gpu_check.h.
//
// A field has a guard before and after it. Every element of all three is checked. Each block sums up what its threads
// found, and the program adds the sums of the blocks in their order. So a check gives the same numbers every time.

struct Look {
  long long front, count, behind;  // elements of the guard before, of the field, and of the guard after it
  long long nx, ny;
  long long low[3], high[3];       // the box that is computed
  double rounding, allowed_units;
  long long compares;              // compare with the reference; else check only that numbers in the box are finite
  long long keeps_poison;          // elements of the field outside the box must still be poison, as guards always must
};

struct Found {
  long long bad, not_finite, first_bad;  // first_bad: the element's index in the field
  long long damaged, first_damaged;      // elements outside of the box; the index is negative before the field
  double sum_of_squares, max_error, max_units;
};

// Every word of poisoned memory: EMULATION_POISON_BUFFER of tuner/emulate/runtime/outcome.h.
__device__ const unsigned poison_word = 0x7FFCB0FFu;
__device__ const long long nowhere = 0x7FFFFFFFFFFFFFFFll;

__device__ __forceinline__ bool is_poison(unsigned bits) { return bits == poison_word; }
__device__ __forceinline__ bool is_poison(unsigned long long bits) {
  return bits == ((unsigned long long)poison_word << 32 | poison_word);
}

__device__ __forceinline__ double number_of(unsigned bits) { return __uint_as_float(bits); }
__device__ __forceinline__ double number_of(unsigned long long bits) { return __longlong_as_double((long long)bits); }

// The least numbers above 0, 2^-149 and 2^-1074.
__device__ __forceinline__ double least_number(const unsigned *) { return 0x1p-149; }
__device__ __forceinline__ double least_number(const unsigned long long *) { return __longlong_as_double(1); }

__device__ __forceinline__ bool is_finite(double number) {
  return (__double2hiint(number) & 0x7FF00000) != 0x7FF00000;
}

__device__ __forceinline__ void add(Found &to, const Found &from) {
  to.bad += from.bad;
  to.not_finite += from.not_finite;
  to.damaged += from.damaged;
  to.first_bad = min(to.first_bad, from.first_bad);
  to.first_damaged = min(to.first_damaged, from.first_damaged);
  to.sum_of_squares += from.sum_of_squares;
  if (from.max_error > to.max_error) to.max_error = from.max_error;
  if (from.max_units > to.max_units) to.max_units = from.max_units;
}

__device__ __forceinline__ Found nothing() { return {0, 0, nowhere, 0, nowhere, 0, 0, 0}; }

// Store the sum over a block in the block's element of the list. The block size is a power of two.
__device__ __forceinline__ void sum_up(const Found &mine, Found *found) {
  Found *shared = SHARED_MEMORY(Found);
  const int thread = threadIdx.x;
  shared[thread] = mine;
  __syncthreads();
  for (int half = int(blockDim.x)/2; half > 0; half /= 2) {
    if (thread < half) add(shared[thread], shared[thread + half]);
    __syncthreads();
  }
  if (thread == 0) found[blockIdx.x] = shared[0];
}

// Judge one point of the box as compare_fields does.
__device__ __forceinline__ void judge(const Look &look, double least, double got, double want, double magnitude, long long at,
                                      Found &mine) {
  const double infinity = __longlong_as_double(0x7FF0000000000000ll);
  const double unit = magnitude > 0 ? fmax(look.rounding*magnitude, least) : 0;
  double error = fabs(got - want), units = error > 0 ? error/unit : 0;
  const bool finite = is_finite(got) && is_finite(want) && (is_finite(magnitude) || got == want);
  if (!finite) error = units = infinity;
  if (!finite || units > look.allowed_units) {
    mine.bad++;
    mine.first_bad = min(mine.first_bad, at);
  }
  mine.not_finite += !finite;
  mine.sum_of_squares += error*error;
  if (error > mine.max_error) mine.max_error = error;
  if (units > mine.max_units) mine.max_units = units;
}

__device__ __forceinline__ bool in_box(const Look &look, long long at) {
  const long long row = at/look.nx, x = at - row*look.nx, z = row/look.ny, y = row - z*look.ny;
  return x >= look.low[0] && x < look.high[0] && y >= look.low[1] && y < look.high[1] && z >= look.low[2] && z < look.high[2];
}

template <class Bits>
__device__ __forceinline__ void check(const Bits *memory, const double *want, const double *magnitudes, const Look &look,
                                      Found *found) {
  Found mine = nothing();
  const long long total = look.front + look.count + look.behind, step = (long long)gridDim.x*blockDim.x;
  for (long long i = (long long)blockIdx.x*blockDim.x + threadIdx.x; i < total; i += step) {
    const long long at = i - look.front;
    const bool guard = at < 0 || at >= look.count;
    const Bits bits = memory[i];
    if (!guard && in_box(look, at)) {
      const double got = number_of(bits);
      if (look.compares) judge(look, least_number(memory), got, want[at], magnitudes[at], at, mine);
      else if (!is_finite(got)) judge(look, least_number(memory), got, 0, 0, at, mine);
    } else if ((guard || look.keeps_poison) && !is_poison(bits)) {
      mine.damaged++;
      mine.first_damaged = min(mine.first_damaged, at);
    }
  }
  sum_up(mine, found);
}

extern "C" __global__ void __launch_bounds__(256)
check_f32(const unsigned *memory, const double *want, const double *magnitudes, Look look, Found *found) {
  check(memory, want, magnitudes, look, found);
}

extern "C" __global__ void __launch_bounds__(256)
check_f64(const unsigned long long *memory, const double *want, const double *magnitudes, Look look, Found *found) {
  check(memory, want, magnitudes, look, found);
}

// Check an input and its guards in 32-bit words, whatever its type. `pristine` is compared bit for bit, if at all.
extern "C" __global__ void __launch_bounds__(256)
check_input(const unsigned *memory, const unsigned *pristine, Look look, Found *found) {
  Found mine = nothing();
  const long long total = look.front + look.count + look.behind, step = (long long)gridDim.x*blockDim.x;
  for (long long i = (long long)blockIdx.x*blockDim.x + threadIdx.x; i < total; i += step) {
    const long long at = i - look.front;
    const unsigned bits = memory[i];
    if (at < 0 || at >= look.count) {
      if (is_poison(bits)) continue;
      mine.damaged++;
      mine.first_damaged = min(mine.first_damaged, at);
    } else if (look.compares && bits != pristine[at]) {
      mine.bad++;
      mine.first_bad = min(mine.first_bad, at);
    }
  }
  sum_up(mine, found);
}

// Mix a word and its position into a number below 2^30: sums of 2^33 of these fit into 64 bits.
__device__ __forceinline__ long long digest(unsigned bits, long long at) {
  unsigned x = bits ^ unsigned(at)*0x9E3779B9u ^ unsigned(at >> 32);
  x = (x ^ x >> 16)*0x85EBCA6Bu;
  x = (x ^ x >> 13)*0xC2B2AE35u;
  return (x ^ x >> 16) >> 2;
}

// Sum the digests of a field's words into `bad`. Different fields almost certainly have different sums.
extern "C" __global__ void __launch_bounds__(256) check_digest(const unsigned *field, long long count, Found *found) {
  Found mine = nothing();
  const long long step = (long long)gridDim.x*blockDim.x;
  for (long long i = (long long)blockIdx.x*blockDim.x + threadIdx.x; i < count; i += step) mine.bad += digest(field[i], i);
  sum_up(mine, found);
}

extern "C" __global__ void empty() {}

// Arithmetic without memory. The last line is almost never true; it keeps the compiler from removing the loop.
extern "C" __global__ void __launch_bounds__(256) spin(unsigned rounds, unsigned *out) {
  unsigned x = threadIdx.x + blockIdx.x;
  for (unsigned i = 0; i < rounds; i++) x = x*1664525u + 1013904223u;
  if (x == rounds) *out = x;
}
