/* warp.h: operations for which the lanes of a warp meet. */
#ifndef EMULATE_RUNTIME_WARP_H
#define EMULATE_RUNTIME_WARP_H

#include "tuner/emulate/runtime/block.h"

/* A lane left the kernel: those that wait in its warp may have waited for it only. */
void warp_lane_left(struct block *block, unsigned thread);

#endif
