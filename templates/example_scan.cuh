#define HALOTUNE_PRELUDE

// wrappers: what templates use where a GPU and the host backend differ. This is the GPU's side; the host's is in
// tuner/backend/host/cuda_on_cpu.h. It includes nothing, and compiles for sm_75 and later.
#ifndef HALOTUNE_WRAPPERS
#define HALOTUNE_WRAPPERS

// The block's dynamic shared memory as an array of a type. A tensor copy puts its box to a multiple of 128 bytes.
extern __shared__ __align__(128) unsigned char halotune_shared[];
#define SHARED_MEMORY(type) (reinterpret_cast<type *>(halotune_shared))

// --- vectors: N = 1, 2 or 4 neighbours at once, from an address that is a multiple of their size or of 16 bytes.

template <int BYTES> struct Word;
template <> struct Word<4> { typedef unsigned type; };
template <> struct Word<8> { typedef uint2 type; };
template <> struct Word<16> { typedef uint4 type; };

// The bytes are moved in words of up to 16; a union keeps them in registers.
template <int N, class T> union Vector {
  static constexpr int bytes = N*int(sizeof(T)), word_bytes = bytes < 16 ? bytes : 16, words = bytes/word_bytes;
  typename Word<word_bytes>::type word[words];
  T element[N];
};

template <int N, class T> __device__ __forceinline__ void load_vector(const T *p, T (&out)[N]) {
  typedef Vector<N, T> V;
  V v;
#pragma unroll
  for (int i = 0; i < V::words; i++) v.word[i] = reinterpret_cast<const typename Word<V::word_bytes>::type *>(p)[i];
#pragma unroll
  for (int i = 0; i < N; i++) out[i] = v.element[i];
}

// The same through the read-only path.
template <int N, class T> __device__ __forceinline__ void load_vector_readonly(const T *p, T (&out)[N]) {
  typedef Vector<N, T> V;
  V v;
#pragma unroll
  for (int i = 0; i < V::words; i++) v.word[i] = __ldg(reinterpret_cast<const typename Word<V::word_bytes>::type *>(p) + i);
#pragma unroll
  for (int i = 0; i < N; i++) out[i] = v.element[i];
}

template <int N, class T> __device__ __forceinline__ void store_vector(T *p, const T (&in)[N]) {
  typedef Vector<N, T> V;
  V v;
#pragma unroll
  for (int i = 0; i < N; i++) v.element[i] = in[i];
#pragma unroll
  for (int i = 0; i < V::words; i++) reinterpret_cast<typename Word<V::word_bytes>::type *>(p)[i] = v.word[i];
}

// --- single elements of global memory: as the compiler likes, or through the read-only path.

template <class T> __device__ __forceinline__ T load_plain(const T *p) { return *p; }
template <class T> __device__ __forceinline__ T load_readonly(const T *p) { return __ldg(p); }

template <class T> __device__ __forceinline__ void store_plain(T *p, T value) { *p = value; }

// --- streaming: memory that is touched once, so that the caches give it up first.

template <class T> __device__ __forceinline__ T load_streaming(const T *p) { return __ldcs(p); }
template <class T> __device__ __forceinline__ void store_streaming(T *p, T value) { __stcs(p, value); }

template <int N, class T> __device__ __forceinline__ void load_vector_streaming(const T *p, T (&out)[N]) {
  typedef Vector<N, T> V;
  V v;
#pragma unroll
  for (int i = 0; i < V::words; i++) v.word[i] = __ldcs(reinterpret_cast<const typename Word<V::word_bytes>::type *>(p) + i);
#pragma unroll
  for (int i = 0; i < N; i++) out[i] = v.element[i];
}

template <int N, class T> __device__ __forceinline__ void store_vector_streaming(T *p, const T (&in)[N]) {
  typedef Vector<N, T> V;
  V v;
#pragma unroll
  for (int i = 0; i < N; i++) v.element[i] = in[i];
#pragma unroll
  for (int i = 0; i < V::words; i++) __stcs(reinterpret_cast<typename Word<V::word_bytes>::type *>(p) + i, v.word[i]);
}

// Ask for the memory around an address, to come as far as the L2 cache.
__device__ __forceinline__ void prefetch_l2(const void *p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

// --- asynchronous copies of 4, 8 or 16 bytes from global to shared memory. A thread commits what it issued as a group, and
// waits until at most PENDING_GROUPS of its groups are under way. Before sm_80 they are ordinary copies.

template <int BYTES> __device__ __forceinline__ void async_copy_zero(void *shared, const void *global, bool valid) {
  static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "asynchronous copies move 4, 8 or 16 bytes");
#if __CUDA_ARCH__ >= 800
  const unsigned to = unsigned(__cvta_generic_to_shared(shared));
  const int bytes = valid ? BYTES : 0;  // the rest is filled with zeros
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

// --- bulk copies from global to shared memory by the copy engine (sm_90 and later): addresses and bytes are multiples of 16. A
// barrier, 8 bytes of shared memory, counts them. Its phases are 0 and 1 by turns; one is complete when so many threads as were
// said at first have arrived, each telling the bytes that it expects, and these bytes have come.

__device__ __forceinline__ unsigned shared_address(const void *shared) { return unsigned(__cvta_generic_to_shared(shared)); }

__device__ __forceinline__ void barrier_init(unsigned long long *barrier, unsigned arrivals) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
#endif
}

// The thread that initialised barriers calls this; a __syncthreads() comes before anyone else uses them.
__device__ __forceinline__ void barrier_init_done() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

__device__ __forceinline__ void barrier_expect(unsigned long long *barrier, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
#endif
}

// By all lanes of a warp: it has read what a later copy may overwrite. The copy engine does not wait for loads that are under way
// as other threads' stores do, so that each lane needs the fence before its warp tells.
__device__ __forceinline__ void barrier_leave(unsigned long long *barrier, int lane) {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
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

// --- flags between blocks. Every turn of a loop that waits for one calls spin_yield. A block may wait only for blocks that
// have begun: take tickets from atomicAdd, not blockIdx.

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

// wrappers_sm_90: what templates use of sm_90 and later: tensor maps, clusters of blocks, programmatic dependent launch.
// It stands behind wrappers.cuh where a template's YAML file has one of tensor_inputs, tensor_outputs, cluster and overlap.
// The host's side is in tuner/backend/host/cuda_on_cpu.h. Before sm_90 it compiles and does nothing; rules keep such
// variants away.
#ifndef HALOTUNE_WRAPPERS_SM_90
#define HALOTUNE_WRAPPERS_SM_90

// --- tensor maps: an array as the copy engine sees it, cut into boxes whose size the YAML file says. A map is a parameter
// of the kernel; f.map_in[slot] and f.map_out[output] point to them. No copy of a map is one.

struct __align__(128) TensorMap { unsigned long long opaque[16]; };

// Ask for a map, once a block, so that its first copy need not wait for it.
__device__ __forceinline__ void tensor_prefetch(const TensorMap *map) {
#if __CUDA_ARCH__ >= 900
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
#endif
}

// Copy the box that begins at this element to shared memory, a multiple of 128 bytes, x fastest; one thread for the whole
// box. It has to begin at a multiple of 16 bytes in x. The barrier gets all the box's bytes. Elements beyond the grid, on
// either side, arrive as zeros. Without z for maps of two dimensions.
__device__ __forceinline__ void tensor_copy(void *shared, const TensorMap *map, int x, int y, int z,
                                            unsigned long long *barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
               ::"r"(shared_address(shared)), "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(barrier)) : "memory");
#endif
}

__device__ __forceinline__ void tensor_copy(void *shared, const TensorMap *map, int x, int y, unsigned long long *barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               ::"r"(shared_address(shared)), "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier)) : "memory");
#endif
}

// Each thread calls this between what it wrote to shared memory itself and the barrier of threads behind which one of them
// has the copy engine read that (tensor_store), or write there anew.
__device__ __forceinline__ void tensor_fence() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

// Copy a box from shared memory to the grid, from a multiple of 16 bytes in x on, and no negative coordinate. Elements
// beyond the grid are left out, but not those beyond the box to be computed: a template has threads write where a box is
// cut. What one thread stores it commits as a group, and it waits until at most PENDING_GROUPS of its groups still read
// shared memory: before that is written again, and before the block ends.
__device__ __forceinline__ void tensor_store(const TensorMap *map, int x, int y, int z, const void *shared) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];"
               ::"l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(shared)) : "memory");
#endif
}

__device__ __forceinline__ void tensor_store(const TensorMap *map, int x, int y, const void *shared) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
               ::"l"(map), "r"(x), "r"(y), "r"(shared_address(shared)) : "memory");
#endif
}

__device__ __forceinline__ void tensor_store_commit() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}

template <int PENDING_GROUPS> __device__ __forceinline__ void tensor_store_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING_GROUPS) : "memory");
#endif
}

// --- clusters: blocks that run together and reach each other's shared memory.

// The number of this block in its cluster: x fastest, then y, then z.
__device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return rank;
}

// All threads of all blocks of the cluster meet; what each wrote before, the others see behind it. A block may neither
// touch another's shared memory before the first such barrier nor leave the kernel while another one may touch its own.
__device__ __forceinline__ void cluster_sync() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release;\n"
               "barrier.cluster.wait.acquire;" ::: "memory");
#else
  __syncthreads();
#endif
}

// The same place in the shared memory of another block of the cluster, to be read and written as any memory.
template <class T> __device__ __forceinline__ T *cluster_map(T *shared, unsigned rank) {
#if __CUDA_ARCH__ >= 900
  unsigned long long mapped;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(shared), "r"(rank));
  return reinterpret_cast<T *>(mapped);
#else
  return shared;
#endif
}

// Arrive at the barrier that lies at the same place in another block's shared memory, and expect no bytes.
__device__ __forceinline__ void cluster_arrive(unsigned long long *barrier, unsigned rank) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n"
               ".reg .b32 remote;\n"
               "mapa.shared::cluster.u32 remote, %0, %1;\n"
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n"
               "}" ::"r"(shared_address(barrier)), "r"(rank) : "memory");
#endif
}

// barrier_wait, where others than this block's threads arrive.
__device__ __forceinline__ void cluster_wait(unsigned long long *barrier, unsigned phase) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n"
               ".reg .pred passed;\n"
               "again:\n"
               "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 passed, [%0], %1;\n"
               "@!passed bra again;\n"
               "}" ::"r"(shared_address(barrier)), "r"(phase) : "memory");
#endif
}

// --- programmatic dependent launch: where `overlap` is 1, a kernel begins before the one before it in its stream is done.

// Every thread calls this before it touches global memory: what precedes the kernel is then done, and its writes are seen.
__device__ __forceinline__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// The next kernel may begin when every block has called this or has ended.
__device__ __forceinline__ void launch_dependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

#endif

typedef float real;
typedef int index_t;
#define DIMS 3
#define INPUTS 1
#define OUTPUTS 1
#define AXIS 2  // of a pencil or scan: 0, 1, 2 for x, y, z; else -1
// How far taps reach towards smaller and larger indices.
#define LOW_X 0
#define HIGH_X 0
#define LOW_Y 0
#define HIGH_Y 0
#define LOW_Z 0
#define HIGH_Z 0
#define STAR 1  // 1 where every tap lies on an axis through the point
#define IMAGES 0  // 1 where taps of a point in the box may lie beyond the grid
#define STAGED 0  // inputs that are read beyond the point itself
__device__ constexpr int staged_input(int slot) { return -1; }
__device__ constexpr int staged_slot(int input) { return -1; }

// The grid: points in x, y, z; strides in elements; the box to compute, x0 <= x < x1 and so on
struct Geometry {
  index_t nx, ny, nz, row, plane, x0, x1, y0, y1, z0, z1;
};
__device__ __forceinline__ index_t at(const Geometry &g, index_t x, index_t y, index_t z) {
  return z*g.plane + y*g.row + x;
}
__device__ __forceinline__ bool in_box(const Geometry &g, index_t x, index_t y, index_t z) {
  return x >= g.x0 && x < g.x1 && y >= g.y0 && y < g.y1 && z >= g.z0 && z < g.z1;
}

// Bands of rows, which blocks go through along z before the next band begins; of 0 rows: all are one band.
// blockIdx.y counts the blocks of a band along y, and blockIdx.z those along z, band after band. Where this block
// stands along y and z, in numbers of blocks.
struct BandedBlock {
  index_t y, z;
};
template <int BandRows, int BlockRows, int BlockPlanes>
__device__ __forceinline__ BandedBlock banded_block(const Geometry &g) {
  if (BandRows == 0) return {index_t(blockIdx.y), index_t(blockIdx.z)};
  const unsigned blocks = unsigned(g.z1 - g.z0 - 1)/BlockPlanes + 1, band = blockIdx.z/blocks;
  return {index_t(band*(BandRows/BlockRows) + blockIdx.y), index_t(blockIdx.z - band*blocks)};
}

struct Coefficients {};
#define COEFFICIENT_VALUES Coefficients()

struct Fields {
  const real *in[INPUTS];
  real *out[OUTPUTS];
};
#define KERNEL scan_z_example
#define KERNEL_PARAMETERS \
  const real *in_u, real *out_v, void *workspace, const Geometry g
#define FIELDS {{in_u}, {out_v}}
#define LAUNCH_BOUNDS

// Input `field` at a point of the grid.
__device__ __forceinline__ real read_point(const Fields &f, int field, const Geometry &g, index_t x, index_t y, index_t z) {
  return load_plain(f.in[field] + at(g, x, y, z));
}
// N neighbours in x from this point on, which must be aligned as a vector of N elements.
template <int N>
__device__ __forceinline__ void read_vector(const Fields &f, int field, const Geometry &g, index_t x, index_t y, index_t z, real (&values)[N]) {
  load_vector(f.in[field] + at(g, x, y, z), values);
}
// The same, where some may lie behind the row's last point: 0 there.
template <int N>
__device__ __forceinline__ void read_in_row(const Fields &f, int field, const Geometry &g, index_t x, index_t y, index_t z, real (&values)[N]) {
  if (x + N <= g.nx) {
    read_vector(f, field, g, x, y, z, values);
    return;
  }
#pragma unroll
  for (int i = 0; i < N; i++) values[i] = x + i < g.nx ? read_point(f, field, g, x + i, y, z) : real(0);
}
__device__ __forceinline__ void write_point(const Fields &f, int field, const Geometry &g, index_t x, index_t y, index_t z, real value) {
  store_plain(f.out[field] + at(g, x, y, z), value);
}
template <int N>
__device__ __forceinline__ void write_vector(const Fields &f, int field, const Geometry &g, index_t x, index_t y, index_t z, const real (&values)[N]) {
  store_vector(f.out[field] + at(g, x, y, z), values);
}
// Those of a vector in a row of the box that lie in the box.
template <int N>
__device__ __forceinline__ void write_in_box(const Fields &f, int field, const Geometry &g, index_t x, index_t y, index_t z, const real (&values)[N]) {
  if (x >= g.x0 && x + N <= g.x1) {
    write_vector(f, field, g, x, y, z, values);
    return;
  }
#pragma unroll
  for (int i = 0; i < N; i++) {
    if (x + i >= g.x0 && x + i < g.x1) write_point(f, field, g, x + i, y, z, values[i]);
  }
}

// Beyond the grid in x (clamp): the nearest point of the grid.
__device__ __forceinline__ index_t image_x(const Geometry &g, index_t x) {
  if (x < 0) return 0;
  if (x >= g.nx) return g.nx - 1;
  return x;
}
// The same without a loop, for points at most nx - 1 beyond the grid.
__device__ __forceinline__ index_t near_image_x(const Geometry &g, index_t x) {
  const index_t last = g.nx - 1;
  return x < 0 ? 0 : x > last ? last : x;
}
// Whether 0 is read there.
__device__ __forceinline__ bool is_zero_x(const Geometry &g, index_t x) {
  (void)g, (void)x;
  return false;
}

// Beyond the grid in y (clamp): the nearest point of the grid.
__device__ __forceinline__ index_t image_y(const Geometry &g, index_t y) {
  if (y < 0) return 0;
  if (y >= g.ny) return g.ny - 1;
  return y;
}
// The same without a loop, for points at most ny - 1 beyond the grid.
__device__ __forceinline__ index_t near_image_y(const Geometry &g, index_t y) {
  const index_t last = g.ny - 1;
  return y < 0 ? 0 : y > last ? last : y;
}
// Whether 0 is read there.
__device__ __forceinline__ bool is_zero_y(const Geometry &g, index_t y) {
  (void)g, (void)y;
  return false;
}

// Beyond the grid in z (clamp): the nearest point of the grid.
__device__ __forceinline__ index_t image_z(const Geometry &g, index_t z) {
  if (z < 0) return 0;
  if (z >= g.nz) return g.nz - 1;
  return z;
}
// The same without a loop, for points at most nz - 1 beyond the grid.
__device__ __forceinline__ index_t near_image_z(const Geometry &g, index_t z) {
  const index_t last = g.nz - 1;
  return z < 0 ? 0 : z > last ? last : z;
}
// Whether 0 is read there.
__device__ __forceinline__ bool is_zero_z(const Geometry &g, index_t z) {
  (void)g, (void)z;
  return false;
}

// Input `field` at a point that may lie beyond the grid, by at most the radius.
__device__ __forceinline__ real read_image(const Fields &f, int field, const Geometry &g, index_t x, index_t y, index_t z) {
  return read_point(f, field, g, image_x(g, x), image_y(g, y), image_z(g, z));
}

