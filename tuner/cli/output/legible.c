/* legible.c: replaces control characters, and bytes that are not UTF-8. */
#include "tuner/cli/output/legible.h"

#include <string.h>

#include "base/memory/array.h"
#include "base/text/utf8.h"

const char *const ink_sequences[INKS] = {
    [INK_NONE] = "\033[0m", [INK_WINNER] = "\033[32m", [INK_FAILURE] = "\033[31m", [INK_WARNING] = "\033[33m"};

/* The bytes of the colour at the start of a text; 0 if there is none.
 *   is_cut  receives true if the text may be the beginning of one */
static size_t color_bytes(const char *bytes, size_t length, bool *is_cut) {
  *is_cut = false;
  for (int i = 0; i < INKS; i++) {
    const size_t needed = strlen(ink_sequences[i]);
    if (memcmp(bytes, ink_sequences[i], length < needed ? length : needed) != 0) continue;
    if (length >= needed) return needed;
    *is_cut = true;
  }
  return 0;
}

/* Whether a text that is not a whole character may be the beginning of one. */
static bool is_cut_character(const char *bytes, size_t length) {
  const unsigned char lead = (unsigned char)bytes[0];
  const size_t needed = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF8 ? 4 : 1;
  for (size_t i = 1; i < length; i++) {
    if (begins_character(bytes[i])) return false;
  }
  return length < needed;
}

size_t legible_add(const char *bytes, size_t length, bool has_colors, bool is_last, struct text *out) {
  size_t at = 0;
  while (at < length) {
    const char *from = bytes + at;
    const size_t left = length - at;
    bool is_cut = false;
    size_t kept = *from == '\n' || *from == '\t' ? 1 : visible_bytes(from, left);
    if (kept == 0 && has_colors) kept = color_bytes(from, left, &is_cut);
    if (kept == 0 && !is_last && (is_cut || is_cut_character(from, left))) break;
    text_add(out, kept > 0 ? from : "?", kept > 0 ? kept : 1);
    at += kept > 0 ? kept : 1;
  }
  return at;
}
