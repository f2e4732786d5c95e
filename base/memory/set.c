/* set.c: a hash table that doubles before half of its slots are used. */
#include "base/memory/set.h"

#include <stdlib.h>
#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/memory/set_hash.h"

_Atomic uint64_t set_seed_drawn;

uint64_t set_draw_seed(void) {
  uint64_t known = 0, drawn = 0;
  if (getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) < 0) drawn = (uint64_t)(uintptr_t)&drawn; /* early in the boot */
  drawn |= 1;
  return atomic_compare_exchange_strong(&set_seed_drawn, &known, drawn) ? drawn : known;
}

uint64_t set_hash(const void *bytes, size_t length) { return XXH3_64bits_withSeed(bytes, length, set_seed()); }

static void set_put(struct set *set, struct set_slot slot) {
  size_t at = slot.tag & set->mask;
  while (set->slots[at].number) at = (at + 1) & set->mask;
  set->slots[at] = slot;
}

bool set_reserve(struct set *set, size_t count) {
  enum { FEWEST = 16 };
  size_t slots = set->slots ? set->mask + 1 : FEWEST;
  while (slots < 2 * count) slots *= 2;
  if (set->slots && slots == set->mask + 1) return true;
  struct set larger = {.slots = calloc(slots, sizeof *larger.slots), .mask = slots - 1, .count = set->count};
  if (!larger.slots) return false;
  /* Begin after a free slot, so that items with the same hash keep their order even if their chain wraps around the
   * end. */
  size_t first = 0;
  while (set->slots && set->slots[first].number) first++;
  for (size_t i = 0; set->slots && i <= set->mask; i++) {
    const struct set_slot *slot = &set->slots[(first + i) & set->mask];
    if (slot->number) set_put(&larger, *slot);
  }
  free(set->slots);
  *set = larger;
  return true;
}

bool set_add(struct set *set, uint64_t hash, int number) {
  if (!set_reserve(set, set->count + 1)) return false;
  set_put(set, (struct set_slot){set_tag(hash), number + 1});
  set->count++;
  return true;
}

void set_free(struct set *set) {
  free(set->slots);
  *set = (struct set){0};
}
