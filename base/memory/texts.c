/* texts.c: a list of texts, and a hash set over it. */
#include "base/memory/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"

static int find_hashed(const struct texts *texts, const char *text, size_t length, uint64_t hash) {
  int number;
  for (struct set_walk at = set_walk(&texts->by_hash, hash); set_next(&at, &number);) {
    const char *kept = texts->list[number];
    if (strlen(kept) == length && memcmp(kept, text, length) == 0) return number;
  }
  return -1;
}

int texts_find(const struct texts *texts, const char *text, size_t length) {
  return find_hashed(texts, text, length, set_hash(text, length));
}

int texts_add(struct texts *texts, const char *text, size_t length) {
  const uint64_t hash = set_hash(text, length);
  const int known = find_hashed(texts, text, length, hash);
  if (known >= 0) return known;
  const char *copy = arena_text(&texts->arena, text, length);
  if (!copy || !array_room(texts->list, texts->count, texts->capacity)) return -1;
  if (!set_add(&texts->by_hash, hash, texts->count)) return -1;
  texts->list[texts->count] = copy;
  return texts->count++;
}

const char *texts_keep(struct texts *texts, const char *text) {
  const int number = texts_add(texts, text, strlen(text));
  return number < 0 ? NULL : texts->list[number];
}

void texts_free(struct texts *texts) {
  free(texts->list);
  set_free(&texts->by_hash);
  arena_free(&texts->arena);
  *texts = (struct texts){0};
}
