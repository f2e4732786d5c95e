/* emulation_buffer.h: memory that the program shares with the processes that execute kernels, with canaries around it. */
#ifndef EMULATE_EMULATION_BUFFER_H
#define EMULATE_EMULATION_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

struct host_buffer;

/* Make a buffer, full of HOST_POISON_BUFFER.
 *   element_bytes  of its numbers, 4 or 8: poison is looked for in units of this
 *   out            the caller's, ended with host_buffer_free; NULL on failure
 * Returns HALOTUNE_OK, HALOTUNE_ARGUMENT or HALOTUNE_MEMORY. */
halotune_status host_buffer_create(size_t bytes, int element_bytes, struct host_buffer **out);

/* The same without poison, full of zeros, for fields of many gigabytes of which little is touched: only that takes memory. */
halotune_status host_buffer_create_sparse(size_t bytes, int element_bytes, struct host_buffer **out);

void host_buffer_free(struct host_buffer *buffer);

/* Its bytes, to be read and written while no kernel uses them. They begin at a multiple of a page. */
void *host_buffer_data(const struct host_buffer *buffer);
size_t host_buffer_bytes(const struct host_buffer *buffer);

/* Fill it with HOST_POISON_BUFFER: what a kernel does not write can then be told. */
void host_buffer_poison(struct host_buffer *buffer);

/* Look whether the canaries are as they were made, and make them anew if not.
 *   offset  receives the place of the first byte that changed, from the buffer's start
 * Returns false if they are damaged. */
bool host_buffer_check(struct host_buffer *buffer, long long *offset);

/* The word that an element was poisoned with, whatever its sign; 0 if it is not poison. */
uint32_t host_poison_of(const void *element, int element_bytes);

bool host_buffer_is_sparse(const struct host_buffer *buffer);

/* The first element at or behind `*element` that holds poison other than HOST_POISON_BUFFER.
 *   element  receives its number; untouched if there is none
 * Returns the word, 0 if there is none. */
uint32_t host_buffer_find_poison(const struct host_buffer *buffer, size_t *element);

/* The file behind the buffer, and its size: canary, bytes, canary. */
int host_buffer_descriptor(const struct host_buffer *buffer);
size_t host_buffer_file_bytes(const struct host_buffer *buffer);

#endif
