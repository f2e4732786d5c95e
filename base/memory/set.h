/* set.h: a hash index over the caller's array. The array holds the items; the set finds the numbers of the items with a
 * given hash, and the caller compares them:
 *     for (struct set_walk at = set_walk(&set, set_hash(wanted, strlen(wanted))); set_next(&at, &number);) {
 *       if (strcmp(names[number], wanted) == 0) return number;
 *     }
 * Several items may have the same hash. Threads: any number may read while no item is added. */
#ifndef BASE_SET_H
#define BASE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The hash of some bytes. Its seed is drawn at random by each process, so that who makes a file cannot choose contents
 * that share a chain. Never store it, and let no result depend on it. */
uint64_t set_hash(const void *bytes, size_t length);

/* Slots are small, so that more of a large table fits into the processor's caches. */
struct set_slot {
  uint32_t tag; /* bits of the item's hash: most other items differ in them, and need no comparison */
  int number;   /* number of the item + 1; 0 is a free slot */
};

/* Start with {0}, end with set_free. Open addressing with linear probing. */
struct set {
  struct set_slot *slots;
  size_t mask; /* number of slots - 1; 0 before the first item */
  size_t count;
};

/* Add an item. Items with the same hash are found in the order in which they were added.
 *   number  of the item, 0 or more
 * Returns false when memory is out; the set then does not change. */
bool set_add(struct set *set, uint64_t hash, int number);

/* Make room for `count` items in all, so that adding them cannot fail. Returns false when memory is out. */
bool set_reserve(struct set *set, size_t count);

void set_free(struct set *set);

/* A walk over the items with one hash. Rarely it also visits items of another hash with the same tag. */
struct set_walk {
  const struct set *set;
  uint32_t tag;
  size_t at;
};

/* The bits of a hash that a slot stores. The lowest bits choose the slot. */
static inline uint32_t set_tag(uint64_t hash) { return (uint32_t)(hash ^ hash >> 32); }

static inline struct set_walk set_walk(const struct set *set, uint64_t hash) {
  return (struct set_walk){set, set_tag(hash), set_tag(hash) & set->mask};
}

/* Get the next item. Returns false after the last one. */
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

/* Put another item in the place of the one that set_next gave last. It must have the same hash. */
static inline void set_change(struct set *set, const struct set_walk *walk, int number) {
  set->slots[(walk->at - 1) & set->mask].number = number + 1;
}

#endif
