/* cluster.c: implements cluster_rank and cluster_map of cuda_and_ptx_on_cpu.h. */
#include "tuner/emulate/runtime/cluster.h"

#include <stdlib.h>

#include "tuner/emulate/runtime/calls.h"
#include "tuner/emulate/runtime/poison.h"
#include "tuner/emulate/runtime/report.h"

unsigned cluster_size(void) {
  const uint32_t *cluster = launch.request->cluster;
  return cluster[0] * cluster[1] * cluster[2];
}

struct cluster *cluster_new(void) {
  return must_have(calloc(1, sizeof(struct cluster)), "a cluster");
}

void cluster_join(struct cluster *cluster, struct block *block, uint64_t number) {
  const uint32_t *size = launch.request->cluster;
  uint64_t of = number / cluster_size();
  unsigned rank = (unsigned)(number % cluster_size()), in_x = gridDim.x / size[0], in_y = gridDim.y / size[1];
  block->index.x = (unsigned)(of % in_x) * size[0] + rank % size[0];
  block->index.y = (unsigned)(of / in_x % in_y) * size[1] + rank / size[0] % size[1];
  block->index.z = (unsigned)(of / in_x / in_y) * size[2] + rank / size[0] / size[1];
  block->cluster = cluster;
  block->rank = rank;
  cluster->blocks[rank] = block;
  cluster->joined++;
}

void cluster_leave(struct block *block) {
  struct cluster *cluster = block->cluster;
  block->has_ended = true;
  if (cluster->joined > 1) poison_fill(block->shared, launch.request->shared_bytes, EMULATION_POISON_SHARED);
  if (++cluster->ended < cluster->joined) return;
  for (unsigned i = 0; i < cluster->joined; i++) block_recycle(cluster->blocks[i]);
  free(cluster);
}

unsigned halotune_cluster_rank(void) { return turn.block->rank; }

struct block *cluster_block(const struct block *block, unsigned rank, int line) {
  const struct cluster *cluster = block->cluster;
  if (rank >= cluster->joined)
    report(EMULATION_UNDEFINED, "line %d: there is no block %u in a cluster of %u", line, rank, cluster->joined);
  if (cluster->blocks[rank]->has_ended) {
    report(EMULATION_UNDEFINED, "line %d accesses shared memory of block %u of the cluster, which has left the kernel",
           line, rank);
  }
  return cluster->blocks[rank];
}

bool cluster_shared_offset(const struct block *block, const void *address, uint64_t *offset) {
  for (unsigned i = 0; i < block->cluster->joined; i++) {
    uintptr_t from_start = (uintptr_t)address - (uintptr_t)block->cluster->blocks[i]->shared;
    if (from_start >= launch.request->shared_bytes) continue;
    *offset = from_start;
    return true;
  }
  return false;
}

void *halotune_cluster_map(const void *address, unsigned rank, int line) {
  uintptr_t offset = (uintptr_t)address - (uintptr_t)turn.block->shared;
  if (offset >= launch.request->shared_bytes) {
    report(EMULATION_OUT_OF_BOUNDS, "line %d maps byte %lld of %llu bytes of shared memory", line,
           (long long)(intptr_t)offset, (unsigned long long)launch.request->shared_bytes);
  }
  return cluster_block(turn.block, rank, line)->shared + offset;
}
