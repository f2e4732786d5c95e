/* cluster_barrier.c: implements cluster_sync of cuda_and_ptx_on_cpu.h. */
#include "tuner/emulate/runtime/cluster_barrier.h"

#include "tuner/emulate/runtime/calls.h"
#include "tuner/emulate/runtime/cluster.h"
#include "tuner/emulate/runtime/count.h"
#include "tuner/emulate/runtime/report.h"

/* Wake the threads in the order of this run. The last one woken runs first. */
static void wake_block(struct block *block) {
  for (unsigned i = launch.thread_count; i-- > 0;) {
    unsigned number = block->order[i];
    if (block->threads[number].state == THREAD_AT_CLUSTER) thread_wake(block, number);
  }
  block->at_cluster = 0;
}

static void release_all(struct cluster *cluster) {
  if (cluster->at_barrier == 0 || cluster->at_barrier + cluster->left < cluster->joined * launch.thread_count) return;
  for (unsigned i = 0; i < cluster->joined; i++) wake_block(cluster->blocks[i]);
  cluster->at_barrier = 0;
  progress_made();
}

void cluster_thread_left(struct block *block) {
  block->cluster->left++;
  release_all(block->cluster);
}

void halotune_cluster_sync(int line) {
  struct thread *thread = turn.thread;
  count_meeting();
  thread->state = THREAD_AT_CLUSTER;
  thread->line = line;
  turn.block->at_cluster++;
  turn.block->cluster->at_barrier++;
  release_all(turn.block->cluster);
  turn_give();
}

_Noreturn void cluster_report_stuck(const struct block *block, unsigned thread) {
  report(EMULATION_HUNG,
         "%u threads of a cluster of %u blocks wait at its barrier in line %d, and the others never come",
         block->cluster->at_barrier, block->cluster->joined, block->threads[thread].line);
}
