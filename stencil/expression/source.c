/* source.c: finds places in a text, and writes errors that show the place with a caret. */
#include "stencil/expression/source.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "base/text/utf8.h"

struct source source_of(const char *name, const char *text, size_t length) {
  static const char mark[] = "\xEF\xBB\xBF";
  size_t skipped = strncmp(text, mark, strlen(mark)) == 0 ? strlen(mark) : 0;
  return (struct source){name, text + skipped, length - skipped};
}

struct place place_behind(struct place place, int first_column, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '\n') {
      place.line++;
      place.column = first_column;
    } else if (begins_character(text[i])) {
      place.column++;
    }
  }
  return place;
}

/* Find a line. Returns its first byte; `length` receives its length without the line end. */
static const char *line_of(const struct source *source, int number, size_t *length) {
  const char *line = source->text;
  for (int i = 1; i < number; i++) {
    const char *end = strchr(line, '\n');
    if (!end) break;
    line = end + 1;
  }
  *length = strcspn(line, "\r\n");
  return line;
}

/* Append bytes, with '?' in place of control characters and broken UTF-8. */
static void add_printable(struct text *text, const char *bytes, size_t length) {
  for (size_t i = 0, step; i < length; i += step) {
    size_t printable = bytes[i] == '\t' ? 1 : printable_bytes(bytes + i, length - i);
    step = printable > 0 ? printable : 1;
    text_add(text, printable > 0 ? bytes + i : "?", step);
  }
}

/* Append the line and a caret below the column. Of a long line, show only the part around the column. */
static void add_picture(struct text *text, const char *line, size_t length, int column) {
  enum { WIDTH = 100, BEFORE = 60 };
  size_t byte = 0, first = 0, last = length;
  for (int at = 1; byte < length; byte++) {
    if (begins_character(line[byte]) && at++ == column) break;
  }
  if (length > WIDTH) {
    first = byte > BEFORE ? byte - BEFORE : 0;
    while (first > 0 && !begins_character(line[first])) first--;
    if (length - first > WIDTH) last = first + WIDTH;
    while (last > first && last < length && !begins_character(line[last])) last--;
  }
  const char *cut = first > 0 ? "..." : "";
  text_printf(text, "\n  %s", cut);
  add_printable(text, line + first, last - first);
  text_printf(text, "%s\n  %*s", last < length ? "..." : "", (int)strlen(cut), "");
  for (size_t i = first; i < byte; i++) { /* keep tabs, so that the caret is in the right column for every tab width */
    if (line[i] == '\t') text_add(text, "\t", 1);
    else if (begins_character(line[i])) text_add(text, " ", 1);
  }
  text_add(text, "^", 1);
}

void source_fail_detail(const struct source *source, struct place place, const char *format, ...) {
  struct text text = {0};
  char message[FAIL_TEXT_BYTES / 2];
  size_t length;
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  add_printable(&text, source->name, strlen(source->name));
  text_printf(&text, ":%d:%d: ", place.line, place.column);
  add_printable(&text, message, strlen(message));
  const char *line = line_of(source, place.line, &length);
  if (length > 0) add_picture(&text, line, length, place.column);
  fail(HALOTUNE_PARSE, "%s", text_string(&text));
  text_free(&text);
}
