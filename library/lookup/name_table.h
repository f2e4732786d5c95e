/* name_table.h: a table from names to numbers. It is filled once, and then used often and by many threads. A lookup
 * that hits spends much of its time on two names, so that what finds a name is compiled into its caller. */
#ifndef LIBRARY_LOOKUP_NAME_TABLE_H
#define LIBRARY_LOOKUP_NAME_TABLE_H

#include <string.h>

#include "base/memory/set.h"
#include "base/memory/set_hash.h"

/* The ends of a name. They are compared faster than its text. */
struct name_ends {
  uint64_t first, last; /* up to 8 bytes each */
  size_t length;
};

/* Names of at most so many bytes are equal if their ends are, because the ends have all bytes. */
enum { NAME_ENDS_BYTES = 16 };

/* Eight or four bytes as a number. */
static inline uint64_t name_eight(const char *text) {
  uint64_t eight;
  memcpy(&eight, text, sizeof eight);
  return eight;
}
static inline uint64_t name_four(const char *text) {
  uint32_t four;
  memcpy(&four, text, sizeof four);
  return four;
}

static inline struct name_ends name_ends(const char *text) {
  const size_t length = strlen(text);
  if (length >= 8) return (struct name_ends){name_eight(text), name_eight(text + length - 8), length};
  if (length >= 4) return (struct name_ends){name_four(text), name_four(text + length - 4), length};
  char few[4] = "";
  memcpy(few, text, length);
  return (struct name_ends){name_four(few), 0, length};
}

struct name_entry {
  const char *text; /* the caller's */
  struct name_ends ends;
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

static inline uint64_t name_hash(const char *text, const struct name_ends *ends) {
  return ends->length <= NAME_ENDS_BYTES ? set_hash_three(ends->first, ends->last, ends->length)
                                         : set_hash(text, ends->length);
}

static inline bool name_is(const struct name_entry *entry, const char *text, const struct name_ends *ends) {
  return entry->ends.first == ends->first && entry->ends.last == ends->last && entry->ends.length == ends->length &&
         (ends->length <= NAME_ENDS_BYTES || memcmp(entry->text, text, ends->length) == 0);
}

/* The place of a name in the list; NULL if it is unknown. Threads: any number at once while no name is added. */
static inline struct name_entry *names_entry(const struct names *names, const char *text) {
  const struct name_ends ends = name_ends(text);
  int at;
  for (struct set_walk walk = set_walk(&names->by_text, name_hash(text, &ends)); set_next(&walk, &at);) {
    if (name_is(&names->list[at], text, &ends)) return &names->list[at];
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
