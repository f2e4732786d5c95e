// cluster: a thread for each point. Each block loads its own points of the staged input; taps in x that lie in a
// neighbour's tile come from that block's shared memory, where it is of the same cluster; other taps from global memory.
// A test of clusters.
#ifndef HALOTUNE_PRELUDE
#include "example.cuh"
#endif

#ifndef BLOCK_X
#define BLOCK_X 32
#define BLOCK_Y 4
#define CLUSTER_X 4
#define SIGNAL_SYNC 0
#define SIGNAL_ARRIVE 1
#define SIGNAL SIGNAL_SYNC
#endif

enum { TILE = BLOCK_X*BLOCK_Y };

struct Taps {
  const Fields &f;
  const Geometry &g;
  index_t x, y, z;
  const real *tile;
  unsigned rank;
  __device__ __forceinline__ real operator()(int input, int dx, int dy, int dz) const {
    const int column = int(threadIdx.x) + dx, block = column < 0 ? -1 : column >= BLOCK_X ? 1 : 0;
    const int along = int(rank%CLUSTER_X) + block;  // in the row of the cluster
    const bool is_held = staged_slot(input) >= 0 && dy == 0 && dz == 0 && along >= 0 && along < CLUSTER_X &&
                         x + dx >= g.x0 && x + dx < g.x1;
    if (!is_held) return read_image(f, input, g, x + dx, y + dy, z + dz);
    const real *place = tile + int(threadIdx.y)*BLOCK_X + column - block*BLOCK_X;
    return block == 0 ? *place : *cluster_map(place, unsigned(int(rank) + block));
  }
};

extern "C" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {
  const Fields f = FIELDS;
  real *tile = SHARED_MEMORY(real);
  unsigned long long *barrier = reinterpret_cast<unsigned long long *>(tile + TILE);
  const index_t x = g.x0 + index_t(blockIdx.x)*BLOCK_X + threadIdx.x;
  const index_t y = g.y0 + index_t(blockIdx.y)*BLOCK_Y + threadIdx.y;
  const index_t z = g.z0 + blockIdx.z;
  const bool computes = in_box(g, x, y, z), is_leader = threadIdx.x == 0 && threadIdx.y == 0;
  const unsigned rank = cluster_rank(), first = rank/CLUSTER_X*CLUSTER_X;
  if (SIGNAL == SIGNAL_ARRIVE) {
    if (is_leader) {
      barrier_init(barrier, CLUSTER_X);
      barrier_init_done();
    }
    cluster_sync();  // barriers are there before anyone arrives at them
  }
  wait_for_previous();
  if (computes) tile[int(threadIdx.y)*BLOCK_X + int(threadIdx.x)] = read_point(f, staged_input(0), g, x, y, z);
  if (SIGNAL == SIGNAL_ARRIVE) {
    __syncthreads();
    if (is_leader) {
      for (unsigned other = first; other < first + CLUSTER_X; other++) cluster_arrive(barrier, other);
    }
    cluster_wait(barrier, 0);
  } else {
    cluster_sync();
  }
  launch_dependents();
  real results[OUTPUTS];
  if (computes) update(Taps{f, g, x, y, z, tile, rank}, COEFFICIENT_VALUES, results);
  cluster_sync();  // nobody leaves whose tile is still read
  if (!computes) return;
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) write_point(f, o, g, x, y, z, results[o]);
}
