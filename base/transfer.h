/* transfer.h: all of the bytes through a descriptor, however many calls and interrupts that takes. */
#ifndef BASE_TRANSFER_H
#define BASE_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>

/* False on an error (errno tells it) and, for reading, when the end comes first. */
bool read_all(int fd, char *bytes, size_t length);
bool write_all(int fd, const char *bytes, size_t length);

#endif
