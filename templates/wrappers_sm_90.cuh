// wrappers_sm_90: functions for sm_90 and later: tensor maps, clusters of blocks, programmatic dependent launch. It follows wrappers.cuh,
// which has the barriers and bulk copies of sm_90.
// The emulation's side is in tuner/emulate/runtime/cuda_and_ptx_on_cpu.h. Before sm_90 it compiles, and the functions do nothing: rules exclude the
// variants that call them.
#ifndef HALOTUNE_WRAPPERS_SM_90
#define HALOTUNE_WRAPPERS_SM_90

// --- tensor maps: a map describes an array to the copy engine, as boxes whose size the YAML file gives. A map is a parameter of the
// kernel. f.map_in[slot] and f.map_out[output] point to the maps. A copy of a map is not valid.

struct __align__(128) TensorMap { unsigned long long opaque[16]; };

// Prefetch a map. One thread of a block calls this, so that the block's first copy does not wait for the map.
__device__ __forceinline__ void tensor_prefetch(const TensorMap *map) {
#if __CUDA_ARCH__ >= 900
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
#endif
}

// Copy the box that begins at this element to shared memory, x fastest. One thread copies the whole box. The destination is aligned to 128
// bytes. The box begins at a multiple of 16 bytes in x. The barrier counts all bytes of the box. Elements outside the grid arrive as zeros.
// Maps of two dimensions have no z.
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

// Copy a box from shared memory to the grid. The box begins at a multiple of 16 bytes in x, and no coordinate is negative. Elements outside
// the grid are not written. Elements outside the box to be computed are written, so threads write the tiles that this box cuts. A thread
// commits its stores as a group. It waits until at most PENDING_GROUPS of its groups still read shared memory, before the shared memory is
// written again and before the block ends.
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

// --- clusters: blocks that run together and can access each other's shared memory.

// The number of this block in its cluster, with x fastest, then y, then z.
__device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return rank;
}

// A barrier for all threads of all blocks of the cluster. Writes before it are visible behind it. A block must not access another block's
// shared memory before the first such barrier. It must not exit while another block may access its own shared memory.
__device__ __forceinline__ void cluster_sync() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release;\n"
               "barrier.cluster.wait.acquire;" ::: "memory");
#else
  __syncthreads();
#endif
}

// The same place in the shared memory of another block of the cluster. It is read and written like any memory.
template <class T> __device__ __forceinline__ T *cluster_map(T *shared, unsigned rank) {
#if __CUDA_ARCH__ >= 900
  unsigned long long mapped;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(shared), "r"(rank));
  return reinterpret_cast<T *>(mapped);
#else
  return shared;
#endif
}

// Arrive at the barrier at the same place in another block's shared memory. No bytes are announced.
__device__ __forceinline__ void cluster_arrive(unsigned long long *barrier, unsigned rank) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n"
               ".reg .b32 remote;\n"
               "mapa.shared::cluster.u32 remote, %0, %1;\n"
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n"
               "}" ::"r"(shared_address(barrier)), "r"(rank) : "memory");
#endif
}

// Like barrier_wait, for a barrier at which threads of other blocks arrive.
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

// --- products of matrices in double precision, by the tensor cores.

// sums += a*b. Matrix a has 16 rows and 8 columns, matrix b has 8 rows and 8 columns. All lanes of a warp call this. Each lane holds
//
//     a[i]     of row lane/4 + i%2*8, column lane%4 + i/2*4
//     b[i]     of row lane%4 + i*4,   column lane/4
//     sums[i]  of row lane/4 + i/2*8, column lane%4*2 + i%2
__device__ __forceinline__ void multiply_matrices(const double (&a)[4], const double (&b)[2], double (&sums)[4]) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#endif
}

// --- programmatic dependent launch: if `overlap` is 1, a kernel begins before the previous kernel in its stream has ended.

// Every thread calls this before it accesses global memory. Behind it the previous kernel has ended, and its writes are visible.
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
