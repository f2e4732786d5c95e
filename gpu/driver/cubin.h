/* cubin.h: whether stored machine code is a whole file. The driver gets no length, so it would read behind the end of
 * one that was cut short. */
#ifndef GPU_DRIVER_CUBIN_H
#define GPU_DRIVER_CUBIN_H

#include <stddef.h>

#include "base/fail.h"

/* Check that a cubin lies within its bytes: the ELF header, the tables of sections and segments, what they point to,
 * and the names. The content of sections is not checked.
 * Returns HALOTUNE_OK; or HALOTUNE_PARSE, whose detail says what is wrong. */
halotune_status cubin_check(const void *bytes, size_t length);

#endif
