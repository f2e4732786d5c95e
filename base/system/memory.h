/* memory.h: how much memory of the machine is free. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include "base/fail.h"

/* Check that so many bytes can be written. An allocation that is too large often succeeds, and the kernel ends the
 * program when it writes there.
 *   what  takes the memory, for the message: "the fields"
 * Returns HALOTUNE_OK, also if the kernel does not tell; HALOTUNE_MEMORY. Threads: any number at once. */
halotune_status memory_check(const char *what, double bytes);

#endif
