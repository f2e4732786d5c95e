/* calls.h: the functions of the runner that a compiled variant calls. cuda_and_ptx_on_cpu.h declares the same in C++.
 * `line` is the line of the generated source, for reports. */
#ifndef EMULATE_RUNTIME_CALLS_H
#define EMULATE_RUNTIME_CALLS_H

#include <stdint.h>

void halotune_barrier(int line);
void halotune_spin_yield(int line);

/* Note that this thread took a ticket, or published a value. The others then run ahead of it, except in
 * ascending order. */
void halotune_took_ticket(int line);
void halotune_told(int line);

enum warp_operation {
  WARP_SYNC,
  WARP_BALLOT,
  WARP_SHUFFLE,
  WARP_SHUFFLE_UP,
  WARP_SHUFFLE_DOWN,
  WARP_SHUFFLE_XOR,
  WARP_MULTIPLY
};

/* Wait for the lanes in `mask`. Returns the operation's result.
 *   value    the predicate of a vote, or the bits that a shuffle passes
 *   operand  a shuffle's lane, distance or mask
 *   width    of a shuffle's segments: a power of two up to 32 */
uint64_t halotune_warp(enum warp_operation operation, unsigned mask, uint64_t value, int operand, int width, int line);

/* What a lane holds of matrices: sums (16 rows, 8 columns) += a (16 rows, 8 columns) * b (8 rows, 8 columns). */
struct matrices {
  const double *a, *b; /* 4 and 2 numbers */
  double *sums;        /* 4 numbers */
};

/* Multiply the matrices of the 32 lanes of a warp. wrappers_sm_90.cuh says which numbers each lane holds. */
void halotune_multiply_matrices(const struct matrices *matrices, int line);

/* Copy `bytes` bytes: 4, 8 or 16. If `valid` is 0, write zeros. */
void halotune_async_copy(void *to, const void *from, unsigned bytes, int valid, int line);
void halotune_async_commit(void);
void halotune_async_wait(unsigned pending_groups);

/* Bulk copies, and the 8-byte barriers in shared memory that count their bytes. init: set how many threads arrive in
 * each phase. expect: arrive, and expect this many bytes. bulk_copy: begin a copy. passed: whether the phase with this
 * number (0 and 1 in turn) is complete. */
void halotune_barrier_init(void *address, unsigned arrivals, int line);
void halotune_barrier_expect(void *address, unsigned bytes, int line);
void halotune_bulk_copy(void *to, const void *from, unsigned bytes, void *address, int line);
int halotune_barrier_passed(void *address, unsigned phase, int line);

/* Copies by tensor maps in `rank` dimensions, from the element `at` on. Copies to shared memory are counted like bulk
 * copies. Stores from shared memory form groups, for which the kernel waits. A fence must come between a thread's
 * writes and their store. */
void halotune_tensor_copy(void *to, const void *map, const int *at, int rank, void *address, int line);
void halotune_tensor_fence(void);
void halotune_tensor_store(const void *map, const int *at, int rank, const void *from, int line);
void halotune_tensor_commit(void);
void halotune_tensor_wait(unsigned pending_groups);

/* Clusters. rank: this block's number in its cluster. sync: wait for all threads of all its blocks. map: the same
 * address in the shared memory of another block. arrive: arrive at the barrier at that address. */
unsigned halotune_cluster_rank(void);
void halotune_cluster_sync(int line);
void *halotune_cluster_map(const void *address, unsigned rank, int line);
void halotune_cluster_arrive(void *address, unsigned rank, int line);

/* Make the buffers accessible, as the work before this launch is now done. */
void halotune_wait_for_previous(void);

/* The address of the texel that a texture object has at these coordinates. */
const void *halotune_texel(unsigned long long texture, long long x, long long y, unsigned texel_bytes, int line);

_Noreturn void halotune_misaligned(const void *address, unsigned bytes, int line);

#endif
