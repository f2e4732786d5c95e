/* cluster.h: blocks that run together and can access each other's shared memory. In a launch without clusters each
 * block is a cluster. */
#ifndef EMULATE_RUNTIME_CLUSTER_H
#define EMULATE_RUNTIME_CLUSTER_H

#include "tuner/emulate/runtime/turn.h"

enum { MAX_CLUSTER_BLOCKS = 16 };

struct cluster {
  struct block *blocks[MAX_CLUSTER_BLOCKS]; /* by rank */
  unsigned joined, ended;
  unsigned at_barrier, left; /* threads of all blocks */
};

/* The number of blocks in a cluster of this launch. */
unsigned cluster_size(void);

/* Make a cluster without blocks. It is freed when its last block ends. */
struct cluster *cluster_new(void);

/* Add a block that is about to begin to the cluster.
 *   number  of the block in the launch; the blocks of a cluster have consecutive numbers */
void cluster_join(struct cluster *cluster, struct block *block, uint64_t number);

/* Remove a block that has ended. Its shared memory is poisoned, because other blocks of the cluster must not access it
 * any more. */
void cluster_leave(struct block *block);

/* Find another block of a block's cluster. An error is reported for this line. */
struct block *cluster_block(const struct block *block, unsigned rank, int line);

/* Tell whether an address lies in the shared memory of a block of a block's cluster.
 *   offset  receives the address, relative to that block's shared memory; untouched if the answer is false */
bool cluster_shared_offset(const struct block *block, const void *address, uint64_t *offset);

#endif
