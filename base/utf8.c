/* utf8.c: decodes UTF-8 one character at a time. */
#include "base/utf8.h"

#include <string.h>

size_t character_bytes(const char *text) {
  size_t bytes = 1;
  while (!begins_character(text[bytes])) bytes++; /* a NUL begins a character */
  return bytes;
}

size_t printable_bytes(const char *text, size_t length) {
  /* the smallest code point of each length; smaller ones are overlong or control characters */
  static const unsigned smallest[] = {0, 0x20, 0xA0, 0x800, 0x10000};
  unsigned char lead = (unsigned char)text[0];
  size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  unsigned code = bytes == 1 ? lead : lead & (0x7FU >> bytes);
  if (lead == 0x7F || (lead & 0xC0U) == 0x80U || lead >= 0xF8 || bytes > length) return 0;
  for (size_t i = 1; i < bytes; i++) {
    if (begins_character(text[i])) return 0;
    code = code << 6 | ((unsigned char)text[i] & 0x3FU);
  }
  bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code >= smallest[bytes] && code <= 0x10FFFF && !surrogate ? bytes : 0;
}

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
