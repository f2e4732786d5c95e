/* names.c: texts, each kept once. */
#include "reports/rows/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

static int *find_slot(const struct names *names, const char *text, size_t length) {
  size_t mask = (size_t)names->slot_count - 1, at = (size_t)hash_bytes(text, length).low & mask;
  for (;; at = (at + 1) & mask) {
    int *slot = &names->slots[at];
    if (*slot == 0) return slot;
    const char *there = names->list[*slot - 1];
    if (strncmp(there, text, length) == 0 && there[length] == '\0') return slot;
  }
}

/* Twice the slots, at least; never more than half of them are taken. */
static int grow(struct names *names) {
  enum { FEWEST = 16 };
  int count = names->slot_count ? 2 * names->slot_count : FEWEST;
  int *slots = calloc((size_t)count, sizeof *slots);
  if (!slots) return -1;
  free(names->slots);
  names->slots = slots;
  names->slot_count = count;
  for (int i = 0; i < names->count; i++) *find_slot(names, names->list[i], strlen(names->list[i])) = i + 1;
  return 0;
}

int report_names_add(struct names *names, const char *text, size_t length) {
  if (2 * (names->count + 1) > names->slot_count && grow(names) != 0) return -1;
  int *slot = find_slot(names, text, length);
  if (*slot != 0) return *slot - 1;
  const char **list = array_grow(names->list, names->count, &names->capacity, sizeof *list);
  if (!list) return -1;
  names->list = list;
  if (!(list[names->count] = arena_text(&names->arena, text, length))) return -1;
  names->count++;
  *slot = names->count;
  return names->count - 1;
}

void report_names_free(struct names *names) {
  free(names->list);
  free(names->slots);
  arena_free(&names->arena);
  *names = (struct names){0};
}
