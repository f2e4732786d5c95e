/* arena.c: allocates from a chain of blocks, each filled from its front. */
#include "base/memory/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 4096 };

struct arena_block {
  struct arena_block *older;
  size_t used_bytes, size_bytes;
  alignas(max_align_t) unsigned char bytes[];
};

void *arena_reserve(struct arena *arena, size_t bytes) {
  const size_t alignment = alignof(max_align_t);
  if (bytes > SIZE_MAX / 2) return NULL;
  bytes = (bytes + alignment - 1) / alignment * alignment;
  struct arena_block *block = arena->newest;
  if (!block || block->size_bytes - block->used_bytes < bytes) {
    size_t size_bytes = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    block = malloc(sizeof *block + size_bytes);
    if (!block) return NULL;
    *block = (struct arena_block){.older = arena->newest, .size_bytes = size_bytes};
    arena->newest = block;
  }
  void *result = block->bytes + block->used_bytes;
  block->used_bytes += bytes;
  return result;
}

void *arena_alloc(struct arena *arena, size_t bytes) {
  void *result = arena_reserve(arena, bytes);
  return result ? memset(result, 0, bytes) : NULL;
}

char *arena_text(struct arena *arena, const char *text, size_t length) {
  char *copy = arena_reserve(arena, length + 1);
  if (!copy) return NULL;
  if (length > 0) memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

void arena_free(struct arena *arena) {
  while (arena->newest) {
    struct arena_block *older = arena->newest->older;
    free(arena->newest);
    arena->newest = older;
  }
}
