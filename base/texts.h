/* texts.h: distinct texts, each kept once and numbered in the order in which they came. */
#ifndef BASE_TEXTS_H
#define BASE_TEXTS_H

#include <stddef.h>

#include "base/arena.h"
#include "base/set.h"

/* Start with {0}, end with texts_free. A kept text never moves. */
struct texts {
  const char **list;
  int count, capacity;
  struct set by_hash;
  struct arena arena;
};

/* Keep the first `length` bytes of a text. Returns the text's number, from 0; -1 when memory is out. */
int texts_add(struct texts *texts, const char *text, size_t length);

/* The number of a text; -1 for one that is not kept. Threads: any number at once while none is added. */
int texts_find(const struct texts *texts, const char *text, size_t length);

/* Keep a NUL-terminated text. Returns the copy, the same one for the same text; NULL when memory is out. */
const char *texts_keep(struct texts *texts, const char *text);

void texts_free(struct texts *texts);

#endif
