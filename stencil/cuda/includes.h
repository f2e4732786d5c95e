/* includes.h: stops CUDA text from making a compiler read files, and from using the number of a line or the time of
 * the compile. None of these is part of a source's identity. A user who can change a file, the layout or the clock
 * could otherwise decide what a trusted source does. */
#ifndef STENCIL_CUDA_INCLUDES_H
#define STENCIL_CUDA_INCLUDES_H

#include <stdbool.h>

/* The text that replaces each `#include`. No compiler knows this directive, so a compiler refuses it in a part that is
 * compiled. Sources of Halotune 0.1.0 have it in a part that is not compiled. */
#define CUDA_DISARMED "#?nclude"

/* Whether a text has `#include`, `#import`, `#embed`, `__has_include`, `__has_embed`, `__LINE__`, `__FILE__`,
 * `__DATE__` and the like, or `assert`, in any spelling, or `##`, which could join them. It also counts in a
 * comment or a literal, so no trick with the end of one hides it. */
bool cuda_includes_file(const char *source);

/* Whether the word of a directive begins here that names a file. NVRTC 13.0 knows only `include`; newer compilers, and
 * those of the emulation, know others. */
bool cuda_is_file_word(const char *at);

/* Disarm each of them in a text. Lengths and lines stay. */
void cuda_disarm_includes(char *source);

#endif
