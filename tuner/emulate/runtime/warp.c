/* warp.c: shuffles, votes and products of matrices. A lane stores its operands and waits. The lane that arrives last
 * computes the results of all lanes. */
#include "tuner/emulate/runtime/warp.h"

#include "tuner/emulate/runtime/calls.h"
#include "tuner/emulate/runtime/count.h"
#include "tuner/emulate/runtime/report.h"

static size_t warp_first(unsigned warp) { return (size_t)warp * WARP_LANES; }

static void check_same(const struct block *block, unsigned warp, unsigned lanes, const struct thread *one) {
  const struct thread *threads = &block->threads[warp_first(warp)];
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    if (!(lanes >> lane & 1)) continue;
    const struct thread *other = &threads[lane];
    if (other->lane.mask == one->lane.mask && other->lane.operation == one->lane.operation &&
        other->line == one->line) {
      continue;
    }
    report(
        EMULATION_DIVERGENT_BARRIER,
        "lanes of warp %u meet in different operations: lane %u in line %d with mask 0x%08x, lane %u in line %d with mask "
        "0x%08x",
        warp, (unsigned)(one - threads), one->line, one->lane.mask, lane, other->line, other->lane.mask);
  }
}

static uint64_t ballot(const struct thread *threads, unsigned lanes) {
  uint64_t result = 0;
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    if (lanes >> lane & 1) result |= (uint64_t)(threads[lane].lane.value != 0) << lane;
  }
  return result;
}

static void exchange_values(struct thread *threads, unsigned lanes) {
  static const uint64_t nothing = (uint64_t)EMULATION_POISON_LANE << 32 | EMULATION_POISON_LANE;
  uint64_t values[WARP_LANES];
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    values[lane] = lanes >> lane & 1 ? threads[lane].lane.value : nothing;
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    if (lanes >> lane & 1) threads[lane].lane.value = values[threads[lane].lane.source];
  }
}

static const struct matrices *matrices_of(const struct thread *lane) {
  return (const struct matrices *)(uintptr_t)lane->lane.value;
}

/* Where a lane's numbers lie in the matrices: see multiply_matrices in wrappers_sm_90.cuh. */
static void multiply_matrices(const struct thread *threads) {
  double a[16][8], b[8][8];
  for (int lane = 0; lane < WARP_LANES; lane++) {
    const struct matrices *own = matrices_of(&threads[lane]);
    for (int i = 0; i < 4; i++) a[lane / 4 + i % 2 * 8][lane % 4 + i / 2 * 4] = own->a[i];
    for (int i = 0; i < 2; i++) b[lane % 4 + i * 4][lane / 4] = own->b[i];
  }
  for (int lane = 0; lane < WARP_LANES; lane++) {
    double *sums = matrices_of(&threads[lane])->sums;
    for (int i = 0; i < 4; i++) {
      const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      for (int k = 0; k < 8; k++) sums[i] += a[row][k] * b[k][column];
    }
  }
}

static void check_all_lanes(unsigned warp, unsigned lanes, int line) {
  if (lanes == ~0U) return;
  report(EMULATION_DIVERGENT_BARRIER, "only lanes 0x%08x of warp %u multiply matrices in line %d: all 32 lanes have to",
         lanes, warp, line);
}

/* Wake the lanes in the order of this run. The last one woken runs first. */
static void wake_lanes(struct block *block, unsigned warp, unsigned lanes) {
  unsigned begin = block->warps[warp].begin;
  for (unsigned i = begin + block->warps[warp].count; i-- > begin;) {
    if (lanes >> block->order[i] % WARP_LANES & 1) thread_wake(block, block->order[i]);
  }
}

/* If all lanes for which `one` waits have arrived, compute their results and let them run. Lanes of the mask that do
 * not exist or have left the kernel take no part. */
static void complete_operation(struct block *block, unsigned warp, const struct thread *one) {
  struct thread *threads = &block->threads[warp_first(warp)];
  unsigned lanes = one->lane.mask & block->warps[warp].present;
  if ((block->warps[warp].waiting & lanes) != lanes) return;
  check_same(block, warp, lanes, one);
  if (one->lane.operation == WARP_BALLOT) {
    uint64_t result = ballot(threads, lanes);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
      if (lanes >> lane & 1) threads[lane].lane.value = result;
    }
  } else if (one->lane.operation == WARP_MULTIPLY) {
    check_all_lanes(warp, lanes, one->line);
    multiply_matrices(threads);
  } else if (one->lane.operation != WARP_SYNC) {
    exchange_values(threads, lanes);
  }
  block->warps[warp].waiting &= ~lanes;
  wake_lanes(block, warp, lanes);
}

void warp_lane_left(struct block *block, unsigned thread) {
  unsigned warp = thread / WARP_LANES;
  block->warps[warp].present &= ~(1U << thread % WARP_LANES);
  for (unsigned lane = 0; lane < WARP_LANES && block->warps[warp].waiting != 0; lane++) {
    if (block->warps[warp].waiting >> lane & 1)
      complete_operation(block, warp, &block->threads[warp_first(warp) + lane]);
  }
}

/* The lane whose value this lane gets; the lane itself at the end of its segment. */
static int source_lane(enum warp_operation operation, int lane, int operand, int width) {
  int first = lane & ~(width - 1), last = first + width - 1, source = lane;
  if (operation == WARP_SHUFFLE) return first + (operand & (width - 1));
  if (operation == WARP_SHUFFLE_UP) source = lane - operand;
  if (operation == WARP_SHUFFLE_DOWN) source = lane + operand;
  if (operation == WARP_SHUFFLE_XOR) return (lane ^ operand) <= last ? (lane ^ operand) & (WARP_LANES - 1) : lane;
  return source < first || source > last ? lane : source;
}

uint64_t halotune_warp(enum warp_operation operation, unsigned mask, uint64_t value, int operand, int width, int line) {
  struct block *block = turn.block;
  struct thread *thread = turn.thread;
  unsigned number = thread_number(thread), warp = number / WARP_LANES, lane = number % WARP_LANES;
  if (!(mask >> lane & 1)) {
    report(EMULATION_DIVERGENT_BARRIER, "lane %u of warp %u is not in the mask 0x%08x that it passes in line %d", lane,
           warp, mask, line);
  }
  count_meeting();
  thread->state = THREAD_AT_WARP;
  thread->line = line;
  thread->lane = (struct lane){(int)operation, mask, source_lane(operation, (int)lane, operand, width), value};
  block->warps[warp].waiting |= 1U << lane;
  complete_operation(block, warp, thread);
  turn_give();
  return thread->lane.value;
}

void halotune_multiply_matrices(const struct matrices *matrices, int line) {
  halotune_warp(WARP_MULTIPLY, ~0U, (uintptr_t)matrices, 0, WARP_LANES, line);
}
