/* assemble.h: puts texts together into a source. It keeps only the definitions that the kernel needs, and removes from
 * them what the configuration decides; private to stencil/. */
#ifndef STENCIL_CUDA_ASSEMBLE_H
#define STENCIL_CUDA_ASSEMBLE_H

#include "base/fail.h"
#include "base/text/text.h"

/* A text whose definitions may be used. */
struct assembly_text {
  const char *file; /* its name in #line; NULL for a text that is not written: its macros only decide conditions */
  const char *text; /* CUDA; valid during the call */
  /* a macro that replaces its definitions, which are then put between #ifndef and #endif; or NULL */
  const char *without;
};

enum { MAX_ASSEMBLY_TEXTS = 8 };

/* Append what the kernels of these texts need, in the order of the texts.
 *   real_bytes  sizeof(real)
 *   inlined     macros without parameters that are replaced by their text; NULL at the end
 *   watched     the name of a macro
 *   is_decisive receives whether a condition about that macro decided what is written
 * A #line directive stands before each line that does not follow its predecessor in the file.
 * Returns HALOTUNE_OK; HALOTUNE_PARSE if a name after #if is not defined, with file and line; HALOTUNE_MEMORY. */
halotune_status assemble(const struct assembly_text *texts, int count, int real_bytes, const char *const *inlined,
                         const char *watched, bool *is_decisive, struct text *out);

#endif
