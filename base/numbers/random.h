/* random.h: computes random numbers from a key and an index, so that any thread can draw any of them. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

/* The number with this index in the sequence of `key`, by SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, Fast
 * splittable pseudorandom number generators, 2014). */
static inline uint64_t random_bits(uint64_t key, uint64_t index) {
  uint64_t bits = key + (index + 1) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

#endif
