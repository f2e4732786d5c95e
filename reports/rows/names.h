/* names.h: texts, each stored once and numbered in the order in which they were added. */
#ifndef REPORTS_ROWS_NAMES_H
#define REPORTS_ROWS_NAMES_H

#include <stddef.h>

#include "base/arena.h"
#include "base/set.h"

/* Start with {0}, end with report_names_free. */
struct names {
  const char **list;
  int count, capacity;
  struct set set; /* numbers of the list by hash */
  struct arena arena;
};

/* The number of a text, from 0. A new text is copied. Returns -1 when memory is out. */
int report_names_add(struct names *names, const char *text, size_t length);

void report_names_free(struct names *names);

#endif
