/* definitions_hash.h: the hash of the definitions that one CUDA text uses of another; private to stencil/. */
#ifndef STENCIL_CUDA_DEFINITIONS_HASH_H
#define STENCIL_CUDA_DEFINITIONS_HASH_H

#include "stencil/cuda/cuda_tokens.h"

/* Hash the definitions of a library that a text names, and the definitions that these name in turn. Comments, layout
 * and the order of the definitions do not count.
 *   macros   the macros that the library needs, as #define lines
 *   library  definitions of functions, types and constants
 *   user     the text that names some of them
 * Returns HALOTUNE_OK; HALOTUNE_PARSE if a text is nested too deeply; HALOTUNE_MEMORY. */
halotune_status used_definitions_hash(const char *macros, const char *library, const char *user, struct identity *out);

#endif
