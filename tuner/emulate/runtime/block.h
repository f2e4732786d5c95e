/* block.h: the threads of one block, and whose turn it is. Everything here is of one thread of the system: the threads of a
 * kernel are fibers that give up their turn only where they wait. */
#ifndef EMULATE_RUNTIME_BLOCK_H
#define EMULATE_RUNTIME_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/emulate/runtime/copy.h"
#include "tuner/emulate/runtime/fiber.h"
#include "tuner/emulate/runtime/kernel.h"
#include "tuner/emulate/runtime/protocol.h"

enum { MAX_BLOCK_THREADS = 1024, WARP_LANES = 32, MAX_BLOCK_WARPS = MAX_BLOCK_THREADS / WARP_LANES };

struct index3 {
  unsigned x, y, z;
};

/* What a kernel sees under these names, and where its block's shared memory lies; set at every change of turn. */
extern struct index3 threadIdx, blockIdx, blockDim, gridDim;
extern unsigned char *halotune_shared;

enum thread_state { THREAD_READY, THREAD_AT_BARRIER, THREAD_AT_WARP, THREAD_AT_CLUSTER, THREAD_SPINNING, THREAD_LEFT };

/* What a lane brings to a warp operation, and takes from it. */
struct lane {
  int operation;  /* enum warp_operation */
  unsigned mask;  /* the lanes that take part, as this one says */
  int source;     /* the lane whose value it wants */
  uint64_t value; /* its own; then the result */
};

struct thread {
  struct fiber *fiber; /* NULL before it starts and after it left */
  enum thread_state state;
  int line; /* where it waits */
  struct lane lane;
  struct copies copies, stores; /* asynchronous copies; stores by tensor maps */
};

struct warp {
  unsigned present, waiting; /* a bit for each lane that did not leave the kernel; that waits in a warp operation */
  unsigned begin, count;     /* its threads in the block's order: they lie together */
};

struct cluster;

struct block {
  struct index3 index;
  struct cluster *cluster;
  unsigned rank;       /* in the cluster */
  unsigned at_cluster; /* how many wait at the cluster's barrier */
  bool has_ended;
  struct block *next;        /* in the ring of live blocks */
  unsigned char *shared;     /* of exactly the size of the launch, apart from the canaries around it */
  unsigned cursor;           /* the next of `order` that gets its turn; the others have had it since the last barrier */
  unsigned at_barrier, left; /* how many wait there, how many left the kernel */
  unsigned first_at_barrier; /* the thread that came first */
  int line;                  /* of the barrier where some wait */
  bool stands_aside;         /* other blocks come first, though threads of it could run */
  unsigned woken_count, spinning_count;
  uint16_t woken[MAX_BLOCK_THREADS];    /* waiting for a turn before those of `order`, the next one last */
  uint16_t spinning[MAX_BLOCK_THREADS]; /* waiting for some other thread, in the order in which they began */
  uint16_t order[MAX_BLOCK_THREADS];
  struct warp warps[MAX_BLOCK_WARPS];
  struct thread threads[MAX_BLOCK_THREADS];
  struct copies bulk;
  bool is_fenced; /* some thread called tensor_fence */
};

/* The block and the thread that run. */
struct turn {
  struct block *block;
  struct thread *thread;
};
extern struct turn turn;

/* The launch that runs. */
struct launch {
  const struct emulation_request *request;
  const struct kernel *kernel;
  void *const *arguments;
  unsigned thread_count; /* of a block */
  uint64_t block_count;
};
extern struct launch launch;

static inline unsigned thread_number(const struct thread *thread) { return (unsigned)(thread - turn.block->threads); }

/* Run all blocks to their end; reports what goes wrong and then does not return. */
void blocks_run(const struct launch *what);

/* Let others have their turn; returns when this thread has it again. What the thread waits for is in its state. */
void turn_give(void);

/* Something happened for which a spinning thread may have waited. */
void progress_made(void);

/* A block that has ended may become another one. */
void block_recycle(struct block *block);

/* Let a thread of this block have a turn before those that did not have theirs; the last one woken comes first. */
void thread_wake(struct block *block, unsigned number);

#endif
