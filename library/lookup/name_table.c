/* name_table.c: a list of names, and a hash set over it. */
#include "library/lookup/name_table.h"

#include <stdlib.h>

#include "base/memory/array.h"

bool names_add(struct names *names, const char *text, int number) {
  if (names_entry(names, text)) return true;
  if (!array_room(names->list, names->count, names->capacity)) return false;
  const struct name_ends ends = name_ends(text);
  if (!set_add(&names->by_text, name_hash(text, &ends), names->count)) return false;
  names->list[names->count++] = (struct name_entry){text, ends, number};
  return true;
}

void names_change(struct names *names, const char *text, int number) {
  struct name_entry *entry = names_entry(names, text);
  if (entry) entry->number = number;
}

void names_free(struct names *names) {
  free(names->list);
  set_free(&names->by_text);
  *names = (struct names){0};
}
