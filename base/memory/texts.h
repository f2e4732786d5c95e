/* texts.h: different texts, each stored once and numbered in the order in which they were added. */
#ifndef BASE_TEXTS_H
#define BASE_TEXTS_H

#include <stddef.h>

#include "base/memory/arena.h"
#include "base/memory/set.h"

/* Start with {0}, end with texts_free. A stored text never moves. */
struct texts {
  const char **list;
  int count, capacity;
  struct set by_hash;
  struct arena arena;
};

/* Store the first `length` bytes of a text. Returns the text's number, from 0; -1 when memory is out. */
int texts_add(struct texts *texts, const char *text, size_t length);

/* Find the number of a text. Returns -1 for a text that is not stored. Threads: any number at once while none adds
 * texts. */
int texts_find(const struct texts *texts, const char *text, size_t length);

/* Store a NUL-terminated text. Returns the copy, which is the same for equal texts; NULL when memory is out. */
const char *texts_keep(struct texts *texts, const char *text);

void texts_free(struct texts *texts);

#endif
