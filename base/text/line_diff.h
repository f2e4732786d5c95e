/* line_diff.h: the lines in which two texts differ. */
#ifndef BASE_LINE_DIFF_H
#define BASE_LINE_DIFF_H

#include "base/text/text.h"

/* Append the lines that only one of two texts has, in their order. A line that only `from` has begins with '-', one
 * that only `to` has with '+'. Before each group of neighbours stands "@@ line N and M", the numbers of its first lines
 * in both texts. Equal texts give nothing. The list has as few lines as possible. Only if the texts differ in more than
 * some 4000 lines, it has all lines between the first difference and the last one. Ask text_ok(out). */
void line_diff(const char *from, const char *to, struct text *out);

#endif
