/* arena.h: many small allocations that are freed together. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

/* Start with {0}. Only one thread at a time may use it. */
struct arena {
  struct arena_block *newest;
};

/* Allocate zeroed memory, aligned for any type. It lives until arena_free. Returns NULL when memory is out. */
void *arena_alloc(struct arena *arena, size_t bytes);

/* The same without zeros, for memory that is written before it is read. */
void *arena_reserve(struct arena *arena, size_t bytes);

/* Copy `length` bytes of text and append a NUL. Returns NULL when memory is out. */
char *arena_text(struct arena *arena, const char *text, size_t length);

/* Free all allocations. The arena can be used again. */
void arena_free(struct arena *arena);

#endif
