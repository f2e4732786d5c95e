/* includes.h: keeps a compiler from reading files that CUDA text names, and from telling it where a line stands and
 * when it is compiled. None of that is part of a source's identity: whoever can change a file, the layout or the clock
 * would decide what a trusted source does. */
#ifndef STENCIL_CUDA_INCLUDES_H
#define STENCIL_CUDA_INCLUDES_H

#include <stdbool.h>

/* What stands in place of each `#include`: no compiler knows this directive. The compiler refuses it in a part that is
 * compiled. Sources of Halotune 0.1.0 have it in a part that is not. */
#define CUDA_DISARMED "#?nclude"

/* Whether a text has `#include`, `__has_include`, `__has_embed`, `__LINE__`, `__FILE__`, `__DATE__` and the like, or
 * `assert`, in any spelling, or `##`, which could join them. It also counts in a comment or a literal, so that no trick
 * with their ends hides it. */
bool cuda_includes_file(const char *source);

/* Disarm each of them in a text. Lengths and lines stay. */
void cuda_disarm_includes(char *source);

#endif
