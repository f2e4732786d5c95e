/* poison.h: fills memory with a word of outcome.h, and finds damage. */
#ifndef EMULATE_RUNTIME_POISON_H
#define EMULATE_RUNTIME_POISON_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tuner/emulate/runtime/outcome.h"

/* Fill memory with the word. A rest of fewer than four bytes gets the word's first bytes. */
static inline void poison_fill(void *memory, size_t bytes, uint32_t word) {
  unsigned char *at = memory;
  for (; bytes >= sizeof word; at += sizeof word, bytes -= sizeof word) memcpy(at, &word, sizeof word);
  memcpy(at, &word, bytes);
}

/* The offset of the first byte that poison_fill did not write; `bytes` if there is none. */
static inline size_t poison_find_damage(const void *memory, size_t bytes, uint32_t word) {
  const unsigned char *begin = memory, *expected = (const unsigned char *)&word;
  for (size_t at = 0; at < bytes; at += sizeof word) {
    size_t part = bytes - at < sizeof word ? bytes - at : sizeof word;
    if (memcmp(begin + at, &word, part) == 0) continue;
    while (begin[at] == expected[at % sizeof word]) at++;
    return at;
  }
  return bytes;
}

#endif
