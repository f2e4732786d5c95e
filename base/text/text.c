/* text.c: appends to a text, and grows it. */
#include "base/text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/number.h"

/* Make room for `length` more bytes and the NUL. */
static bool reserve_room(struct text *text, size_t length) {
  enum { SMALLEST = 256 };
  if (text->out_of_memory) return false;
  size_t needed = text->length + length + 1;
  if (needed <= text->capacity) return true;
  size_t capacity = text->capacity ? text->capacity : SMALLEST;
  while (capacity < needed) capacity *= 2;
  char *grown = realloc(text->bytes, capacity);
  if (!grown) {
    text->out_of_memory = true;
    return false;
  }
  text->bytes = grown;
  text->capacity = capacity;
  return true;
}

char *text_extend(struct text *text, size_t length) {
  if (!reserve_room(text, length)) return NULL;
  char *added = text->bytes + text->length;
  text->length += length;
  text->bytes[text->length] = '\0';
  return added;
}

void text_add(struct text *text, const char *bytes, size_t length) {
  char *added = text_extend(text, length);
  if (added && length > 0) memcpy(added, bytes, length);
}

void text_printf(struct text *text, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  if (length < 0) text->out_of_memory = true; /* longer than INT_MAX, or a character that the locale does not have */
  else if (reserve_room(text, (size_t)length)) {
    vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
    text->length += (size_t)length;
  }
  va_end(again);
  va_end(args);
}

void text_number(struct text *text, double number) {
  char digits[NUMBER_TEXT_BYTES];
  number_write(number, digits);
  text_add(text, digits, strlen(digits));
}

/* Within single quotes a shell leaves every character except the single quote as it is. */
void text_shell_word(struct text *text, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
  if (*word && word[strspn(word, plain)] == '\0') {
    text_printf(text, "%s", word);
    return;
  }
  text_printf(text, "'");
  for (; *word; word++) text_printf(text, *word == '\'' ? "'\\''" : "%c", *word);
  text_printf(text, "'");
}

void text_shell_path(struct text *text, const char *path) {
  if (*path == '-') text_printf(text, "./");
  text_shell_word(text, path);
}

bool text_ok(const struct text *text) { return !text->out_of_memory; }

const char *text_string(const struct text *text) { return text->bytes ? text->bytes : ""; }

void text_free(struct text *text) {
  free(text->bytes);
  *text = (struct text){0};
}
