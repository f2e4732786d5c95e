/* pragma_numbers.h: pragmas that every CUDA compiler understands. */
#ifndef STENCIL_CUDA_PRAGMA_NUMBERS_H
#define STENCIL_CUDA_PRAGMA_NUMBERS_H

#include "base/fail.h"

/* Put the number of a macro into the place of its name in each directive `#pragma unroll NAME`. NVRTC expands macros
 * there; nvcc does not, and then knows no such name. A name stays if it is not defined by `#define NAME NUMBER` above,
 * if a condition may leave this definition out, or if the number is longer than the name.
 * Returns HALOTUNE_OK, or HALOTUNE_MEMORY with the source unchanged. */
halotune_status pragma_numbers(char *source);

#endif
