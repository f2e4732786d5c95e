/* bulk_copy.c: bulk copies, and the barriers in shared memory that count their bytes. A copy is done as late as the
 * memory model allows: in the first wait for its barrier. Until then its destination is poisoned. */
#include <stdlib.h>
#include <string.h>

#include "tuner/emulate/runtime/calls.h"
#include "tuner/emulate/runtime/cluster.h"
#include "tuner/emulate/runtime/count.h"
#include "tuner/emulate/runtime/poison.h"
#include "tuner/emulate/runtime/report.h"
#include "tuner/emulate/runtime/tensor_copy.h"
#include "tuner/emulate/runtime/turn.h"

/* The threads of a cluster may all arrive at one barrier. */
enum { MOST_ARRIVALS = MAX_CLUSTER_BLOCKS * MAX_BLOCK_THREADS };

/* The 8 bytes of a barrier. A phase is complete when no arrivals and no bytes are missing. */
struct copy_barrier {
  int32_t missing_bytes;
  uint32_t missing_arrivals : 15, arrivals : 15, phase : 1; /* arrivals of each phase; phase 0 and 1 in turn */
};
_Static_assert(sizeof(struct copy_barrier) == 8, "a kernel declares a barrier as an unsigned long long");

static struct copy_barrier *barrier_of(const struct block *block, void *address, int line) {
  uintptr_t offset = (uintptr_t)address - (uintptr_t)block->shared, size = launch.request->shared_bytes;
  if ((uintptr_t)address % sizeof(struct copy_barrier) != 0) {
    report(EMULATION_MISALIGNED, "misaligned barrier at %p in line %d", address, line);
  }
  if (offset >= size || offset + sizeof(struct copy_barrier) > size) {
    report(EMULATION_OUT_OF_BOUNDS, "barrier in line %d at byte %lld of %llu bytes of shared memory", line,
           (long long)(intptr_t)offset, (unsigned long long)size);
  }
  return address;
}

static struct copy_barrier *barrier_at(void *address, int line) { return barrier_of(turn.block, address, line); }

static void complete_phase(struct copy_barrier *barrier) {
  if (barrier->missing_arrivals > 0 || barrier->missing_bytes != 0) return;
  barrier->phase ^= 1;
  barrier->missing_arrivals = barrier->arrivals;
}

void halotune_barrier_init(void *address, unsigned arrivals, int line) {
  struct copy_barrier *barrier = barrier_at(address, line);
  if (arrivals < 1 || arrivals > MOST_ARRIVALS)
    report(EMULATION_UNDEFINED, "line %d makes a barrier for %u arrivals; from 1 to %d are possible", line, arrivals,
           MOST_ARRIVALS);
  *barrier = (struct copy_barrier){.missing_arrivals = arrivals, .arrivals = arrivals};
}

static void arrive_at_barrier(struct copy_barrier *barrier, unsigned bytes, int line) {
  if (barrier->missing_arrivals == 0) report(EMULATION_UNDEFINED, "line %d arrives at a barrier once too often", line);
  barrier->missing_bytes += (int32_t)bytes;
  barrier->missing_arrivals--;
  complete_phase(barrier);
}

void halotune_barrier_expect(void *address, unsigned bytes, int line) {
  arrive_at_barrier(barrier_at(address, line), bytes, line);
}

void halotune_cluster_arrive(void *address, unsigned rank, int line) {
  barrier_at(address, line);
  struct block *other = cluster_block(turn.block, rank, line);
  arrive_at_barrier(barrier_of(other, other->shared + ((unsigned char *)address - turn.block->shared), line), 0, line);
}

void halotune_tensor_copy(void *to, const void *map, const int *at, int rank, void *address, int line) {
  barrier_at(address, line);
  struct copy copy = tensor_copy_make(map, at, rank, to, line);
  copy.to = to;
  copy.barrier = address;
  *copy_add(&turn.block->bulk) = copy;
  poison_fill(to, copy.bytes, EMULATION_POISON_COPY);
}

void halotune_bulk_copy(void *to, const void *from, unsigned bytes, void *address, int line) {
  uintptr_t offset = (uintptr_t)to - (uintptr_t)halotune_shared, size = launch.request->shared_bytes;
  barrier_at(address, line);
  if ((uintptr_t)to % 16 != 0 || (uintptr_t)from % 16 != 0 || bytes % 16 != 0) {
    report(EMULATION_MISALIGNED, "misaligned bulk copy of %u bytes in line %d: from %p, to %p", bytes, line, from, to);
  }
  if (offset >= size || offset + bytes > size) {
    report(EMULATION_OUT_OF_BOUNDS, "bulk copy of %u bytes in line %d to byte %lld of %llu bytes of shared memory",
           bytes, line, (long long)(intptr_t)offset, (unsigned long long)size);
  }
  *copy_add(&turn.block->bulk) =
      (struct copy){.to = to, .from = from, .bytes = bytes, .barrier = address, .line = line};
  poison_fill(to, bytes, EMULATION_POISON_COPY);
}

int halotune_barrier_passed(void *address, unsigned phase, int line) {
  struct copy_barrier *barrier = barrier_at(address, line);
  struct copies *copies = &turn.block->bulk;
  unsigned kept = 0;
  for (unsigned i = 0; i < copies->end; i++) {
    const struct copy copy = copies->items[i];
    if (copy.barrier != address) {
      copies->items[kept++] = copy;
      continue;
    }
    count_engine_copy();
    if (copy.tensor) {
      tensor_load(&copy);
    } else {
      count_engine_bytes(copy.from, copy.bytes, false);
      memcpy(copy.to, copy.from, copy.bytes);
    }
    barrier->missing_bytes -= (int32_t)copy.bytes;
  }
  bool any = kept < copies->end;
  copies->end = kept;
  if (any) complete_phase(barrier);
  return barrier->phase != phase;
}
