/* name_table.c: a list of names, and a hash set over it. */
#include "library/lookup/name_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"

/* Inlined, because a lookup that hits spends much of its time on two names. */
static inline const struct name_entry *entry_of(const struct names *names, const char *text) {
  int number;
  for (struct set_walk at = set_walk(&names->by_text, set_hash(text, strlen(text))); set_next(&at, &number);) {
    if (strcmp(names->list[number].text, text) == 0) return &names->list[number];
  }
  return NULL;
}

bool names_add(struct names *names, const char *text, int number) {
  if (entry_of(names, text)) return true;
  if (!array_room(names->list, names->count, names->capacity)) return false;
  if (!set_add(&names->by_text, set_hash(text, strlen(text)), names->count)) return false;
  names->list[names->count++] = (struct name_entry){text, number};
  return true;
}

void names_change(struct names *names, const char *text, int number) {
  int at;
  for (struct set_walk walk = set_walk(&names->by_text, set_hash(text, strlen(text))); set_next(&walk, &at);) {
    if (strcmp(names->list[at].text, text) == 0) names->list[at].number = number;
  }
}

int names_find(const struct names *names, const char *text) {
  const struct name_entry *entry = entry_of(names, text);
  return entry ? entry->number : -1;
}

void names_free(struct names *names) {
  free(names->list);
  set_free(&names->by_text);
  *names = (struct names){0};
}
