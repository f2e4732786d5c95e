// wrappers: functions that the GPU and the emulation implement differently. This is the GPU's side. The emulation's side is in
// tuner/emulate/runtime/cuda_and_ptx_on_cpu.h. This file includes no other file, and compiles for sm_75 and later.
#ifndef HALOTUNE_WRAPPERS
#define HALOTUNE_WRAPPERS

// The block's dynamic shared memory as an array of a type. A tensor copy needs a destination aligned to 128 bytes.
extern __shared__ __align__(128) unsigned char halotune_shared[];
#define SHARED_MEMORY(type) (reinterpret_cast<type *>(halotune_shared))

// --- vectors: N = 1, 2 or 4 neighbours at once. The address is aligned to the size of the vector, or to 16 bytes if it is larger.

template <int BYTES> struct Word;
template <> struct Word<4> { typedef unsigned type; };
template <> struct Word<8> { typedef uint2 type; };
template <> struct Word<16> { typedef uint4 type; };

// A vector is moved in words of up to 16 bytes. The union keeps them in registers.
template <int N, class T> union Vector {
  static constexpr int bytes = N*int(sizeof(T)), words = bytes > 16 ? bytes/16 : 1;
  typedef typename Word<bytes/words>::type Part;
  Part word[words];
  T element[N];
};

template <int N, class T> __device__ __forceinline__ void load_vector(const T *p, T (&out)[N]) {
  Vector<N, T> v;
#pragma unroll
  for (int i = 0; i < v.words; i++) v.word[i] = reinterpret_cast<const typename Vector<N, T>::Part *>(p)[i];
#pragma unroll
  for (int i = 0; i < N; i++) out[i] = v.element[i];
}

// Like load_vector, through the read-only path.
template <int N, class T> __device__ __forceinline__ void load_vector_readonly(const T *p, T (&out)[N]) {
  Vector<N, T> v;
#pragma unroll
  for (int i = 0; i < v.words; i++) v.word[i] = __ldg(reinterpret_cast<const typename Vector<N, T>::Part *>(p) + i);
#pragma unroll
  for (int i = 0; i < N; i++) out[i] = v.element[i];
}

template <int N, class T> __device__ __forceinline__ void store_vector(T *p, const T (&in)[N]) {
  Vector<N, T> v;
#pragma unroll
  for (int i = 0; i < N; i++) v.element[i] = in[i];
#pragma unroll
  for (int i = 0; i < v.words; i++) reinterpret_cast<typename Vector<N, T>::Part *>(p)[i] = v.word[i];
}

// Like load_vector, for N bytes at an address that is a multiple of N.
template <int N> __device__ __forceinline__ void load_bytes(const unsigned char *p, unsigned char (&out)[N]) {
  const unsigned word = N == 4 ? *reinterpret_cast<const unsigned *>(p) : N == 2 ? *reinterpret_cast<const unsigned short *>(p) : *p;
#pragma unroll
  for (int i = 0; i < N; i++) out[i] = (unsigned char)(word >> 8*i);
}

// --- single elements of global memory: ordinary accesses, and loads through the read-only path.

template <class T> __device__ __forceinline__ T load_plain(const T *p) { return *p; }
template <class T> __device__ __forceinline__ T load_readonly(const T *p) { return __ldg(p); }

template <class T> __device__ __forceinline__ void store_plain(T *p, T value) { *p = value; }

// --- streaming accesses: for memory that is touched once. The caches evict it first.

template <class T> __device__ __forceinline__ T load_streaming(const T *p) { return __ldcs(p); }
template <class T> __device__ __forceinline__ void store_streaming(T *p, T value) { __stcs(p, value); }

template <int N, class T> __device__ __forceinline__ void load_vector_streaming(const T *p, T (&out)[N]) {
  Vector<N, T> v;
#pragma unroll
  for (int i = 0; i < v.words; i++) v.word[i] = __ldcs(reinterpret_cast<const typename Vector<N, T>::Part *>(p) + i);
#pragma unroll
  for (int i = 0; i < N; i++) out[i] = v.element[i];
}

template <int N, class T> __device__ __forceinline__ void store_vector_streaming(T *p, const T (&in)[N]) {
  Vector<N, T> v;
#pragma unroll
  for (int i = 0; i < N; i++) v.element[i] = in[i];
#pragma unroll
  for (int i = 0; i < v.words; i++) __stcs(reinterpret_cast<typename Vector<N, T>::Part *>(p) + i, v.word[i]);
}

// Prefetch the memory around an address into the L2 cache.
__device__ __forceinline__ void prefetch_l2(const void *p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

// --- asynchronous copies of 4, 8 or 16 bytes from global to shared memory. A thread commits its copies as a group. It waits until at most
// PENDING_GROUPS of its groups are pending. Before sm_80 these are ordinary copies.

template <int BYTES> __device__ __forceinline__ void async_copy_zero(void *shared, const void *global, bool valid) {
  static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "asynchronous copies move 4, 8 or 16 bytes");
#if __CUDA_ARCH__ >= 800
  const unsigned to = unsigned(__cvta_generic_to_shared(shared));
  const int bytes = valid ? BYTES : 0;  // the remaining bytes become zeros
  if (BYTES == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(bytes) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global), "n"(BYTES), "r"(bytes) : "memory");
  }
#else
  typedef typename Word<BYTES>::type word;
  *reinterpret_cast<word *>(shared) = valid ? *reinterpret_cast<const word *>(global) : word();
#endif
}

template <int BYTES> __device__ __forceinline__ void async_copy(void *shared, const void *global) {
  async_copy_zero<BYTES>(shared, global, true);
}

__device__ __forceinline__ void async_commit() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

template <int PENDING_GROUPS> __device__ __forceinline__ void async_wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING_GROUPS) : "memory");
#endif
}

// --- bulk copies from global to shared memory by the copy engine (sm_90 and later): addresses and sizes are multiples of 16 bytes. A
// barrier (mbarrier), 8 bytes of shared memory, counts them. Its phases are 0 and 1 in turn. A phase is complete when as many threads have
// arrived as barrier_init says, and all bytes that they announced have been copied.

__device__ __forceinline__ unsigned shared_address(const void *shared) { return unsigned(__cvta_generic_to_shared(shared)); }

__device__ __forceinline__ void barrier_init(unsigned long long *barrier, unsigned arrivals) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
#endif
}

// Order this thread's accesses to shared memory before those of the copy engine. A thread calls this before the barrier, such as
// __syncthreads() or barrier_leave, after which another thread starts the engine.
__device__ __forceinline__ void tensor_fence() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

// The thread that initialised barriers calls this. A __syncthreads() follows before any other thread uses the barriers.
__device__ __forceinline__ void barrier_init_done() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  tensor_fence();
#endif
}

__device__ __forceinline__ void barrier_expect(unsigned long long *barrier, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
#endif
}

// All lanes of a warp call this when they have read what a later copy may overwrite. The copy engine does not wait for pending loads of
// other threads. So each lane executes the fence before lane 0 arrives at the barrier.
__device__ __forceinline__ void barrier_leave(unsigned long long *barrier, int lane) {
#if __CUDA_ARCH__ >= 900
  tensor_fence();
  __syncwarp();
  if (lane == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
#endif
}

__device__ __forceinline__ void bulk_copy(void *shared, const void *global, unsigned bytes, unsigned long long *barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(shared)),
               "l"(global), "r"(bytes), "r"(shared_address(barrier)) : "memory");
#endif
}

__device__ __forceinline__ void barrier_wait(unsigned long long *barrier, unsigned phase) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n"
               ".reg .pred passed;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 passed, [%0], %1;\n"
               "@!passed bra again;\n"
               "}" ::"r"(shared_address(barrier)), "r"(phase) : "memory");
#endif
}

// --- flags between blocks. A loop that waits for a flag calls spin_yield in every turn. A block may wait only for blocks that have begun.
// So blocks take tickets with atomicAdd; the order of blockIdx does not tell which blocks have begun.

__device__ __forceinline__ void spin_yield() { __nanosleep(20); }

__device__ __forceinline__ unsigned load_acquire(const unsigned *p) {
  unsigned value;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}

__device__ __forceinline__ void store_release(unsigned *p, unsigned value) {
  asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}

#endif
