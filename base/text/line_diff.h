/* line_diff.h: the lines in which two texts differ. */
#ifndef BASE_LINE_DIFF_H
#define BASE_LINE_DIFF_H

#include "base/text/text.h"

/* Append the lines that only one of two texts has, in their order, each with '-' (only in `from`) or '+' (only in `to`)
 * before it; before each group of neighbours "@@ line N and M", the numbers of its first lines in both texts. Equal
 * texts give nothing. As few lines as possible differ, but for texts that differ in more than some 4000 lines: of
 * these all lines are given between the first difference and the last one. Ask text_ok(out). */
void line_diff(const char *from, const char *to, struct text *out);

#endif
