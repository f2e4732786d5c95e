/* set_hash.h: the body of set_hash, for those who compute it often. A file that includes this header has a copy of the
 * hash of its own, which takes half the time where the number of bytes is known to the compiler. */
#ifndef BASE_SET_HASH_H
#define BASE_SET_HASH_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* The seed of this process; 0: it is not drawn yet. */
extern _Atomic uint64_t set_seed;

/* Draw the seed. Threads that draw it at the same time agree on one. */
uint64_t set_draw_seed(void);

/* What set_hash returns. */
static inline uint64_t set_hash_inline(const void *bytes, size_t length) {
  const uint64_t drawn = atomic_load_explicit(&set_seed, memory_order_relaxed);
  return XXH3_64bits_withSeed(bytes, length, drawn ? drawn : set_draw_seed());
}

#endif
