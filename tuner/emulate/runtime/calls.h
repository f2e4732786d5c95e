/* calls.h: what a compiled variant calls in the runner. cuda_on_cpu.h declares the same in C++. `line` is the line of the
 * generated source, for reports. */
#ifndef EMULATE_RUNTIME_CALLS_H
#define EMULATE_RUNTIME_CALLS_H

#include <stdint.h>

void halotune_barrier(int line);
void halotune_spin_yield(int line);

/* This thread took a ticket, or told others something: they run ahead, but where threads have their turns in ascending order. */
void halotune_took_ticket(int line);
void halotune_told(int line);

enum warp_operation { WARP_SYNC, WARP_BALLOT, WARP_SHUFFLE, WARP_SHUFFLE_UP, WARP_SHUFFLE_DOWN, WARP_SHUFFLE_XOR };

/* Wait for the lanes in `mask`; returns the operation's result.
 *   value    a vote's predicate, the bits that a shuffle passes
 *   operand  a shuffle's lane, distance or mask
 *   width    of a shuffle's segments: a power of two up to 32 */
uint64_t halotune_warp(enum warp_operation operation, unsigned mask, uint64_t value, int operand, int width, int line);

/* `bytes` 4, 8 or 16; zeros where not `valid`. */
void halotune_async_copy(void *to, const void *from, unsigned bytes, int valid, int line);
void halotune_async_commit(void);
void halotune_async_wait(unsigned pending_groups);

/* Bulk copies, and barriers of 8 bytes in shared memory that count them: how many threads arrive in each phase; arrive, and expect so
 * many bytes; begin a copy; whether the phase of this number (0 and 1 by turns) is complete. */
void halotune_barrier_init(void *address, unsigned arrivals, int line);
void halotune_barrier_expect(void *address, unsigned bytes, int line);
void halotune_bulk_copy(void *to, const void *from, unsigned bytes, void *address, int line);
int halotune_barrier_passed(void *address, unsigned phase, int line);

/* Copies by tensor maps, in `rank` dimensions from the element `at` on: to shared memory, counted as bulk copies are;
 * and from there, in groups that are waited for. A fence stands between what threads write and what is stored. */
void halotune_tensor_copy(void *to, const void *map, const int *at, int rank, void *address, int line);
void halotune_tensor_fence(void);
void halotune_tensor_store(const void *map, const int *at, int rank, const void *from, int line);
void halotune_tensor_commit(void);
void halotune_tensor_wait(unsigned pending_groups);

/* Clusters: this block's number in its own; all threads of its blocks meet; the same place in another block's shared
 * memory; arrive at the barrier there. */
unsigned halotune_cluster_rank(void);
void halotune_cluster_sync(int line);
void *halotune_cluster_map(const void *address, unsigned rank, int line);
void halotune_cluster_arrive(void *address, unsigned rank, int line);

/* From now on buffers can be touched. */
void halotune_wait_for_previous(void);

/* Where a texel lies that a texture object gives for these coordinates. */
const void *halotune_texel(unsigned long long texture, long long x, long long y, unsigned texel_bytes, int line);

_Noreturn void halotune_misaligned(const void *address, unsigned bytes, int line);

#endif
