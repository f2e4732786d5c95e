/* turn.h: the threads of a block, and whose turn it is. The runner has only one system thread. The threads of a kernel
 * are fibers, which give up their turn only where they wait. block.c implements what this declares. */
#ifndef EMULATE_RUNTIME_TURN_H
#define EMULATE_RUNTIME_TURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/emulate/runtime/copy.h"
#include "tuner/emulate/runtime/indices.h"
#include "tuner/emulate/runtime/protocol.h"

enum { MAX_BLOCK_THREADS = 1024, WARP_LANES = 32, MAX_BLOCK_WARPS = MAX_BLOCK_THREADS / WARP_LANES };

/* The shared memory of the running block, under the name by which a kernel reads it. Each change of turn sets it. */
extern unsigned char *halotune_shared;

struct fiber;

enum thread_state { THREAD_READY, THREAD_AT_BARRIER, THREAD_AT_WARP, THREAD_AT_CLUSTER, THREAD_SPINNING, THREAD_LEFT };

/* The operands that a lane brings to a warp operation, and its result. */
struct lane {
  int operation;  /* enum warp_operation */
  unsigned mask;  /* the lanes that take part, according to this lane */
  int source;     /* the lane whose value this lane wants */
  uint64_t value; /* the lane's own value, then the result */
};

struct thread {
  struct fiber *fiber; /* NULL before the thread starts and after it left */
  enum thread_state state;
  int line; /* of the source, where the thread waits */
  struct lane lane;
  struct copies copies, stores; /* asynchronous copies; stores by tensor maps */
};

struct warp {
  unsigned present, waiting; /* bit masks: lanes that have not left the kernel; lanes that wait in a warp operation */
  unsigned begin, count;     /* its threads in the block's order; they are neighbours there */
};

struct cluster;

struct block {
  struct index3 index;
  struct cluster *cluster;
  unsigned rank;       /* in the cluster */
  unsigned at_cluster; /* threads that wait at the cluster's barrier */
  bool has_ended;
  struct block *next;        /* in the ring of live blocks */
  unsigned char *shared;     /* exactly as large as the launch says, besides the canaries around it */
  unsigned cursor;           /* the next thread of `order` to run; those before it have run since the last barrier */
  unsigned at_barrier, left; /* threads that wait at the barrier; threads that left the kernel */
  unsigned first_at_barrier; /* the thread that arrived first */
  int line;                  /* of the barrier where threads wait */
  bool stands_aside;         /* other blocks run first, although some of its threads could run */
  unsigned woken_count, spinning_count;
  uint16_t woken[MAX_BLOCK_THREADS];    /* they run before those of `order`, the last one first */
  uint16_t spinning[MAX_BLOCK_THREADS]; /* they wait in loops for another thread, in the order in which they began to */
  uint16_t order[MAX_BLOCK_THREADS];
  struct warp warps[MAX_BLOCK_WARPS];
  struct thread threads[MAX_BLOCK_THREADS];
  struct copies bulk;
  bool is_fenced; /* some thread called tensor_fence */
};

/* The running block and thread. */
struct turn {
  struct block *block;
  struct thread *thread;
};
extern struct turn turn;

struct kernel;

/* The current launch. */
struct launch {
  const struct emulation_request *request;
  const struct kernel *kernel;
  void *const *arguments;
  unsigned thread_count; /* of a block */
  uint64_t block_count;
};
extern struct launch launch;

static inline unsigned thread_number(const struct thread *thread) { return (unsigned)(thread - turn.block->threads); }

/* Let other threads run. Returns when this thread has its turn again. The thread's state says what it waits for. */
void turn_give(void);

/* Note an event for which a thread in a waiting loop may have waited. */
void progress_made(void);

/* Reuse a block that has ended. */
void block_recycle(struct block *block);

/* Let a thread of this block run before the threads that have not had their turn. The last one woken runs first. */
void thread_wake(struct block *block, unsigned number);

#endif
