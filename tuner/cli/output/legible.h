/* legible.h: removes from a text everything that commands a terminal.
 *
 * Names, reasons and dates come from databases of others. An escape sequence in one of them could move the cursor, or
 * type on some terminals. So all output of the program passes here. */
#ifndef CLI_OUTPUT_LEGIBLE_H
#define CLI_OUTPUT_LEGIBLE_H

#include <stdbool.h>

#include "base/text/text.h"

/* The colours of words, and the sequence that begins each; INK_NONE ends one. */
enum ink { INK_NONE, INK_WINNER, INK_FAILURE, INK_WARNING, INKS };
extern const char *const ink_sequences[INKS];

/* Append a part of what is printed. Printable UTF-8, line ends, tabs and, where words have colours, the sequences of
 * these colours (ink) stay. Other bytes become '?'.
 *   is_last  this is the last part, so nothing is held back
 * Returns how many bytes were read: all but the beginning of a character or colour that ends in the next part. */
size_t legible_add(const char *bytes, size_t length, bool has_colors, bool is_last, struct text *out);

enum { LEGIBLE_HELD_BYTES = 8 }; /* room for more than is ever held back */

#endif
