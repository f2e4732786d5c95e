/* names.h: texts to numbers, asked often and by many threads: a table that is filled once. */
#ifndef LIBRARY_LOOKUP_NAMES_H
#define LIBRARY_LOOKUP_NAMES_H

#include "base/set.h"

struct name_entry {
  const char *text; /* not owned */
  int number;
};

/* Start with {0}, end with names_free. */
struct names {
  struct name_entry *list;
  int count, capacity;
  struct set by_text;
};

/* Add a name that must live as long as the table. A name that is there already keeps its number. Returns false when memory is
 * out. */
bool names_add(struct names *names, const char *text, int number);

/* The number of a name; -1 for an unknown one. Threads: any number at once while nothing is added. */
int names_find(const struct names *names, const char *text);

void names_free(struct names *names);

#endif
