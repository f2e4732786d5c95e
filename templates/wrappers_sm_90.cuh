// wrappers_sm_90: what templates use of sm_90 and later: tensor maps, clusters of blocks, programmatic dependent launch.
// It stands behind wrappers.cuh. The emulation's side is in tuner/emulate/runtime/cuda_on_cpu.h. Before sm_90 it compiles and does nothing; rules keep such
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
