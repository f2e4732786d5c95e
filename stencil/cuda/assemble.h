/* assemble.h: a source from texts: only the definitions that its kernel needs, and of them only what the configuration
 * leaves open; private to stencil/. */
#ifndef STENCIL_CUDA_ASSEMBLE_H
#define STENCIL_CUDA_ASSEMBLE_H

#include "base/fail.h"
#include "base/text.h"

/* A text to take definitions from. */
struct assembly_text {
  const char
      *file; /* what #line calls it; NULL for one that is written nowhere: its macros decide, and are not printed */
  const char *text;    /* CUDA; valid during the call */
  const char *without; /* a macro that stands for its definitions: they are put between #ifndef and #endif; or NULL */
};

enum { MAX_ASSEMBLY_TEXTS = 8 };

/* Append what the kernels of these texts need of them, in their order.
 *   real_bytes  of sizeof(real)
 *   inlined     macros without parameters whose text is written where their names stand; NULL behind the last
 *   watched     the name of a macro
 *   is_decisive receives whether a condition about that macro decided what is written
 * Each line that does not follow the one before it in its file has a #line in front.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status assemble(const struct assembly_text *texts, int count, int real_bytes, const char *const *inlined,
                         const char *watched, bool *is_decisive, struct text *out);

#endif
