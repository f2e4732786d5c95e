/* memory.h: the buffers of a launch in the runner's address space. */
#ifndef EMULATE_RUNTIME_MEMORY_H
#define EMULATE_RUNTIME_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "tuner/emulate/runtime/protocol.h"

/* Map every buffer of a request from the descriptor with the same number, and close the descriptors. A kernel that
 * reads or writes far outside a buffer accesses unmapped addresses. If memory is out, the runner ends. */
void memory_map(const struct emulation_request *request, const int *descriptors);

/* The first byte of a buffer. */
unsigned char *memory_of(unsigned buffer);

/* Find the buffer near an address. Returns the number of the argument that passes the buffer; -1 if no buffer is near.
 *   offset  receives the address, relative to the buffer's first byte */
int memory_find(const void *address, long long *offset);

/* Find the buffer that contains an address. Returns its number; -1 if no buffer does.
 *   offset  receives the address, relative to the buffer's first byte; untouched if no buffer contains it */
int memory_buffer(const void *address, uint64_t *offset);

/* Make all accesses to buffers fault, until memory_show. */
void memory_hide(void);
void memory_show(void);
bool memory_is_hidden(void);

void memory_unmap(void);

#endif
