/* content.c: hashes of what is in allocations. Most launches find most memory as it was, filled with one word, or
 * copied from elsewhere. So each part of an allocation has its own hash, which is computed only if nothing else tells
 * it. */
#include <stdlib.h>
#include <string.h>

#include "tests/fake_cuda/fake.h"

enum { PART_BYTES = 32 << 10, MOST_BYTES = 64 << 20 };

static size_t part_count(const struct fake_memory *memory) { return (memory->bytes + PART_BYTES - 1) / PART_BYTES; }

/* A hash of zeros is not known. */
static bool is_known(struct hash hash) { return hash.high != 0 || hash.low != 0; }

/* The hash of a part that is full of a word. */
static struct hash hash_of_word(uint32_t word) {
  static uint32_t part[PART_BYTES / sizeof(uint32_t)];
  static struct hash hash;
  if (is_known(hash) && part[0] == word) return hash;
  for (size_t i = 0; i < PART_BYTES / sizeof *part; i++) part[i] = word;
  hash = hash_bytes(part, PART_BYTES);
  return hash;
}

void content_make(struct fake_memory *memory) {
  memory->parts = memory->bytes <= MOST_BYTES ? calloc(part_count(memory), sizeof *memory->parts) : NULL;
  content_fill(memory, 0, memory->bytes, 0);
}

unsigned char *content_change(struct fake_memory *memory, size_t at, size_t bytes) {
  for (size_t i = at / PART_BYTES; memory->parts && bytes > 0 && i <= (at + bytes - 1) / PART_BYTES; i++) {
    memory->parts[i] = (struct hash){0};
  }
  return (unsigned char *)emulation_buffer_data(memory->buffer) + at;
}

void content_fill(struct fake_memory *memory, size_t at, size_t bytes, uint32_t word) {
  content_change(memory, at, bytes);
  for (size_t i = (at + PART_BYTES - 1) / PART_BYTES; memory->parts && (i + 1) * PART_BYTES <= at + bytes; i++) {
    memory->parts[i] = hash_of_word(word);
  }
}

void content_copy(struct fake_memory *to, size_t to_at, const struct fake_memory *from, size_t from_at, size_t bytes) {
  content_change(to, to_at, bytes);
  if (to == from || !to->parts || !from->parts || to_at % PART_BYTES != from_at % PART_BYTES) return;
  for (size_t i = (to_at + PART_BYTES - 1) / PART_BYTES; (i + 1) * PART_BYTES <= to_at + bytes; i++) {
    to->parts[i] = from->parts[i + from_at / PART_BYTES - to_at / PART_BYTES];
  }
}

struct hash content_hash(struct fake_memory *memory) {
  const unsigned char *data = emulation_buffer_data(memory->buffer);
  if (!memory->parts) return hash_bytes(data, memory->bytes);
  for (size_t i = 0, at = 0; at < memory->bytes; i++, at += PART_BYTES) {
    size_t left = memory->bytes - at;
    if (!is_known(memory->parts[i])) memory->parts[i] = hash_bytes(data + at, left < PART_BYTES ? left : PART_BYTES);
  }
  return hash_bytes(memory->parts, part_count(memory) * sizeof *memory->parts);
}
