/* names.h: texts to numbers, asked often and by many threads: a table that is filled once. */
#ifndef LIBRARY_LOOKUP_NAMES_H
#define LIBRARY_LOOKUP_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts are compared by these first, and short ones by these alone. */
struct names_digest {
  uint64_t first, last; /* bytes of a short text; the hash of a longer one, and 0 */
  uint32_t length;
};

struct names_slot {
  const char *text; /* NULL: free; not owned */
  struct names_digest digest;
  int number;
};

/* Start with {0}, end with names_free. */
struct names {
  struct names_slot *slots;
  size_t mask; /* slots less one, a power of two less one; 0 before the first name */
  size_t count;
};

/* Add a name that must live as long as the table; where it is there already, the number that it has stays. False when memory is
 * out. */
bool names_add(struct names *names, const char *text, int number);

/* The number of a name; -1 for an unknown one. Threads: any number at once while nothing is added. */
int names_find(const struct names *names, const char *text);

/* The text under which a name was added; NULL for an unknown one. */
const char *names_text(const struct names *names, const char *text);

void names_free(struct names *names);

#endif
