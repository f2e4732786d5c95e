/* cluster_barrier.h: the barrier of all threads of a cluster. */
#ifndef EMULATE_RUNTIME_CLUSTER_BARRIER_H
#define EMULATE_RUNTIME_CLUSTER_BARRIER_H

#include "tuner/emulate/runtime/turn.h"

/* Note that a thread left the kernel. Threads at the cluster's barrier may have waited only for it. */
void cluster_thread_left(struct block *block);

/* Report that this thread waits at the cluster's barrier for ever. */
_Noreturn void cluster_report_stuck(const struct block *block, unsigned thread);

#endif
