/* warp.h: operations at which the lanes of a warp meet. */
#ifndef EMULATE_RUNTIME_WARP_H
#define EMULATE_RUNTIME_WARP_H

#include "tuner/emulate/runtime/turn.h"

/* Note that a lane left the kernel. Waiting lanes of its warp may have waited only for it. */
void warp_lane_left(struct block *block, unsigned thread);

#endif
