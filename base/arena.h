/* arena.h: many small allocations with one end of life. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

/* Start with {0}. Not for several threads at once. */
struct arena {
  struct arena_block *newest;
};

/* `bytes` of zeroed memory, aligned for any type, alive until arena_free. NULL when memory is out. */
void *arena_alloc(struct arena *arena, size_t bytes);

/* A copy of `length` bytes of text with a NUL behind it. NULL when memory is out. */
char *arena_text(struct arena *arena, const char *text, size_t length);

/* Free every allocation; the arena can be used again. */
void arena_free(struct arena *arena);

#endif
