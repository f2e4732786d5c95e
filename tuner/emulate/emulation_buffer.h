/* emulation_buffer.h: memory with canaries around it, shared between the program and the processes that execute
 * kernels. */
#ifndef EMULATE_EMULATION_BUFFER_H
#define EMULATE_EMULATION_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

struct emulation_buffer;

/* Make a buffer that is full of EMULATION_POISON_BUFFER.
 *   element_bytes  size of its numbers, 4 or 8; poison is searched in units of this size
 *   out            the caller ends it with emulation_buffer_free; NULL on failure
 * Returns HALOTUNE_OK, HALOTUNE_ARGUMENT or HALOTUNE_MEMORY. */
halotune_status emulation_buffer_create(size_t bytes, int element_bytes, struct emulation_buffer **out);

/* Make a buffer full of zeros, without poison. It is for fields of many gigabytes: only touched pages take memory. */
halotune_status emulation_buffer_create_sparse(size_t bytes, int element_bytes, struct emulation_buffer **out);

void emulation_buffer_free(struct emulation_buffer *buffer);

/* The buffer's bytes. They may be read and written while no kernel uses them. They begin at a page boundary. */
void *emulation_buffer_data(const struct emulation_buffer *buffer);
size_t emulation_buffer_bytes(const struct emulation_buffer *buffer);

/* Fill the buffer with EMULATION_POISON_BUFFER, to find the elements that a kernel does not write. */
void emulation_buffer_poison(struct emulation_buffer *buffer);

/* Check the canaries, and restore damaged ones.
 *   offset  receives the position of the first changed byte, from the buffer's start
 * Returns false if they are damaged. */
bool emulation_buffer_check(struct emulation_buffer *buffer, long long *offset);

/* The poison word in an element, without its sign; 0 if the element is not poison. */
uint32_t emulation_poison_of(const void *element, int element_bytes);

bool emulation_buffer_is_sparse(const struct emulation_buffer *buffer);

/* Find the first element from `*element` on that holds poison other than EMULATION_POISON_BUFFER.
 *   element  receives its number; unchanged if there is none
 * Returns the poison word; 0 if there is none. */
uint32_t emulation_buffer_find_poison(const struct emulation_buffer *buffer, size_t *element);

/* The file behind the buffer, and its size: canary, bytes, canary. */
int emulation_buffer_descriptor(const struct emulation_buffer *buffer);
size_t emulation_buffer_file_bytes(const struct emulation_buffer *buffer);

#endif
