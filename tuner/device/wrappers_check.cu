// wrappers_check: copies a field with one of the wrappers of templates/wrappers.cuh, or of wrappers_sm_90.cuh for cases
// that need these. The wrappers stand before this text, as do the macros REAL, WRAPPER (the name of the case), and MAPS
// (for kernels that take tensor maps). An error of a wrapper makes the copy wrong. Blocks have 256 threads, and each
// thread copies 4 neighbouring elements. The field is a whole number of blocks.
struct Numbers {
  long long nx, ny, nz, row, plane, x0, x1, y0, y1, z0, z1;
};

enum { THREADS = 256, EACH = 4, CHUNK = THREADS*EACH };

template <int NUMBER> struct Case {};
#define COPY(name) __device__ __forceinline__ void copy(Case<name>, const REAL *u, REAL *v, long long first)
#define COPY_BY_MAPS(name)                                                                            \
  __device__ __forceinline__ void copy(Case<name>, const REAL *u, REAL *v, const TensorMap *map_u, \
                                       const TensorMap *map_v, const Numbers &n)

// Vectors of each length, read and written in every way.
template <int N, int WAY> __device__ __forceinline__ void copy_vectors(const REAL *u, REAL *v, long long first) {
  for (int i = 0; i < EACH; i += N) {
    REAL values[N];
    const REAL *from = u + first + i;
    if (WAY == 0) load_vector<N>(from, values);
    if (WAY == 1) load_vector_readonly<N>(from, values);
    if (WAY == 2) load_vector_streaming<N>(from, values);
    if (WAY == 2) store_vector_streaming<N>(v + first + i, values);
    else store_vector<N>(v + first + i, values);
  }
}
COPY(CASE_vector_1) { copy_vectors<1, 0>(u, v, first); }
COPY(CASE_vector_2) { copy_vectors<2, 0>(u, v, first); }
COPY(CASE_vector_4) { copy_vectors<4, 0>(u, v, first); }
COPY(CASE_vector_readonly) { copy_vectors<4, 1>(u, v, first); }
COPY(CASE_vector_streaming) { copy_vectors<4, 2>(u, v, first); }

COPY(CASE_plain) {
  for (int i = 0; i < EACH; i++) store_plain(v + first + i, load_plain(u + first + i));
}
COPY(CASE_readonly) {
  for (int i = 0; i < EACH; i++) store_plain(v + first + i, load_readonly(u + first + i));
}
COPY(CASE_streaming) {
  for (int i = 0; i < EACH; i++) {
    prefetch_l2(u + first + i);
    store_streaming(v + first + i, load_streaming(u + first + i));
  }
}

// Asynchronous copies of BYTES bytes. Each thread reads what another thread copied.
template <int BYTES> __device__ __forceinline__ void copy_async(const REAL *u, REAL *v, long long first) {
  REAL *shared = SHARED_MEMORY(REAL);
  const int mine = int(threadIdx.x)*EACH, other = (THREADS - 1 - int(threadIdx.x))*EACH, step = BYTES/int(sizeof(REAL));
  for (int i = 0; i < EACH; i += step) async_copy<BYTES>(shared + mine + i, u + first + i);
  async_commit();
  async_wait<0>();
  __syncthreads();
  for (int i = 0; i < EACH; i++) v[first - mine + other + i] = shared[other + i];
}
COPY(CASE_async_smallest) { copy_async<sizeof(REAL)>(u, v, first); }
COPY(CASE_async_8) { copy_async<8>(u, v, first); }
COPY(CASE_async_16) { copy_async<16>(u, v, first); }

// Every second element is not read but becomes zero; then the element itself is added.
COPY(CASE_async_zero) {
  REAL *shared = SHARED_MEMORY(REAL);
  const int mine = int(threadIdx.x)*EACH;
  for (int i = 0; i < EACH; i++) shared[mine + i] = 7;
  for (int i = 0; i < EACH; i++) async_copy_zero<sizeof(REAL)>(shared + mine + i, u + first + i, i%2 == 0);
  async_commit();
  async_wait<0>();
  for (int i = 0; i < EACH; i++) v[first + i] = i%2 == 0 ? shared[mine + i] : shared[mine + i] + u[first + i];
}

// Wait for groups one by one, while later ones are pending.
COPY(CASE_async_groups) {
  REAL *shared = SHARED_MEMORY(REAL);
  const int mine = int(threadIdx.x)*EACH;
  for (int i = 0; i < EACH; i++) {
    async_copy<sizeof(REAL)>(shared + mine + i, u + first + i);
    async_commit();
  }
  async_wait<3>();
  v[first] = shared[mine];
  async_wait<2>();
  v[first + 1] = shared[mine + 1];
  async_wait<1>();
  v[first + 2] = shared[mine + 2];
  async_wait<0>();
  v[first + 3] = shared[mine + 3];
}

// Copy the two halves of a chunk in two phases of one barrier.
COPY(CASE_bulk) {
  REAL *shared = SHARED_MEMORY(REAL);
  unsigned long long *barrier = reinterpret_cast<unsigned long long *>(shared + CHUNK);
  const int mine = int(threadIdx.x)*EACH, half = CHUNK/2;
  const REAL *from = u + first - mine;
  if (threadIdx.x == 0) {
    barrier_init(barrier, 1);
    barrier_init_done();
  }
  __syncthreads();
  for (int phase = 0; phase < 2; phase++) {
    if (threadIdx.x == 0) {
      barrier_expect(barrier, half*sizeof(REAL));
      bulk_copy(shared + phase*half, from + phase*half, half*sizeof(REAL), barrier);
    }
    barrier_wait(barrier, unsigned(phase));
    __syncthreads();
  }
  for (int i = 0; i < EACH; i++) v[first + i] = shared[mine + i];
}

// Blocks take tickets and pass a number from one to the next. A block that misses the number of the block before it
// copies wrong values. The numbers continue from launch to launch.
__device__ unsigned ticket, turn;
__device__ unsigned handed;

COPY(CASE_flags) {
  unsigned *shared = SHARED_MEMORY(unsigned);
  if (threadIdx.x == 0) {
    const unsigned own = atomicAdd(&ticket, 1u);
    while (load_acquire(&turn) != own) spin_yield();
    shared[0] = handed - 3u*own;
    handed = 3u*(own + 1u);
    store_release(&turn, own + 1u);
  }
  __syncthreads();
  for (int i = 0; i < EACH; i++) v[first + i] = u[first + i] + REAL(shared[0]);
}

#ifdef HALOTUNE_WRAPPERS_SM_90
// Tensor maps: a block copies a box of CHUNK elements. The field has rows of 256 elements, or planes of 64x32.

template <int DIMS> struct Box;
template <> struct Box<2> { enum { X = 256, Y = 4, Z = 1 }; };
template <> struct Box<3> { enum { X = 32, Y = 8, Z = 4 }; };

// Where this block's box begins, and where element `i` of it is.
struct Place {
  int x, y, z;
};
template <int DIMS> __device__ __forceinline__ Place box_of(const Numbers &n) {
  typedef Box<DIMS> B;
  const int in_x = int(n.nx)/B::X, in_y = int(n.ny)/B::Y, b = int(blockIdx.x);
  return {b%in_x*B::X, b/in_x%in_y*B::Y, b/in_x/in_y*B::Z};
}
template <int DIMS> __device__ __forceinline__ Place element_of(int i) {
  typedef Box<DIMS> B;
  return {i%B::X, i/B::X%B::Y, i/B::X/B::Y};
}
__device__ __forceinline__ long long index_of(const Numbers &n, Place a, Place b) {
  return (a.x + b.x) + n.nx*((a.y + b.y) + n.ny*(a.z + b.z));
}

template <int DIMS> __device__ __forceinline__ void fetch(REAL *shared, const TensorMap *map, Place at, unsigned long long *barrier) {
  if (DIMS == 3) tensor_copy(shared, map, at.x, at.y, at.z, barrier);
  else tensor_copy(shared, map, at.x, at.y, barrier);
}

// Copy the box, and a second one that begins earlier along each axis, in x by a multiple of 16 bytes. Its elements
// outside the grid must be zero; the others are compared.
template <int DIMS, bool EDGE>
__device__ __forceinline__ void copy_boxes(REAL *v, const TensorMap *map, const Numbers &n) {
  typedef Box<DIMS> B;
  const Place shift = {4, 1, DIMS == 3 ? 2 : 0}, box = box_of<DIMS>(n);
  const Place before = {box.x - shift.x, box.y - shift.y, box.z - shift.z};
  REAL *shared = SHARED_MEMORY(REAL), *shifted = shared + CHUNK;
  unsigned long long *barrier = reinterpret_cast<unsigned long long *>(shared + 2*CHUNK);
  if (threadIdx.x == 0) {
    tensor_prefetch(map);
    barrier_init(barrier, 1);
    barrier_init_done();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier_expect(barrier, (EDGE ? 2 : 1)*CHUNK*sizeof(REAL));
    fetch<DIMS>(shared, map, box, barrier);
    if (EDGE) fetch<DIMS>(shifted, map, before, barrier);
  }
  barrier_wait(barrier, 0);
  for (int k = 0; k < EACH; k++) {
    const int i = int(threadIdx.x)*EACH + k;
    const Place e = element_of<DIMS>(i);
    REAL value = shared[i];
    if (EDGE) {
      const bool beyond = before.x + e.x < 0 || before.y + e.y < 0 || before.z + e.z < 0;
      if (beyond) value += shifted[i];
      if (e.x + shift.x < B::X && e.y + shift.y < B::Y && e.z + shift.z < B::Z) {
        const REAL same = shifted[i + shift.x + B::X*(shift.y + B::Y*shift.z)];
        if (same != shared[i]) value += 1;
      }
    }
    v[index_of(n, box, e)] = value;
  }
}
COPY_BY_MAPS(CASE_tensor_copy_2d) { copy_boxes<2, false>(v, map_u, n); }
COPY_BY_MAPS(CASE_tensor_copy_3d) { copy_boxes<3, false>(v, map_u, n); }
COPY_BY_MAPS(CASE_tensor_edge_2d) { copy_boxes<2, true>(v, map_u, n); }
COPY_BY_MAPS(CASE_tensor_edge_3d) { copy_boxes<3, true>(v, map_u, n); }

// Store from shared memory to the grid. Block 0 also stores another box beyond the last row, which must have no
// effect.
template <int DIMS> __device__ __forceinline__ void store_boxes(const REAL *u, const TensorMap *map, const Numbers &n) {
  typedef Box<DIMS> B;
  const Place box = box_of<DIMS>(n);
  REAL *shared = SHARED_MEMORY(REAL), *other = shared + CHUNK;
  for (int k = 0; k < EACH; k++) {
    const int i = int(threadIdx.x)*EACH + k;
    shared[i] = u[index_of(n, box, element_of<DIMS>(i))];
    other[i] = REAL(-1000 - i);
  }
  tensor_fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    if (DIMS == 3) tensor_store(map, box.x, box.y, box.z, shared);
    else tensor_store(map, box.x, box.y, shared);
    tensor_store_commit();
    if (blockIdx.x == 0) {
      if (DIMS == 3) tensor_store(map, 0, int(n.ny), 0, other);
      else tensor_store(map, 0, int(n.ny), other);
      tensor_store_commit();
    }
    tensor_store_wait<1>();
    tensor_store_wait<0>();
  }
}
COPY_BY_MAPS(CASE_tensor_store_2d) { store_boxes<2>(u, map_v, n); }
COPY_BY_MAPS(CASE_tensor_store_3d) { store_boxes<3>(u, map_v, n); }

// Clusters of 4 blocks: the next block writes each block's chunk.

enum { CLUSTER = 4 };

// The chunk of another block of the cluster, relative to this block's.
__device__ __forceinline__ long long chunk_of(long long first, unsigned rank) {
  return first + ((long long)rank - (long long)cluster_rank())*CHUNK;
}

COPY(CASE_cluster_read) {
  REAL *shared = SHARED_MEMORY(REAL);
  const int mine = int(threadIdx.x)*EACH;
  const unsigned other = (cluster_rank() + 1)%CLUSTER;
  for (int i = 0; i < EACH; i++) shared[mine + i] = u[first + i];
  cluster_sync();
  const REAL *theirs = cluster_map(shared, other);
  for (int i = 0; i < EACH; i++) v[chunk_of(first, other) + i] = theirs[mine + i];
  cluster_sync();
}

COPY(CASE_cluster_write) {
  REAL *shared = SHARED_MEMORY(REAL);
  const int mine = int(threadIdx.x)*EACH;
  const unsigned other = (cluster_rank() + 1)%CLUSTER, before = (cluster_rank() + CLUSTER - 1)%CLUSTER;
  cluster_sync();
  REAL *theirs = cluster_map(shared, other);
  for (int i = 0; i < EACH; i++) theirs[mine + i] = u[first + i];
  cluster_sync();
  for (int i = 0; i < EACH; i++) v[chunk_of(first, before) + i] = shared[mine + i];
}

// Every block tells all others twice that its chunk is ready.
COPY(CASE_cluster_signal) {
  REAL *shared = SHARED_MEMORY(REAL);
  unsigned long long *barrier = reinterpret_cast<unsigned long long *>(shared + CHUNK);
  const int mine = int(threadIdx.x)*EACH;
  const unsigned other = (cluster_rank() + 3)%CLUSTER;
  if (threadIdx.x == 0) {
    barrier_init(barrier, CLUSTER);
    barrier_init_done();
  }
  cluster_sync();
  for (int phase = 0; phase < 2; phase++) {
    for (int i = 0; i < EACH; i++) shared[mine + i] = phase == 0 ? REAL(1) : u[first + i];
    __syncthreads();
    if (threadIdx.x < CLUSTER) cluster_arrive(barrier, threadIdx.x);
    cluster_wait(barrier, unsigned(phase));
    if (phase == 0) cluster_sync();  // all blocks must see the first phase before it ends
  }
  const REAL *theirs = cluster_map(shared, other);
  for (int i = 0; i < EACH; i++) v[chunk_of(first, other) + i] = theirs[mine + i];
  cluster_sync();
}

// Programmatic dependent launch.

COPY(CASE_overlap) {
  launch_dependents();
  wait_for_previous();
  for (int i = 0; i < EACH; i++) v[first + i] = u[first + i];
}

// A warp's elements are a matrix of 16 rows and 8 columns. A product exchanges its columns.
COPY(CASE_matrices) {
  const int lane = int(threadIdx.x)%32;
  const long long begin = first - lane*EACH;
  double a[4], b[2], sums[4] = {};
  for (int i = 0; i < 4; i++) a[i] = u[begin + (lane/4 + i%2*8)*8 + lane%4 + i/2*4];
  for (int i = 0; i < 2; i++) b[i] = (lane%4 + i*4)*3%8 == lane/4 ? 1 : 0;
  multiply_matrices(a, b, sums);
  for (int i = 0; i < 4; i++) {
    const int row = lane/4 + i/2*8, column = lane%4*2 + i%2;
    v[begin + row*8 + column*3%8] = REAL(sums[i]);
  }
}
#endif

#ifdef MAPS
extern "C" __global__ void __launch_bounds__(256) wrappers_check(const REAL *u, REAL *v, const __grid_constant__ TensorMap map_u,
                                                                 const __grid_constant__ TensorMap map_v, Numbers n) {
  copy(Case<WRAPPER>(), u, v, &map_u, &map_v, n);
}
#else
extern "C" __global__ void __launch_bounds__(256) wrappers_check(const REAL *__restrict__ u, REAL *__restrict__ v, Numbers n) {
  const long long first = (long long)blockIdx.x*CHUNK + (long long)threadIdx.x*EACH;
  if (first + EACH <= n.nx*n.ny*n.nz) copy(Case<WRAPPER>(), u, v, first);
}
#endif
