/* visited.c: a hash set of hashes; 128 bits are so many that two variants never share one. */
#include "tuner/search/strategy/visited.h"

#include <stdlib.h>
#include <string.h>

static struct hash hash_of(const struct search_space *space, const struct proposal *proposal) {
  unsigned char bytes[MAX_PARAMETERS + 1];
  size_t count = (size_t)space->templates[proposal->template_index]->parameter_count;
  bytes[0] = (unsigned char)proposal->template_index;
  memcpy(bytes + 1, proposal->configuration.choice, count);
  struct hash hash = hash_bytes(bytes, count + 1);
  hash.low |= 1; /* never that of a free slot */
  return hash;
}

/* Where a hash is, or belongs. */
static size_t place_of(const struct hash *slots, size_t capacity, struct hash hash) {
  size_t place = hash.high & (capacity - 1);
  while (slots[place].low != 0 && hash_compare(slots[place], hash) != 0) place = (place + 1) & (capacity - 1);
  return place;
}

static bool grow(struct visited *visited) {
  size_t capacity = visited->capacity ? 2 * visited->capacity : 1024;
  struct hash *slots = calloc(capacity, sizeof *slots);
  if (!slots) return false;
  for (size_t i = 0; i < visited->capacity; i++) {
    if (visited->slots[i].low != 0) slots[place_of(slots, capacity, visited->slots[i])] = visited->slots[i];
  }
  free(visited->slots);
  visited->slots = slots;
  visited->capacity = capacity;
  return true;
}

bool visited_add(struct visited *visited, const struct search_space *space, const struct proposal *proposal) {
  if (2 * visited->count >= visited->capacity && !grow(visited)) return false;
  struct hash hash = hash_of(space, proposal);
  size_t place = place_of(visited->slots, visited->capacity, hash);
  if (visited->slots[place].low != 0) return false;
  visited->slots[place] = hash;
  visited->count++;
  return true;
}

void visited_add_recorded(struct visited *visited, const struct search_space *space) {
  for (long i = 0; i < space->only_count; i++) visited_add(visited, space, &space->only[i]);
}

bool visited_has(const struct visited *visited, const struct search_space *space, const struct proposal *proposal) {
  if (visited->count == 0) return false;
  return visited->slots[place_of(visited->slots, visited->capacity, hash_of(space, proposal))].low != 0;
}

void visited_free(struct visited *visited) {
  free(visited->slots);
  *visited = (struct visited){.count = 0};
}
