// wrappers_check: a copy of a field by way of one of the wrappers of templates/wrappers.cuh, which stand before it; REAL and
// WRAPPER, the name of the case, are defined in front. What a wrapper does wrong makes the copy wrong. Blocks have 256 threads, each
// copies 4 neighbouring elements; the field is a whole number of blocks.
struct Numbers {
  long long nx, ny, nz, row, plane, x0, x1, y0, y1, z0, z1;
};

enum { THREADS = 256, EACH = 4, CHUNK = THREADS*EACH };

template <int NUMBER> struct Case {};
#define COPY(name) __device__ __forceinline__ void copy(Case<CASE_##name>, const REAL *u, REAL *v, long long first)

// Vectors of each length, read and written in all ways.
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
COPY(vector_1) { copy_vectors<1, 0>(u, v, first); }
COPY(vector_2) { copy_vectors<2, 0>(u, v, first); }
COPY(vector_4) { copy_vectors<4, 0>(u, v, first); }
COPY(vector_readonly) { copy_vectors<4, 1>(u, v, first); }
COPY(vector_streaming) { copy_vectors<4, 2>(u, v, first); }

COPY(plain) {
  for (int i = 0; i < EACH; i++) store_plain(v + first + i, load_plain(u + first + i));
}
COPY(readonly) {
  for (int i = 0; i < EACH; i++) store_plain(v + first + i, load_readonly(u + first + i));
}
COPY(streaming) {
  for (int i = 0; i < EACH; i++) {
    prefetch_l2(u + first + i);
    store_streaming(v + first + i, load_streaming(u + first + i));
  }
}

// Asynchronous copies of so many bytes; threads read what their neighbours copied.
template <int BYTES> __device__ __forceinline__ void copy_async(const REAL *u, REAL *v, long long first) {
  REAL *shared = SHARED_MEMORY(REAL);
  const int mine = int(threadIdx.x)*EACH, other = (THREADS - 1 - int(threadIdx.x))*EACH, step = BYTES/int(sizeof(REAL));
  for (int i = 0; i < EACH; i += step) async_copy<BYTES>(shared + mine + i, u + first + i);
  async_commit();
  async_wait<0>();
  __syncthreads();
  for (int i = 0; i < EACH; i++) v[first - mine + other + i] = shared[other + i];
}
COPY(async_smallest) { copy_async<sizeof(REAL)>(u, v, first); }
COPY(async_8) { copy_async<8>(u, v, first); }
COPY(async_16) { copy_async<16>(u, v, first); }

// Every second element is not to be read: zero, to which the element itself is added.
COPY(async_zero) {
  REAL *shared = SHARED_MEMORY(REAL);
  const int mine = int(threadIdx.x)*EACH;
  for (int i = 0; i < EACH; i++) shared[mine + i] = 7;
  for (int i = 0; i < EACH; i++) async_copy_zero<sizeof(REAL)>(shared + mine + i, u + first + i, i%2 == 0);
  async_commit();
  async_wait<0>();
  for (int i = 0; i < EACH; i++) v[first + i] = i%2 == 0 ? shared[mine + i] : shared[mine + i] + u[first + i];
}

// Groups that are waited for one by one, each while later ones are under way.
COPY(async_groups) {
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

// The two halves of a chunk in two phases of one barrier.
COPY(bulk) {
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

// Blocks take tickets and hand a number on, one to the next; who does not see the last one's number copies wrong. The numbers go
// on from launch to launch.
__device__ unsigned ticket, turn;
__device__ unsigned handed;

COPY(flags) {
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

extern "C" __global__ void __launch_bounds__(256) wrappers_check(const REAL *__restrict__ u, REAL *__restrict__ v, Numbers n) {
  const long long first = (long long)blockIdx.x*CHUNK + (long long)threadIdx.x*EACH;
  if (first + EACH <= n.nx) copy(Case<WRAPPER>(), u, v, first);
}
