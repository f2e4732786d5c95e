/* lookup_names.c: open addressing with linear probing, at most half full. */
#include "db/lookup_names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FIRST_SLOTS = 32 };

static struct names_slot *slot_of(const struct names *names, const char *text) {
  size_t at = (size_t)XXH3_64bits(text, strlen(text)) & names->mask;
  while (names->slots[at].text && strcmp(names->slots[at].text, text) != 0) at = (at + 1) & names->mask;
  return &names->slots[at];
}

static bool grow(struct names *names) {
  struct names larger = {.mask = names->slots ? 2 * names->mask + 1 : FIRST_SLOTS - 1, .count = names->count};
  larger.slots = calloc(larger.mask + 1, sizeof *larger.slots);
  if (!larger.slots) return false;
  for (size_t i = 0; names->slots && i <= names->mask; i++) {
    if (names->slots[i].text) *slot_of(&larger, names->slots[i].text) = names->slots[i];
  }
  free(names->slots);
  *names = larger;
  return true;
}

bool names_add(struct names *names, const char *text, int number) {
  if (2 * (names->count + 1) > names->mask && !grow(names)) return false;
  struct names_slot *slot = slot_of(names, text);
  if (slot->text) return true;
  *slot = (struct names_slot){text, number};
  names->count++;
  return true;
}

int names_find(const struct names *names, const char *text) {
  if (!names->slots) return -1;
  const struct names_slot *slot = slot_of(names, text);
  return slot->text ? slot->number : -1;
}

const char *names_text(const struct names *names, const char *text) {
  return names->slots ? slot_of(names, text)->text : NULL;
}

void names_free(struct names *names) {
  free(names->slots);
  *names = (struct names){0};
}
