/* printable.h: text of strangers, before a terminal sees it. */
#ifndef DB_PRINTABLE_H
#define DB_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Copy a text, cut to `bytes` with its NUL; what is neither printable UTF-8 nor the end of a line nor a tab becomes
 * '?'. */
void printable_copy(char *out, size_t bytes, const char *text);

/* Whether a text is one line in printable UTF-8. */
bool is_printable_line(const char *text);

#endif
