/* emulation_buffer.h: memory that the program shares with the processes that execute kernels, with canaries around it. */
#ifndef EMULATE_EMULATION_BUFFER_H
#define EMULATE_EMULATION_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

struct emulation_buffer;

/* Make a buffer, full of EMULATION_POISON_BUFFER.
 *   element_bytes  of its numbers, 4 or 8: poison is looked for in units of this
 *   out            the caller's, ended with emulation_buffer_free; NULL on failure
 * Returns HALOTUNE_OK, HALOTUNE_ARGUMENT or HALOTUNE_MEMORY. */
halotune_status emulation_buffer_create(size_t bytes, int element_bytes, struct emulation_buffer **out);

/* The same without poison, full of zeros, for fields of many gigabytes of which little is touched: only that takes memory. */
halotune_status emulation_buffer_create_sparse(size_t bytes, int element_bytes, struct emulation_buffer **out);

void emulation_buffer_free(struct emulation_buffer *buffer);

/* Its bytes, to be read and written while no kernel uses them. They begin at a multiple of a page. */
void *emulation_buffer_data(const struct emulation_buffer *buffer);
size_t emulation_buffer_bytes(const struct emulation_buffer *buffer);

/* Fill it with EMULATION_POISON_BUFFER: what a kernel does not write can then be told. */
void emulation_buffer_poison(struct emulation_buffer *buffer);

/* Look whether the canaries are as they were made, and make them anew if not.
 *   offset  receives the place of the first byte that changed, from the buffer's start
 * Returns false if they are damaged. */
bool emulation_buffer_check(struct emulation_buffer *buffer, long long *offset);

/* The word that an element was poisoned with, whatever its sign; 0 if it is not poison. */
uint32_t emulation_poison_of(const void *element, int element_bytes);

bool emulation_buffer_is_sparse(const struct emulation_buffer *buffer);

/* The first element at or behind `*element` that holds poison other than EMULATION_POISON_BUFFER.
 *   element  receives its number; untouched if there is none
 * Returns the word, 0 if there is none. */
uint32_t emulation_buffer_find_poison(const struct emulation_buffer *buffer, size_t *element);

/* The file behind the buffer, and its size: canary, bytes, canary. */
int emulation_buffer_descriptor(const struct emulation_buffer *buffer);
size_t emulation_buffer_file_bytes(const struct emulation_buffer *buffer);

#endif
