/* name_table.h: a table from names to numbers. It is filled once, and then used often and by many threads. */
#ifndef LIBRARY_LOOKUP_NAME_TABLE_H
#define LIBRARY_LOOKUP_NAME_TABLE_H

#include "base/memory/set.h"

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

/* The number of a name; -1 if it is unknown. Threads: any number at once while no name is added. */
int names_find(const struct names *names, const char *text);

void names_free(struct names *names);

#endif
