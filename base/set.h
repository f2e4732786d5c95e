/* set.h: a hash index over an array of the caller's. The array keeps the items, whatever they are; the set finds the
 * numbers of those whose hash is given, and the caller compares:
 *     for (struct set_walk at = set_walk(&set, hash); set_next(&at, &number);) {
 *       if (strcmp(names[number], wanted) == 0) return number;
 *     }
 * Several items may have one hash. Threads: any number may read while nothing is added. */
#ifndef BASE_SET_H
#define BASE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Small, so that a large table stays near the core. */
struct set_slot {
  uint32_t tag; /* bits of the item's hash: most other items are passed over without a look at them */
  int number;   /* of the item, plus 1; 0: free */
};

/* Start with {0}, end with set_free. Open addressing with linear probing. */
struct set {
  struct set_slot *slots;
  size_t mask; /* slots less one; 0 before the first item */
  size_t count;
};

/* Add an item. Items of one hash are found in the order in which they were added.
 *   number  of the item, 0 or more
 * Returns false when memory is out; the set is then as it was. */
bool set_add(struct set *set, uint64_t hash, int number);

/* Make room for `count` items in all, so that adding them needs no more memory. Returns false when memory is out. */
bool set_reserve(struct set *set, size_t count);

void set_free(struct set *set);

/* A walk over the items of one hash, or, rarely, of two hashes that look alike. */
struct set_walk {
  const struct set *set;
  uint32_t tag;
  size_t at;
};

/* The bits of a hash that a slot keeps. The lowest of them choose its place. */
static inline uint32_t set_tag(uint64_t hash) { return (uint32_t)(hash ^ hash >> 32); }

static inline struct set_walk set_walk(const struct set *set, uint64_t hash) {
  return (struct set_walk){set, set_tag(hash), set_tag(hash) & set->mask};
}

/* The next item. Returns false behind the last one. */
static inline bool set_next(struct set_walk *walk, int *number) {
  const struct set *set = walk->set;
  if (!set->slots) return false;
  for (; set->slots[walk->at].number; walk->at = (walk->at + 1) & set->mask) {
    if (set->slots[walk->at].tag != walk->tag) continue;
    *number = set->slots[walk->at].number - 1;
    walk->at = (walk->at + 1) & set->mask;
    return true;
  }
  return false;
}

#endif
