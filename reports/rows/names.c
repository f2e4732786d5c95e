/* names.c: stores each text once. */
#include "reports/rows/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

int report_names_add(struct names *names, const char *text, size_t length) {
  int number;
  uint64_t hash = hash_bytes(text, length).low;
  for (struct set_walk at = set_walk(&names->set, hash); set_next(&at, &number);) {
    const char *there = names->list[number];
    if (strncmp(there, text, length) == 0 && there[length] == '\0') return number;
  }
  const char *copy = arena_text(&names->arena, text, length);
  if (!copy || !array_room(names->list, names->count, names->capacity)) return -1;
  if (!set_add(&names->set, hash, names->count)) return -1;
  names->list[names->count] = copy;
  return names->count++;
}

void report_names_free(struct names *names) {
  free(names->list);
  set_free(&names->set);
  arena_free(&names->arena);
  *names = (struct names){0};
}
