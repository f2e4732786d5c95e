/* names.c: open addressing with linear probing, at most a quarter full. Names are mostly short, and a lookup
 * reads two of them: hashing and comparing a few words takes half as long as what is made for texts of any length. */
#include "library/lookup/names.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FIRST_SLOTS = 32, SHORT_BYTES = 16 };

/* Not inlined: XXH3's many cases would push the few words of a short text out of the registers. */
__attribute__((noinline)) static uint64_t long_hash(const char *text, size_t length) {
  return XXH3_64bits(text, length);
}

static inline uint64_t read_word(const char *text) {
  uint32_t word;
  memcpy(&word, text, sizeof word);
  return word;
}

/* A short text is told by its length and by four words that cover it, found in the same way for all lengths from 4 to
 * 16: branches by length would often be predicted wrong. */
static inline struct names_digest digest_of(const char *text) {
  size_t length = strlen(text), inner = length / 8 * 4;
  struct names_digest digest = {.length = (uint32_t)length};
  if (length > SHORT_BYTES) {
    digest.first = long_hash(text, length);
  } else if (length >= 4) {
    const char *last = text + length - 4;
    digest.first = read_word(text) << 32 | read_word(text + inner);
    digest.last = read_word(last) << 32 | read_word(last - inner);
  } else {
    for (size_t i = 0; i < length; i++) digest.first = digest.first << 8 | (unsigned char)text[i];
  }
  return digest;
}

static inline size_t digest_hash(const struct names_digest *digest) {
  uint64_t bits = (digest->first ^ digest->length) * XXH_PRIME64_1 + digest->last;
  bits = (bits ^ bits >> 32) * XXH_PRIME64_2;
  return (size_t)(bits >> 32);
}

static inline bool is_text(const struct names_slot *slot, const char *text, const struct names_digest *digest) {
  return slot->digest.first == digest->first && slot->digest.last == digest->last &&
         slot->digest.length == digest->length &&
         (digest->length <= SHORT_BYTES || memcmp(slot->text, text, digest->length) == 0);
}

/* Where a text is, or would be put. */
static inline struct names_slot *slot_of_digest(const struct names *names, const char *text,
                                                const struct names_digest *digest) {
  size_t at = digest_hash(digest) & names->mask;
  while (names->slots[at].text && !is_text(&names->slots[at], text, digest)) at = (at + 1) & names->mask;
  return &names->slots[at];
}

static struct names_slot *slot_of(const struct names *names, const char *text) {
  struct names_digest digest = digest_of(text);
  return slot_of_digest(names, text, &digest);
}

static bool grow(struct names *names) {
  struct names larger = {.mask = names->slots ? 2 * names->mask + 1 : FIRST_SLOTS - 1, .count = names->count};
  larger.slots = calloc(larger.mask + 1, sizeof *larger.slots);
  if (!larger.slots) return false;
  for (size_t i = 0; names->slots && i <= names->mask; i++) {
    if (names->slots[i].text) *slot_of_digest(&larger, names->slots[i].text, &names->slots[i].digest) = names->slots[i];
  }
  free(names->slots);
  *names = larger;
  return true;
}

bool names_add(struct names *names, const char *text, int number) {
  if (4 * (names->count + 1) > names->mask && !grow(names)) return false;
  struct names_slot *slot = slot_of(names, text);
  if (slot->text) return true;
  *slot = (struct names_slot){text, digest_of(text), number};
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
