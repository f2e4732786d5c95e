/* fold.h: a line that is wider than the terminal, broken between words. */
#ifndef CLI_OUTPUT_FOLD_H
#define CLI_OUTPUT_FOLD_H

#include "base/text/text.h"

/* Append a line, with line breaks so that it fits. Further lines are indented:
 *   "  --grid NX,NY,NZ  points along"  below the text behind the first gap, which is two or more spaces
 *   "ok  driver  which one was found"   behind the last gap, if that lies in the left half
 *   "a sentence without a gap"         by two spaces more than the line itself; as the line, if that is far indented
 * If there are more gaps, as in "load_path  plain: 12  readonly: 12", the line is broken at these where that is
 * possible. A word that is wider than the terminal is broken behind a comma, else not at all. Escape sequences of
 * colours have no width, a tab is a blank.
 *   line     without its line break
 *   columns  of the terminal, above 0 */
void fold_line(const char *line, size_t length, int columns, struct text *out);

#endif
