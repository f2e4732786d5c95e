/* set_hash.h: a hash that is compiled into the file that uses it, for those who compute it often. It takes the seed of
 * this process (see set_hash). */
#ifndef BASE_SET_HASH_H
#define BASE_SET_HASH_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* The seed; 0: it is not drawn yet. Use set_seed. */
extern _Atomic uint64_t set_seed_drawn;

/* Draw the seed. Threads that draw it at the same time agree on one. */
uint64_t set_draw_seed(void);

static inline uint64_t set_seed(void) {
  const uint64_t drawn = atomic_load_explicit(&set_seed_drawn, memory_order_relaxed);
  return drawn ? drawn : set_draw_seed();
}

/* Mix two numbers: both halves of the product depend on all bits of the factors. */
static inline uint64_t set_mix(uint64_t a, uint64_t b) {
  const __uint128_t product = (__uint128_t)a * b;
  return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

/* The hash of three numbers, in a third of the time of set_hash. Who does not know the seed cannot choose numbers that
 * share a chain: each factor has it. */
static inline uint64_t set_hash_three(uint64_t a, uint64_t b, uint64_t c) {
  const uint64_t seed = set_seed(), other = seed ^ UINT64_C(0x9E3779B97F4A7C15);
  return set_mix(set_mix(a ^ seed, b ^ other) ^ c, other);
}

#endif
