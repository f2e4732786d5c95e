/* cluster.h: blocks that run together, and reach each other's shared memory. Where a launch has no clusters, each block
 * is one. */
#ifndef EMULATE_RUNTIME_CLUSTER_H
#define EMULATE_RUNTIME_CLUSTER_H

#include "tuner/emulate/runtime/block.h"

/* Blocks of a cluster of this launch. */
unsigned cluster_size(void);

/* A cluster without blocks; it goes when the last of its blocks does. */
struct cluster *cluster_new(void);

/* A block that is to begin becomes one of the cluster.
 *   number  of the block in the launch: those of a cluster follow each other */
void cluster_join(struct cluster *cluster, struct block *block, uint64_t number);

/* A block has ended. The others of its cluster must not touch its shared memory any more: it is poisoned. */
void cluster_leave(struct block *block);

/* A thread left the kernel: those at the cluster's barrier may have waited for it only. */
void cluster_thread_left(struct block *block);

/* Another block of a block's cluster, for line `line`. */
struct block *cluster_block(const struct block *block, unsigned rank, int line);

/* Say that this thread waits at the cluster's barrier for what never comes. */
_Noreturn void cluster_report_stuck(const struct block *block, unsigned thread);

#endif
