/* memory.h: the buffers of a launch in the runner's address space. */
#ifndef EMULATE_RUNTIME_MEMORY_H
#define EMULATE_RUNTIME_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "tuner/emulate/runtime/protocol.h"

/* Map every buffer of a request, from its descriptor of the same number, which is closed. A kernel that reads or writes far
 * beyond a buffer meets addresses that are not mapped. Ends the runner when memory is out. */
void memory_map(const struct emulation_request *request, const int *descriptors);

/* The first byte of a buffer. */
unsigned char *memory_of(unsigned buffer);

/* If an address lies around a buffer, the number of the argument that passes it; else -1.
 *   offset  receives where it lies, from the buffer's first byte */
int memory_find(const void *address, long long *offset);

/* Make all buffers fault, until memory_show. */
void memory_hide(void);
void memory_show(void);
bool memory_is_hidden(void);

void memory_unmap(void);

#endif
