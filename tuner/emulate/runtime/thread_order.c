/* thread_order.c: ascending, descending and seeded random orders of threads and blocks. */
#include "tuner/emulate/runtime/thread_order.h"

/* SplitMix64. */
static uint64_t random_next(uint64_t *state) {
  uint64_t z = *state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

/* Write the numbers 0 to count-1, at most 64 Ki of them, in this order. */
static void permute_numbers(uint16_t *numbers, unsigned count, enum emulation_order order, uint64_t *state) {
  for (unsigned i = 0; i < count; i++) numbers[i] = (uint16_t)(order == EMULATION_DESCENDING ? count - 1 - i : i);
  if (order != EMULATION_RANDOM) return;
  for (unsigned i = count; i > 1; i--) {
    unsigned other = (unsigned)((random_next(state) >> 32) * i >> 32);
    uint16_t number = numbers[i - 1];
    numbers[i - 1] = numbers[other];
    numbers[other] = number;
  }
}

void order_threads(struct block *block, uint64_t block_number) {
  uint16_t warps[MAX_BLOCK_WARPS], lanes[WARP_LANES];
  unsigned warp_count = (launch.thread_count + WARP_LANES - 1) / WARP_LANES, at = 0;
  enum emulation_order order = (enum emulation_order)launch.request->thread_order;
  uint64_t state = launch.request->seed ^ block_number * 0xD1342543DE82EF95u;
  permute_numbers(warps, warp_count, order, &state);
  for (unsigned i = 0; i < warp_count; i++) {
    unsigned first = warps[i] * WARP_LANES, count = launch.thread_count - first;
    if (count > WARP_LANES) count = WARP_LANES;
    permute_numbers(lanes, count, order, &state);
    block->warps[warps[i]] =
        (struct warp){.present = (unsigned)((UINT64_C(1) << count) - 1), .begin = at, .count = count};
    for (unsigned lane = 0; lane < count; lane++) block->order[at++] = (uint16_t)(first + lanes[lane]);
  }
}

uint64_t order_block(uint64_t position) {
  return launch.request->block_order == EMULATION_DESCENDING ? launch.block_count - 1 - position : position;
}
