/* occupancy.c: computes occupancy. It does not use NVIDIA's cuda_occupancy.h, because that takes limits by compute
 * capability only and not as data. The unit test proves that both agree for every capability of arch.c. */
#include "gpu/architecture/occupancy.h"

#include <limits.h>
#include <stdbool.h>

static const char *const resource_names[] = {
#define AS_NAME(name, text) text,
    OCCUPANCY_LIST(AS_NAME)};

static int divide_up(int value, int unit) { return (value + unit - 1) / unit; }

static int round_up(int value, int unit) { return divide_up(value, unit) * unit; }

/* What one block really gets, rounded up to the units of the hardware. */
struct allocation {
  int warps; /* per block */
  int registers_per_warp;
  int warps_per_partition; /* warps that get registers in one sub-partition; INT_MAX if they need none */
  int shared_bytes;
};

static struct allocation allocation_of(const struct sm_limits *limits, const struct block_needs *needs) {
  struct allocation got;
  got.warps = divide_up(needs->threads, limits->warp_size);
  got.registers_per_warp = round_up(needs->registers * limits->warp_size, limits->register_unit);
  int registers_per_partition = limits->registers_per_sm / limits->sub_partitions;
  got.warps_per_partition = got.registers_per_warp > 0 ? registers_per_partition / got.registers_per_warp : INT_MAX;
  got.shared_bytes = round_up(needs->shared_bytes + limits->shared_reserved_bytes, limits->shared_unit_bytes);
  return got;
}

static int blocks_by_registers(const struct sm_limits *limits, const struct block_needs *needs,
                               const struct allocation *got) {
  /* The hardware admits a block as if its warps were spread evenly over the sub-partitions. */
  int checked = got->registers_per_warp * round_up(got->warps, limits->sub_partitions);
  if (checked > limits->registers_per_block || needs->registers > limits->max_registers_per_thread) return 0;
  if (got->registers_per_warp == 0) return INT_MAX;
  return got->warps_per_partition * limits->sub_partitions / got->warps;
}

static int blocks_by_shared(const struct sm_limits *limits, const struct allocation *got) {
  if (got->shared_bytes > limits->shared_per_block_bytes + limits->shared_reserved_bytes) return 0;
  return got->shared_bytes > 0 ? limits->shared_per_sm_bytes / got->shared_bytes : INT_MAX;
}

struct occupancy occupancy_of(const struct sm_limits *limits, const struct block_needs *needs) {
  struct occupancy result = {.blocks = INT_MAX};
  struct allocation got = allocation_of(limits, needs);
  int max_warps = limits->max_threads_per_sm / limits->warp_size;
  bool too_large = needs->threads > limits->max_threads_per_block;
  bool has_barriers = limits->max_barriers_per_sm > 0 && needs->barriers > 0;
  result.blocks_by[OCCUPANCY_THREADS] = too_large ? 0 : max_warps / got.warps;
  result.blocks_by[OCCUPANCY_REGISTERS] = blocks_by_registers(limits, needs, &got);
  result.blocks_by[OCCUPANCY_SHARED] = blocks_by_shared(limits, &got);
  result.blocks_by[OCCUPANCY_BLOCKS] = limits->max_blocks_per_sm;
  result.blocks_by[OCCUPANCY_BARRIERS] = has_barriers ? limits->max_barriers_per_sm / needs->barriers : INT_MAX;
  for (int i = 0; i < OCCUPANCY_RESOURCES; i++) {
    if (result.blocks_by[i] < result.blocks) result.blocks = result.blocks_by[i];
  }
  for (int i = 0; i < OCCUPANCY_RESOURCES; i++) {
    if (result.blocks_by[i] == result.blocks) result.limits |= 1u << i;
  }
  result.threads = result.blocks * needs->threads;
  result.fraction = (double)(result.blocks * got.warps) / max_warps;
  return result;
}

static void explain_threads(const struct sm_limits *limits, const struct block_needs *needs, int blocks,
                            struct text *out) {
  int rounded = round_up(needs->threads, limits->warp_size);
  if (needs->threads > limits->max_threads_per_block) {
    text_printf(out, "threads: %d in a block, at most %d = 0", needs->threads, limits->max_threads_per_block);
  } else if (rounded == needs->threads) {
    text_printf(out, "threads: %d / %d = %d", limits->max_threads_per_sm, needs->threads, blocks);
  } else {
    text_printf(out, "threads: %d / %d (%d in whole warps) = %d", limits->max_threads_per_sm, rounded, needs->threads,
                blocks);
  }
}

static void explain_registers(const struct sm_limits *limits, const struct block_needs *needs, int blocks,
                              struct text *out) {
  struct allocation got = allocation_of(limits, needs);
  if (got.registers_per_warp == 0) return;
  if (blocks == 0) {
    text_printf(out, "; registers: %d x %d = %d a warp, %d warps = %d, at most %d a block and %d a thread = 0",
                needs->registers, limits->warp_size, got.registers_per_warp, got.warps,
                got.registers_per_warp * got.warps, limits->registers_per_block, limits->max_registers_per_thread);
    return;
  }
  text_printf(out, "; registers: %d x %d = ", needs->registers, limits->warp_size);
  if (needs->registers * limits->warp_size != got.registers_per_warp) {
    text_printf(out, "%d, in units of %d: ", needs->registers * limits->warp_size, limits->register_unit);
  }
  text_printf(out, "%d a warp, %d / %d / %d = %d warps in each of %d parts, %d / %d = %d", got.registers_per_warp,
              limits->registers_per_sm, limits->sub_partitions, got.registers_per_warp, got.warps_per_partition,
              limits->sub_partitions, got.warps_per_partition * limits->sub_partitions, got.warps, blocks);
}

static void explain_shared(const struct sm_limits *limits, const struct block_needs *needs, int blocks,
                           struct text *out) {
  struct allocation got = allocation_of(limits, needs);
  if (got.shared_bytes == 0) return;
  if (blocks == 0) {
    text_printf(out, "; shared memory: %d bytes in a block, at most %d = 0", needs->shared_bytes,
                limits->shared_per_block_bytes);
    return;
  }
  int wanted = needs->shared_bytes + limits->shared_reserved_bytes;
  text_printf(out, "; shared memory: %d / ", limits->shared_per_sm_bytes);
  if (limits->shared_reserved_bytes > 0)
    text_printf(out, "(%d + %d", needs->shared_bytes, limits->shared_reserved_bytes);
  else text_printf(out, "(%d", needs->shared_bytes);
  if (got.shared_bytes != wanted) text_printf(out, ", in units of %d: %d", limits->shared_unit_bytes, got.shared_bytes);
  text_printf(out, ") = %d", blocks);
}

void occupancy_explain(const struct sm_limits *limits, const struct block_needs *needs, struct text *out) {
  struct occupancy result = occupancy_of(limits, needs);
  explain_threads(limits, needs, result.blocks_by[OCCUPANCY_THREADS], out);
  explain_registers(limits, needs, result.blocks_by[OCCUPANCY_REGISTERS], out);
  explain_shared(limits, needs, result.blocks_by[OCCUPANCY_SHARED], out);
  text_printf(out, "; blocks: %d", limits->max_blocks_per_sm);
  if (result.blocks_by[OCCUPANCY_BARRIERS] != INT_MAX) {
    text_printf(out, "; barriers: %d / %d = %d", limits->max_barriers_per_sm, needs->barriers,
                result.blocks_by[OCCUPANCY_BARRIERS]);
  }
  const char *separator = "; limit: ";
  for (int i = 0; i < OCCUPANCY_RESOURCES; i++) {
    if (!(result.limits & 1u << i)) continue;
    text_printf(out, "%s%s", separator, resource_names[i]);
    separator = " and ";
  }
  text_printf(out, ", %d block%s, %d of %d threads (%.0f %%)", result.blocks, result.blocks == 1 ? "" : "s",
              result.threads, limits->max_threads_per_sm, 100 * result.fraction);
}
