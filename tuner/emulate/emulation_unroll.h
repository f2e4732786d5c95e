/* emulation_unroll.h: the unrolling of loops, in the words of g++. */
#ifndef TUNER_EMULATE_EMULATION_UNROLL_H
#define TUNER_EMULATE_EMULATION_UNROLL_H

#include "base/text/text.h"

/* Write CUDA text with `#pragma GCC unroll` in place of each directive `#pragma unroll`. A loop with `#pragma unroll`
 * alone is unrolled completely, as by nvcc. Turns that are no number become 1, because g++ refuses names that depend on
 * a template's argument. Two texts that differ only in comments and blanks stay the same program: counts are kept under
 * an identity that leaves these out. */
void emulation_unroll(const char *text, struct text *out);

#endif
