/* order.h: the order in which threads and blocks have their turns. */
#ifndef EMULATE_RUNTIME_ORDER_H
#define EMULATE_RUNTIME_ORDER_H

#include "tuner/emulate/runtime/block.h"

/* Fill in a block's order and where its warps lie in it. A random order is one of the warps, and one of the lanes in each. */
void order_threads(struct block *block, uint64_t block_number);

/* The number of the block that is started as the `position`th. */
uint64_t order_block(uint64_t position);

#endif
