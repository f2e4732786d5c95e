/* block.c: gives threads and blocks their turns.
 *
 * A thread that leaves the kernel hands its fiber to the next thread that has not begun. So a kernel without barriers
 * runs on one stack and never switches. A block in which all threads wait in loops lets the other live blocks run. As
 * on a GPU, only a few blocks are live at a time, so a block may wait only for blocks that have begun. A ticket, which
 * numbers the blocks in the order in which they begin, ensures that. In a cooperative launch all blocks are live. */
#include "tuner/emulate/runtime/block.h"

#include <stdlib.h>

#include "tuner/emulate/runtime/calls.h"
#include "tuner/emulate/runtime/cluster.h"
#include "tuner/emulate/runtime/cluster_barrier.h"
#include "tuner/emulate/runtime/count.h"
#include "tuner/emulate/runtime/fiber.h"
#include "tuner/emulate/runtime/poison.h"
#include "tuner/emulate/runtime/report.h"
#include "tuner/emulate/runtime/tensor_copy.h"
#include "tuner/emulate/runtime/thread_order.h"
#include "tuner/emulate/runtime/warp.h"

enum {
  MAX_LIVE_BLOCKS = 4,
  SHARED_CANARY_BYTES = 256,   /* before and after the memory; a multiple of TENSOR_COPY_ALIGNMENT_BYTES */
  MAX_IDLE_ROUNDS = 10 * 1000, /* rounds of all live blocks in which every thread only loops or waits */
};

struct index3 threadIdx, blockIdx, blockDim, gridDim;
unsigned char *halotune_shared;
struct turn turn;
struct launch launch;

static struct index3 indices[MAX_BLOCK_THREADS]; /* of each thread of a block */
static struct block *free_blocks;
static uint64_t begun_count, ticket_count; /* of this launch: blocks that began; tickets that were taken */
static int live_count, idle_rounds;
static struct fiber *running;

void progress_made(void) { idle_rounds = 0; }

void thread_wake(struct block *block, unsigned number) {
  block->threads[number].state = THREAD_READY;
  block->woken[block->woken_count++] = (uint16_t)number;
}

/* Allocate memory with the alignment of tensor copies. Returns NULL when memory is out. */
static void *allocate_aligned(size_t bytes) {
  void *memory = NULL;
  return posix_memalign(&memory, TENSOR_COPY_ALIGNMENT_BYTES, bytes > 0 ? bytes : 1) == 0 ? memory : NULL;
}

/* Make a block. Its shared memory ends where its heap object ends, so that ASan finds accesses beyond it. Without ASan
 * there are canaries. */
static struct block *block_make(void) {
  struct block *block = must_have(calloc(1, sizeof *block), "a block");
  size_t bytes = launch.request->shared_bytes;
#ifdef EMULATION_ASAN
  block->shared = must_have(allocate_aligned(bytes), "shared memory");
#else
  unsigned char *all = must_have(allocate_aligned(bytes + (size_t)2 * SHARED_CANARY_BYTES), "shared memory");
  block->shared = all + SHARED_CANARY_BYTES;
  poison_fill(all, SHARED_CANARY_BYTES, EMULATION_POISON_CANARY);
  poison_fill(block->shared + bytes, SHARED_CANARY_BYTES, EMULATION_POISON_CANARY);
#endif
  return block;
}

static void block_unmake(struct block *block) {
#ifdef EMULATION_ASAN
  free(block->shared);
#else
  free(block->shared - SHARED_CANARY_BYTES);
#endif
  for (unsigned i = 0; i < MAX_BLOCK_THREADS; i++) {
    free(block->threads[i].copies.items);
    tensor_stores_drop(&block->threads[i].stores);
    free(block->threads[i].stores.items);
  }
  free(block->bulk.items);
  free(block);
}

static void check_shared_canaries(const struct block *block) {
#ifdef EMULATION_ASAN
  (void)block;
#else
  size_t bytes = launch.request->shared_bytes;
  size_t before = poison_find_damage(block->shared - SHARED_CANARY_BYTES, SHARED_CANARY_BYTES, EMULATION_POISON_CANARY);
  size_t behind = poison_find_damage(block->shared + bytes, SHARED_CANARY_BYTES, EMULATION_POISON_CANARY);
  if (before == SHARED_CANARY_BYTES && behind == SHARED_CANARY_BYTES) return;
  long long at = before < SHARED_CANARY_BYTES ? (long long)before - SHARED_CANARY_BYTES : (long long)(bytes + behind);
  report(EMULATION_OUT_OF_BOUNDS, "byte %lld of shared memory was written, but the block has only %zu bytes", at,
         bytes);
#endif
}

/* Make the next block of the launch live, and put it after the current one into the ring. */
static void block_begin(struct cluster *cluster) {
  struct block *block = free_blocks;
  uint64_t number = order_block(begun_count++);
  if (block) free_blocks = block->next;
  else block = block_make();
  cluster_join(cluster, block, number);
  block->is_fenced = block->has_ended = block->stands_aside = false;
  block->at_cluster = block->cursor = block->at_barrier = block->left = block->woken_count = block->spinning_count = 0;
  for (unsigned i = 0; i < launch.thread_count; i++) {
    block->threads[i].fiber = NULL;
    block->threads[i].state = THREAD_READY;
    copies_drop(&block->threads[i].copies);
    tensor_stores_drop(&block->threads[i].stores);
  }
  copies_drop(&block->bulk);
  order_threads(block, number);
  poison_fill(block->shared, launch.request->shared_bytes, EMULATION_POISON_SHARED);
  live_count++;
  if (turn.block) {
    block->next = turn.block->next;
    turn.block->next = block;
  } else {
    block->next = block;
    turn.block = block;
  }
}

void block_recycle(struct block *block) {
  block->next = free_blocks;
  free_blocks = block;
}

/* On a GPU the engine would write to the shared memory of another block. */
static void check_engine_is_done(const struct block *block) {
  if (block->bulk.first == block->bulk.end) return;
  const struct copy *copy = &block->bulk.items[block->bulk.first];
  report(EMULATION_UNWAITED_COPY,
         "copies by the engine were not complete when the block ended: %u, the first of %u bytes in line %d",
         block->bulk.end - block->bulk.first, copy->bytes, copy->line);
}

/* Remove the current block from the ring. The block before it becomes the current one, if there is any. */
static void block_end(void) {
  struct block *block = turn.block, *before = block;
  check_shared_canaries(block);
  check_engine_is_done(block);
  while (before->next != block) before = before->next;
  before->next = block->next;
  turn.block = before == block ? NULL : before;
  cluster_leave(block);
  live_count--;
  progress_made();
}

/* The first thread of the block that is in this state; thread_count if there is none. */
static unsigned thread_in_state(const struct block *block, enum thread_state state) {
  unsigned number = 0;
  while (number < launch.thread_count && block->threads[number].state != state) number++;
  return number;
}

/* Report which thread waits for what, and why that never happens. */
static _Noreturn void report_stuck(const struct block *block) {
  unsigned waiting = thread_in_state(block, THREAD_AT_BARRIER), meeting = thread_in_state(block, THREAD_AT_WARP);
  unsigned left = thread_in_state(block, THREAD_LEFT);
  if (meeting < launch.thread_count) {
    const struct thread *lane = &block->threads[meeting];
    threadIdx = indices[meeting];
    report(EMULATION_DIVERGENT_BARRIER,
           "lane %u of warp %u waits in line %d for lanes 0x%08x, but only 0x%08x come there; %u threads wait at a "
           "barrier",
           meeting % WARP_LANES, meeting / WARP_LANES, lane->line, lane->lane.mask,
           block->warps[meeting / WARP_LANES].waiting & lane->lane.mask, block->at_barrier);
  }
  struct index3 gone = indices[left];
  threadIdx = indices[waiting];
  report(EMULATION_MISSED_BARRIER,
         "%u of %u threads wait at the barrier in line %d; %u left the kernel before it, as thread (%u, %u, %u)",
         block->at_barrier, launch.thread_count, block->line, block->left, gone.x, gone.y, gone.z);
}

static _Noreturn void report_spinning(const struct block *block) {
  if (block->spinning_count == 0) cluster_report_stuck(block, thread_in_state(block, THREAD_AT_CLUSTER));
  const struct thread *thread = &block->threads[thread_in_state(block, THREAD_SPINNING)];
  report(
      EMULATION_HUNG,
      "all threads that can run spin, and nothing changes: line %d waits for something that no running block does (%d are running, %llu of "
      "%llu have begun)",
      thread->line, live_count, (unsigned long long)begun_count, (unsigned long long)launch.block_count);
}

static bool may_begin(void) {
  if (begun_count == launch.block_count) return false;
  return live_count < MAX_LIVE_BLOCKS || launch.request->cooperative;
}

/* Go to another block, since no thread of the current one can run. Returns false if all blocks are done. */
static bool next_block(void) {
  struct block *block = turn.block;
  if (block && block->left == launch.thread_count) block_end();
  else if (block && block->spinning_count == 0 && block->at_cluster == 0) report_stuck(block);
  if (may_begin()) {
    struct cluster *cluster = cluster_new();
    for (unsigned i = 0; i < cluster_size(); i++) block_begin(cluster);
    progress_made();
  }
  if (!turn.block) return false;
  turn.block = block = turn.block->next;
  blockIdx = block->index;
  halotune_shared = block->shared;
  block->stands_aside = false;
  if (block->spinning_count + block->at_cluster > 0 && ++idle_rounds > MAX_IDLE_ROUNDS * live_count)
    report_spinning(block);
  while (block->spinning_count > 0) thread_wake(block, block->spinning[--block->spinning_count]);
  return true;
}

/* The thread whose turn is next; NULL when the launch is done. */
static struct thread *next_thread(void) {
  do {
    struct block *block = turn.block;
    if (!block || block->stands_aside) continue;
    if (block->woken_count > 0) return &block->threads[block->woken[--block->woken_count]];
    if (block->cursor < launch.thread_count) return &block->threads[block->order[block->cursor++]];
  } while (next_block());
  return NULL;
}

static void turn_take(struct thread *thread) {
  turn.thread = thread;
  threadIdx = indices[thread_number(thread)];
}

static void switch_to(struct fiber *fiber) {
  struct fiber *from = running;
  running = fiber;
  fiber_switch(from, fiber);
}

/* The loop of every fiber: it runs one thread of the kernel after the other. */
static void fiber_main(void) {
  while (true) {
    launch.kernel->run(launch.arguments);
    struct block *block = turn.block;
    struct thread *thread = turn.thread;
    thread->state = THREAD_LEFT;
    thread->fiber = NULL;
    block->left++;
    warp_lane_left(block, thread_number(thread));
    cluster_thread_left(block);
    struct thread *next = next_thread();
    if (next) turn_take(next);
    if (next && !next->fiber) continue;
    struct fiber *to = next ? next->fiber : fiber_of_the_program();
    fiber_give(running);
    switch_to(to);
  }
}

void turn_give(void) {
  struct thread *self = turn.thread, *next = next_thread();
  turn_take(next); /* never NULL, since this thread is not done */
  if (next == self) return;
  self->fiber = running;
  switch_to(next->fiber ? next->fiber : fiber_take(fiber_main));
}

void halotune_barrier(int line) {
  struct block *block = turn.block;
  struct thread *thread = turn.thread;
  count_meeting();
  if (block->at_barrier > 0 && block->line != line) {
    struct index3 other = indices[block->first_at_barrier];
    report(EMULATION_DIVERGENT_BARRIER,
           "this thread comes to the barrier in line %d while %u threads, as (%u, %u, %u), wait at the "
           "one in line %d",
           line, block->at_barrier, other.x, other.y, other.z, block->line);
  }
  if (block->at_barrier == 0) block->first_at_barrier = thread_number(thread);
  thread->state = THREAD_AT_BARRIER;
  block->line = line;
  if (++block->at_barrier == launch.thread_count) { /* the last thread has arrived: all threads may run again */
    block->at_barrier = block->cursor = 0;
    progress_made();
  }
  turn_give();
  thread->state = THREAD_READY;
}

void halotune_spin_yield(int line) {
  struct block *block = turn.block;
  turn.thread->state = THREAD_SPINNING;
  turn.thread->line = line;
  block->spinning[block->spinning_count++] = (uint16_t)thread_number(turn.thread);
  turn_give();
}

/* Let all other blocks have this many turns first. */
static void stand_aside(uint64_t rounds, int line) {
  if (launch.request->thread_order == EMULATION_ASCENDING) return;
  while (rounds-- > 0) {
    turn.block->stands_aside = true;
    halotune_spin_yield(line);
  }
}

/* Of the live blocks, the one that took its ticket last continues first. */
void halotune_took_ticket(int line) { stand_aside(2 * (MAX_LIVE_BLOCKS - 1 - ticket_count++ % MAX_LIVE_BLOCKS), line); }

void halotune_told(int line) { stand_aside(1, line); }

void blocks_run(const struct launch *what) {
  const struct emulation_request *request = what->request;
  launch = *what;
  blockDim = (struct index3){request->block[0], request->block[1], request->block[2]};
  gridDim = (struct index3){request->grid[0], request->grid[1], request->grid[2]};
  for (unsigned i = 0; i < launch.thread_count; i++) {
    indices[i] = (struct index3){i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
  }
  begun_count = request->counts ? request->counted_block / cluster_size() * cluster_size() : 0;
  if (request->counts) launch.block_count = begun_count + cluster_size();
  ticket_count = 0;
  turn_take(next_thread()); /* a launch has a block, and a block has a thread */
  running = fiber_of_the_program();
  switch_to(fiber_take(fiber_main));
  while (free_blocks) {
    struct block *block = free_blocks;
    free_blocks = block->next;
    block_unmake(block);
  }
}
