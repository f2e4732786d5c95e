/* cuda_and_ptx_on_cpu.h: lets a C++ compiler for the CPU understand CUDA, and emulates the PTX wrappers. It is included
 * before a generated source, which is compiled unchanged. runner.c executes the result thread by thread.
 *
 * It includes no other header, because each would take longer to compile than the kernel itself. What it lacks does not
 * compile: static shared memory (SHARED_MEMORY gives the dynamic one), texture filters, kernels that launch kernels. */
#pragma once

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ _Pragma("GCC error \"static shared memory: use SHARED_MEMORY(type)\"")

#define HALOTUNE_VECTORS(T, name)                                                     \
  struct name##1 {                                                                    \
    T x;                                                                              \
  };                                                                                  \
  struct alignas(2 * sizeof(T)) name##2 {                                             \
    T x, y;                                                                           \
  };                                                                                  \
  struct name##3 {                                                                    \
    T x, y, z;                                                                        \
  };                                                                                  \
  struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) name##4 {                   \
    T x, y, z, w;                                                                     \
  };                                                                                  \
  static inline constexpr name##1 make_##name##1(T x) { return {x}; }                 \
  static inline constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  static inline constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  static inline constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
HALOTUNE_VECTORS(char, char)
HALOTUNE_VECTORS(unsigned char, uchar)
HALOTUNE_VECTORS(short, short)
HALOTUNE_VECTORS(unsigned short, ushort)
HALOTUNE_VECTORS(int, int)
HALOTUNE_VECTORS(unsigned, uint)
HALOTUNE_VECTORS(long long, longlong)
HALOTUNE_VECTORS(unsigned long long, ulonglong)
HALOTUNE_VECTORS(float, float)
HALOTUNE_VECTORS(double, double)
#undef HALOTUNE_VECTORS
typedef uint3 dim3;

/* They look constant to a thread. The runner sets them at each change of turn. */
extern "C" {
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
#ifdef EMULATION_COUNTS /* stores to global memory do not change shared memory, which need not be loaded again */
extern unsigned char *const __restrict halotune_shared;
#else
extern unsigned char *const halotune_shared;
#endif

void halotune_barrier(int line);
void halotune_spin_yield(int line);
void halotune_took_ticket(int line);
void halotune_told(int line);
unsigned long long halotune_warp(unsigned operation, unsigned mask, unsigned long long value, int operand, int width,
                                 int line);
struct halotune_matrices {
  const double *a, *b;
  double *sums;
};
void halotune_multiply_matrices(const struct halotune_matrices *matrices, int line);
void halotune_async_copy(void *to, const void *from, unsigned bytes, int valid, int line);
void halotune_async_commit();
void halotune_async_wait(unsigned pending_groups);
void halotune_barrier_init(void *barrier, unsigned arrivals, int line);
void halotune_barrier_expect(void *barrier, unsigned bytes, int line);
void halotune_bulk_copy(void *to, const void *from, unsigned bytes, void *barrier, int line);
int halotune_barrier_passed(void *barrier, unsigned phase, int line);
void halotune_tensor_copy(void *to, const void *map, const int *at, int rank, void *barrier, int line);
void halotune_tensor_fence();
void halotune_tensor_store(const void *map, const int *at, int rank, const void *from, int line);
void halotune_tensor_commit();
void halotune_tensor_wait(unsigned pending_groups);
unsigned halotune_cluster_rank();
void halotune_cluster_sync(int line);
void *halotune_cluster_map(const void *address, unsigned rank, int line);
void halotune_cluster_arrive(void *barrier, unsigned rank, int line);
void halotune_wait_for_previous();
const void *halotune_texel(unsigned long long texture, long long x, long long y, unsigned texel_bytes, int line);
[[noreturn]] void halotune_misaligned(const void *address, unsigned bytes, int line);
}
enum {
  HALOTUNE_SYNC,
  HALOTUNE_BALLOT,
  HALOTUNE_SHUFFLE,
  HALOTUNE_SHUFFLE_UP,
  HALOTUNE_SHUFFLE_DOWN,
  HALOTUNE_SHUFFLE_XOR
};
static constexpr int warpSize = 32;

/* Each function has C's name for double, and an overload for float. */
#define HALOTUNE_MATH_1(X) \
  X(sqrt)                  \
  X(exp) X(exp2) X(log) X(log2) X(sin) X(cos) X(tan) X(tanh) X(fabs) X(floor) X(ceil) X(rint) X(round) X(trunc) X(cbrt)
#define HALOTUNE_MATH_2(X) X(fmin) X(fmax) X(pow) X(fmod) X(copysign) X(hypot) X(atan2)
#define HALOTUNE_1(name)                    \
  extern "C" double name(double) noexcept;  \
  extern "C" float name##f(float) noexcept; \
  static inline float name(float a) { return name##f(a); }
#define HALOTUNE_2(name)                           \
  extern "C" double name(double, double) noexcept; \
  extern "C" float name##f(float, float) noexcept; \
  static inline float name(float a, float b) { return name##f(a, b); }
HALOTUNE_MATH_1(HALOTUNE_1)
HALOTUNE_MATH_2(HALOTUNE_2)
#undef HALOTUNE_MATH_1
#undef HALOTUNE_MATH_2
#undef HALOTUNE_1
#undef HALOTUNE_2
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
static inline float fma(float a, float b, float c) { return fmaf(a, b, c); }
/* Arithmetic is never contracted here. */
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline float rsqrtf(float a) { return 1 / sqrtf(a); }
static inline double rsqrt(double a) { return 1 / sqrt(a); }

#define HALOTUNE_MIN_MAX(T)                                         \
  static inline constexpr T min(T a, T b) { return b < a ? b : a; } \
  static inline constexpr T max(T a, T b) { return a < b ? b : a; }
HALOTUNE_MIN_MAX(int)
HALOTUNE_MIN_MAX(unsigned)
HALOTUNE_MIN_MAX(long)
HALOTUNE_MIN_MAX(unsigned long)
HALOTUNE_MIN_MAX(long long)
HALOTUNE_MIN_MAX(unsigned long long)
#undef HALOTUNE_MIN_MAX
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }
extern "C" int abs(int) noexcept;
static inline long long abs(long long a) { return a < 0 ? -a : a; }
static inline float abs(float a) { return fabsf(a); }
static inline double abs(double a) { return fabs(a); }

static inline int __popc(unsigned a) { return __builtin_popcount(a); }
static inline int __ffs(int a) { return __builtin_ffs(a); }
static inline int __clz(int a) { return a == 0 ? 32 : __builtin_clz((unsigned)a); }

template <class To, class From> static inline To halotune_bits(From from) {
  To to;
  static_assert(sizeof to == sizeof from, "other size");
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
static inline int __float_as_int(float a) { return halotune_bits<int>(a); }
static inline unsigned __float_as_uint(float a) { return halotune_bits<unsigned>(a); }
static inline float __int_as_float(int a) { return halotune_bits<float>(a); }
static inline float __uint_as_float(unsigned a) { return halotune_bits<float>(a); }
static inline long long __double_as_longlong(double a) { return halotune_bits<long long>(a); }
static inline double __longlong_as_double(long long a) { return halotune_bits<double>(a); }
static inline int __double2hiint(double a) { return (int)(halotune_bits<unsigned long long>(a) >> 32); }
static inline int __double2loint(double a) { return (int)halotune_bits<unsigned long long>(a); }
static inline double __hiloint2double(int high, int low) {
  return halotune_bits<double>((unsigned long long)(unsigned)high << 32 | (unsigned)low);
}

/* The last parameter is the line of the call. Callers never pass it. */
#define HALOTUNE_LINE int line = __builtin_LINE()

static inline void __syncthreads(HALOTUNE_LINE) { halotune_barrier(line); }
static inline void __syncwarp(unsigned mask = 0xFFFFFFFFu, HALOTUNE_LINE) {
  halotune_warp(HALOTUNE_SYNC, mask, 0, 0, warpSize, line);
}
static inline unsigned __ballot_sync(unsigned mask, int predicate, HALOTUNE_LINE) {
  return (unsigned)halotune_warp(HALOTUNE_BALLOT, mask, predicate != 0, 0, warpSize, line);
}
static inline int __any_sync(unsigned mask, int predicate, HALOTUNE_LINE) {
  return halotune_warp(HALOTUNE_BALLOT, mask, predicate != 0, 0, warpSize, line) != 0;
}
static inline int __all_sync(unsigned mask, int predicate, HALOTUNE_LINE) {
  return halotune_warp(HALOTUNE_BALLOT, mask, predicate == 0, 0, warpSize, line) == 0;
}

template <class T>
static inline T halotune_shuffle(int operation, unsigned mask, T value, int operand, int width, int line) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles pass 4 or 8 bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  bits = halotune_warp(operation, mask, bits, operand, width, line);
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T> static inline T __shfl_sync(unsigned mask, T value, int lane, int width = warpSize, HALOTUNE_LINE) {
  return halotune_shuffle(HALOTUNE_SHUFFLE, mask, value, lane, width, line);
}
template <class T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize, HALOTUNE_LINE) {
  return halotune_shuffle(HALOTUNE_SHUFFLE_UP, mask, value, (int)delta, width, line);
}
template <class T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize, HALOTUNE_LINE) {
  return halotune_shuffle(HALOTUNE_SHUFFLE_DOWN, mask, value, (int)delta, width, line);
}
template <class T>
static inline T __shfl_xor_sync(unsigned mask, T value, int other, int width = warpSize, HALOTUNE_LINE) {
  return halotune_shuffle(HALOTUNE_SHUFFLE_XOR, mask, value, other, width, line);
}

static inline void __threadfence() { __asm__ volatile("" ::: "memory"); }
static inline void __threadfence_block() { __asm__ volatile("" ::: "memory"); }

/* Nothing has to be atomic, since only one thread runs at a time. A thread that took a ticket may be overtaken by
 * others. */
template <class T> static inline T atomicAdd(T *p, T value, HALOTUNE_LINE) {
  T old = *p;
  *p = old + value;
  halotune_took_ticket(line);
  return old;
}

template <class T> static inline T __ldg(const T *p) { return *p; }

typedef unsigned long long cudaTextureObject_t;

template <class T> static inline T tex1Dfetch(cudaTextureObject_t texture, int x, HALOTUNE_LINE) {
  T value;
  __builtin_memcpy(&value, halotune_texel(texture, x, 0, sizeof(T), line), sizeof value);
  return value;
}
template <class T> static inline T tex2D(cudaTextureObject_t texture, float x, float y, HALOTUNE_LINE) {
  T value;
  const void *texel = halotune_texel(texture, (long long)floorf(x), (long long)floorf(y), sizeof(T), line);
  __builtin_memcpy(&value, texel, sizeof value);
  return value;
}

#define HALOTUNE_WRAPPERS

#define SHARED_MEMORY(type) (reinterpret_cast<type *>(halotune_shared))

template <int N, class T> static inline void halotune_check_vector(const T *p, int line) {
  static_assert(N == 1 || N == 2 || N == 4, "vectors have 1, 2 or 4 elements");
  constexpr unsigned bytes = N * sizeof(T), alignment = bytes < 16 ? bytes : 16;
  if (reinterpret_cast<unsigned long>(p) % alignment != 0) halotune_misaligned(p, bytes, line);
}
/* Vectors move in words of up to 16 bytes, as on a GPU: an access is counted once. */
template <int BYTES> struct halotune_word {
  typedef unsigned char type __attribute__((vector_size(BYTES < 16 ? BYTES : 16), may_alias));
};
template <int N, class T> static inline void load_vector(const T *p, T (&out)[N], HALOTUNE_LINE) {
  halotune_check_vector<N>(p, line);
  typedef typename halotune_word<N *int(sizeof(T))>::type word;
  constexpr int elements = sizeof(word) / sizeof(T);
#pragma GCC unroll 4
  for (int i = 0; i < N; i += elements) {
    const word value = *reinterpret_cast<const word *>(p + i);
    __builtin_memcpy(out + i, &value, sizeof value);
  }
}
template <int N> static inline void load_bytes(const unsigned char *p, unsigned char (&out)[N], HALOTUNE_LINE) {
  load_vector<N>(p, out, line);
}
template <int N, class T> static inline void load_vector_readonly(const T *p, T (&out)[N], HALOTUNE_LINE) {
  load_vector<N>(p, out, line);
}
template <int N, class T> static inline void store_vector(T *p, const T (&in)[N], HALOTUNE_LINE) {
  halotune_check_vector<N>(p, line);
  typedef typename halotune_word<N *int(sizeof(T))>::type word;
  constexpr int elements = sizeof(word) / sizeof(T);
#pragma GCC unroll 4
  for (int i = 0; i < N; i += elements) {
    word value;
    __builtin_memcpy(&value, in + i, sizeof value);
    *reinterpret_cast<word *>(p + i) = value;
  }
}
template <class T> static inline T load_plain(const T *p) { return *p; }
template <class T> static inline T load_readonly(const T *p) { return *p; }
template <class T> static inline T load_streaming(const T *p) { return *p; }
template <class T> static inline void store_plain(T *p, T value) { *p = value; }
template <class T> static inline void store_streaming(T *p, T value) { *p = value; }
template <int N, class T> static inline void load_vector_streaming(const T *p, T (&out)[N], HALOTUNE_LINE) {
  load_vector<N>(p, out, line);
}
template <int N, class T> static inline void store_vector_streaming(T *p, const T (&in)[N], HALOTUNE_LINE) {
  store_vector<N>(p, in, line);
}

/* A prefetch has no effect and is not counted. The address is read so that one that no kernel may access is found. */
__attribute__((noinline, no_sanitize("thread"))) static void prefetch_l2(const void *p) {
  (void)*static_cast<const volatile unsigned char *>(p);
}

template <int BYTES> static inline void async_copy_zero(void *shared, const void *global, bool valid, HALOTUNE_LINE) {
  static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "asynchronous copies move 4, 8 or 16 bytes");
  halotune_async_copy(shared, global, BYTES, valid, line);
}
template <int BYTES> static inline void async_copy(void *shared, const void *global, HALOTUNE_LINE) {
  async_copy_zero<BYTES>(shared, global, true, line);
}
static inline void async_commit() { halotune_async_commit(); }
template <int PENDING_GROUPS> static inline void async_wait() { halotune_async_wait(PENDING_GROUPS); }

static inline void barrier_init(unsigned long long *barrier, unsigned arrivals, HALOTUNE_LINE) {
  halotune_barrier_init(barrier, arrivals, line);
}
static inline void barrier_init_done() {}
static inline void barrier_expect(unsigned long long *barrier, unsigned bytes, HALOTUNE_LINE) {
  halotune_barrier_expect(barrier, bytes, line);
}
static inline void barrier_leave(unsigned long long *barrier, int lane, HALOTUNE_LINE) {
  __syncwarp(~0u, line);
  if (lane == 0) halotune_barrier_expect(barrier, 0, line);
}
static inline void bulk_copy(void *shared, const void *global, unsigned bytes, unsigned long long *barrier,
                             HALOTUNE_LINE) {
  halotune_bulk_copy(shared, global, bytes, barrier, line);
}
static inline void barrier_wait(unsigned long long *barrier, unsigned phase, HALOTUNE_LINE) {
  while (!halotune_barrier_passed(barrier, phase, line)) halotune_spin_yield(line);
}

static inline void spin_yield(HALOTUNE_LINE) { halotune_spin_yield(line); }
static inline unsigned load_acquire(const unsigned *p) { return *const_cast<const volatile unsigned *>(p); }
static inline void store_release(unsigned *p, unsigned value, HALOTUNE_LINE) {
  *const_cast<volatile unsigned *>(p) = value;
  halotune_told(line);
}

#define HALOTUNE_WRAPPERS_SM_90

struct alignas(128) TensorMap {
  unsigned long long opaque[16];
};

/* Two rules for the first element of a box. An H200 ends kernels that break them with an illegal instruction; here it
 * is a fault. x is at a multiple of 16 bytes in copies and stores, for negative coordinates too. A copy may begin at
 * negative coordinates. A store may not: it begins inside the grid or beyond its far sides. */
static inline void tensor_prefetch(const TensorMap *) {}
static inline void tensor_copy(void *shared, const TensorMap *map, int x, int y, int z, unsigned long long *barrier,
                               HALOTUNE_LINE) {
  const int at[] = {x, y, z};
  halotune_tensor_copy(shared, map, at, 3, barrier, line);
}
static inline void tensor_copy(void *shared, const TensorMap *map, int x, int y, unsigned long long *barrier,
                               HALOTUNE_LINE) {
  const int at[] = {x, y};
  halotune_tensor_copy(shared, map, at, 2, barrier, line);
}
static inline void tensor_fence() { halotune_tensor_fence(); }
static inline void tensor_store(const TensorMap *map, int x, int y, int z, const void *shared, HALOTUNE_LINE) {
  const int at[] = {x, y, z};
  halotune_tensor_store(map, at, 3, shared, line);
}
static inline void tensor_store(const TensorMap *map, int x, int y, const void *shared, HALOTUNE_LINE) {
  const int at[] = {x, y};
  halotune_tensor_store(map, at, 2, shared, line);
}
static inline void tensor_store_commit() { halotune_tensor_commit(); }
template <int PENDING_GROUPS> static inline void tensor_store_wait() { halotune_tensor_wait(PENDING_GROUPS); }

static inline unsigned cluster_rank() { return halotune_cluster_rank(); }
static inline void cluster_sync(HALOTUNE_LINE) { halotune_cluster_sync(line); }
template <class T> static inline T *cluster_map(T *shared, unsigned rank, HALOTUNE_LINE) {
  return static_cast<T *>(halotune_cluster_map(shared, rank, line));
}
static inline void cluster_arrive(unsigned long long *barrier, unsigned rank, HALOTUNE_LINE) {
  halotune_cluster_arrive(barrier, rank, line);
}
static inline void cluster_wait(unsigned long long *barrier, unsigned phase, HALOTUNE_LINE) {
  barrier_wait(barrier, phase, line);
}

static inline void multiply_matrices(const double (&a)[4], const double (&b)[2], double (&sums)[4], HALOTUNE_LINE) {
  const halotune_matrices matrices = {a, b, sums};
  halotune_multiply_matrices(&matrices, line);
}

static inline void wait_for_previous() { halotune_wait_for_previous(); }
static inline void launch_dependents() {}

/* The same as struct kernel of kernel.h. */
struct halotune_kernel {
  const char *name;
  void (*run)(void *const *arguments);
  const unsigned *argument_bytes;
  unsigned argument_count;
};

template <int... I> struct halotune_indices {};
template <int N, int... I> struct halotune_count : halotune_count<N - 1, N - 1, I...> {};
template <int... I> struct halotune_count<0, I...> { typedef halotune_indices<I...> type; };

template <auto K> struct halotune_entry;
template <class... A, void (*K)(A...)> struct halotune_entry<K> {
  static constexpr unsigned count = sizeof...(A), bytes[count + 1] = {sizeof(A)...};
  template <int... I> static void call(void *const *arguments, halotune_indices<I...>) {
    K(*static_cast<A *>(arguments[I])...);
  }
  static void run(void *const *arguments) { call(arguments, typename halotune_count<count>::type()); }
};

/* The program appends these to the source: HALOTUNE_KERNELS HALOTUNE_KERNEL(name) ... HALOTUNE_KERNELS_END */
#define HALOTUNE_KERNELS extern "C" __attribute__((visibility("default"))) const halotune_kernel halotune_kernels[] = {
#define HALOTUNE_KERNEL(kernel) \
  {#kernel, halotune_entry<kernel>::run, halotune_entry<kernel>::bytes, halotune_entry<kernel>::count},
#define HALOTUNE_KERNELS_END       \
  { nullptr, nullptr, nullptr, 0 } \
  }                                \
  ;
