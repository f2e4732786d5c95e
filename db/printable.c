/* printable.c: one character at a time. */
#include "db/printable.h"

#include <string.h>

#include "stencil/source.h"

void printable_copy(char *out, size_t bytes, const char *text) {
  size_t at = 0;
  for (size_t left = strlen(text), step; left > 0; text += step, left -= step) {
    bool layout = *text == '\n' || *text == '\t';
    size_t printable = layout ? 1 : printable_bytes(text, left);
    step = printable > 0 ? printable : 1;
    if (at + step >= bytes) break;
    if (printable > 0) memcpy(out + at, text, step);
    else out[at] = '?';
    at += step;
  }
  out[at] = '\0';
}

bool is_printable_line(const char *text) {
  for (size_t left = strlen(text), step; left > 0; text += step, left -= step) {
    if ((step = printable_bytes(text, left)) == 0) return false;
  }
  return true;
}
