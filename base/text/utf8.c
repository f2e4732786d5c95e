/* utf8.c: decodes UTF-8 one character at a time. */
#include "base/text/utf8.h"

#include <locale.h>
#include <pthread.h>
#include <string.h>
#include <wchar.h>

#include "base/memory/array.h"

size_t character_bytes(const char *text) {
  size_t bytes = 1;
  while (!begins_character(text[bytes])) bytes++; /* a NUL begins a character */
  return bytes;
}

/* The code point of a character of so many bytes, which printable_bytes has counted. */
static unsigned code_of(const char *text, size_t bytes) {
  const unsigned char lead = (unsigned char)text[0];
  unsigned code = bytes == 1 ? lead : lead & (0x7FU >> bytes);
  for (size_t i = 1; i < bytes; i++) code = code << 6 | ((unsigned char)text[i] & 0x3FU);
  return code;
}

size_t printable_bytes(const char *text, size_t length) {
  /* the smallest code point of each length; smaller ones are overlong or control characters */
  static const unsigned smallest[] = {0, 0x20, 0xA0, 0x800, 0x10000};
  unsigned char lead = (unsigned char)text[0];
  size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (lead == 0x7F || (lead & 0xC0U) == 0x80U || lead >= 0xF8 || bytes > length) return 0;
  for (size_t i = 1; i < bytes; i++) {
    if (begins_character(text[i])) return 0;
  }
  const unsigned code = code_of(text, bytes);
  bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code >= smallest[bytes] && code <= 0x10FFFF && !surrogate ? bytes : 0;
}

/* Whether a character is invisible, or changes the order of others. With it, a text can look like another one. Joiners
 * and selectors of emoji are not among them: paths have them. */
static bool is_hidden(unsigned code) {
  static const struct {
    unsigned first, last;
  } hidden[] = {{0xAD, 0xAD},       {0x34F, 0x34F},     {0x61C, 0x61C},    {0x115F, 0x1160}, {0x17B4, 0x17B5},
                {0x180B, 0x180F},   {0x200B, 0x200B},   {0x200E, 0x200F},  {0x2028, 0x202E}, {0x2060, 0x206F},
                {0x2800, 0x2800},   {0x3164, 0x3164},   {0xFEFF, 0xFEFF},  {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB},
                {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};
  for (size_t i = 0; i < COUNT(hidden); i++) {
    if (code >= hidden[i].first && code <= hidden[i].last) return true;
  }
  return false;
}

size_t visible_bytes(const char *text, size_t length) {
  const size_t bytes = printable_bytes(text, length);
  return bytes > 1 && is_hidden(code_of(text, bytes)) ? 0 : bytes;
}

/* The locale for wcwidth, because the program's own locale may have another encoding, or none. */
static locale_t utf8;
static pthread_once_t utf8_once = PTHREAD_ONCE_INIT;
static void utf8_open(void) { utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL); }

int character_columns(const char *text, size_t bytes) {
  if (bytes < 2 || printable_bytes(text, bytes) != bytes) return 1;
  pthread_once(&utf8_once, utf8_open);
  if (!utf8) return 1;
  const locale_t before = uselocale(utf8);
  const int columns = wcwidth((wchar_t)code_of(text, bytes));
  uselocale(before);
  return columns < 0 ? 1 : columns;
}

/* Whether a character is a line end or a tab that stays. */
static bool stays_always(const char *text) { return *text == '\n' || *text == '\t'; }
static bool stays_never(const char *text) { return (void)text, false; }
static bool stays_in_message(const char *text) { return *text == '\t' || (text[0] == '\n' && text[1] == ' '); }

static void copy_printable(char *out, size_t bytes, const char *text, bool (*stays)(const char *text)) {
  size_t at = 0;
  for (size_t left = strlen(text), step; left > 0; text += step, left -= step) {
    size_t printable = stays(text) ? 1 : visible_bytes(text, left);
    step = printable > 0 ? printable : 1;
    if (at + step >= bytes) break;
    if (printable > 0) memcpy(out + at, text, step);
    else out[at] = '?';
    at += step;
  }
  out[at] = '\0';
}

void printable_copy(char *out, size_t bytes, const char *text) { copy_printable(out, bytes, text, stays_always); }
void printable_name(char *out, size_t bytes, const char *text) { copy_printable(out, bytes, text, stays_never); }
void printable_message(char *out, size_t bytes, const char *text) {
  copy_printable(out, bytes, text, stays_in_message);
}

bool is_printable_line(const char *text) {
  while (*text >= ' ' && *text <= '~') text++; /* most names are ASCII, and a lookup opens databases of many names */
  for (size_t left = strlen(text), step; left > 0; text += step, left -= step) {
    if ((step = visible_bytes(text, left)) == 0) return false;
  }
  return true;
}
