/* thread_order.h: the order in which threads and blocks take turns. A race in shared memory shows as a wrong result in
 * one of several orders (scenes.h chooses them). */
#ifndef EMULATE_RUNTIME_THREAD_ORDER_H
#define EMULATE_RUNTIME_THREAD_ORDER_H

#include "tuner/emulate/runtime/turn.h"

/* Fill in a block's order, and where its warps are in it. A random order shuffles the warps, and the lanes within each
 * warp. */
void order_threads(struct block *block, uint64_t block_number);

/* The number of the block that starts at this position. */
uint64_t order_block(uint64_t position);

#endif
