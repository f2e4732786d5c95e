/* name_table.h: a table from names to numbers. It is filled once, and then used often and by many threads. */
#ifndef LIBRARY_LOOKUP_NAME_TABLE_H
#define LIBRARY_LOOKUP_NAME_TABLE_H

#include <string.h>

#include "base/memory/set.h"
#include "base/memory/set_hash.h"

struct name_entry {
  const char *text; /* the caller's */
  int number;
};

/* Start with {0}, end with names_free. */
struct names {
  struct name_entry *list;
  int count, capacity;
  struct set by_text;
};

/* Add a name, which must live as long as the table. A name that the table has keeps its number. Returns false when
 * memory is out. */
bool names_add(struct names *names, const char *text, int number);

/* Give a name that the table has another number. */
void names_change(struct names *names, const char *text, int number);

/* The place of a name in the list; NULL if it is unknown. Inlined, because a lookup that hits spends much of its time
 * on two names. Threads: any number at once while no name is added. */
static inline struct name_entry *names_entry(const struct names *names, const char *text) {
  int at;
  for (struct set_walk walk = set_walk(&names->by_text, set_hash_inline(text, strlen(text))); set_next(&walk, &at);) {
    if (strcmp(names->list[at].text, text) == 0) return &names->list[at];
  }
  return NULL;
}

/* The number of a name; -1 if it is unknown. */
static inline int names_find(const struct names *names, const char *text) {
  const struct name_entry *entry = names_entry(names, text);
  return entry ? entry->number : -1;
}

void names_free(struct names *names);

#endif
