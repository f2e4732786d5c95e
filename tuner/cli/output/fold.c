/* fold.c: finds where a line is broken, and how far its other lines are indented. */
#include "tuner/cli/output/fold.h"

#include <string.h>

#include "base/text/utf8.h"

enum { ESCAPE = '\033' };

/* The bytes of the character at `at`, and the columns that it takes. */
static size_t character_at(const char *line, size_t length, size_t at, int *columns) {
  size_t end = at + 1;
  *columns = 1;
  if (line[at] == ESCAPE) { /* "\033[1;32m" */
    while (end < length && line[end - 1] != 'm') end++;
    *columns = 0;
    return end - at;
  }
  while (end < length && ((unsigned char)line[end] & 0xc0) == 0x80) end++; /* the rest of a character in UTF-8 */
  *columns = character_columns(line + at, end - at);
  return end - at;
}

static int columns_of(const char *line, size_t length, size_t from) {
  int sum = 0, columns;
  for (size_t at = from; at < length; sum += columns) at += character_at(line, length, at, &columns);
  return sum;
}

static size_t skip_spaces(const char *line, size_t length, size_t at) {
  while (at < length && line[at] == ' ') at++;
  return at;
}

/* The start of the text after the next gap; `length` if there is no gap. */
static size_t behind_gap(const char *line, size_t length, size_t at) {
  while (at < length) {
    const size_t word = skip_spaces(line, length, at);
    if (word >= at + 2 && word < length) return word;
    at = word + (word == at);
  }
  return length;
}

struct folding {
  const char *line;
  size_t length, text; /* text: the start of the part that may be broken */
  int columns, indent; /* indent: that of all lines but the first */
  bool has_groups;     /* there are gaps in the text */
};

static struct folding folding_of(const char *line, size_t length, int columns) {
  enum { FAR = 8 };
  struct folding fold = {.line = line, .length = length, .columns = columns};
  const size_t first = skip_spaces(line, length, 0), behind = behind_gap(line, length, first);
  size_t last = behind;
  for (size_t next = behind; next < length; next = behind_gap(line, length, next)) last = next;
  fold.text = first;
  fold.indent = (int)first + (first < FAR ? 2 : 0);
  if (last < length && columns_of(line, last, 0) <= columns / 2) fold.text = last;
  else if (behind < length && columns_of(line, behind, 0) <= columns / 2) fold.text = behind;
  if (fold.text > first) fold.indent = columns_of(line, fold.text, 0);
  if (fold.indent > columns / 2) fold.indent = columns / 2;
  fold.has_groups = behind_gap(line, length, fold.text) < length;
  return fold;
}

/* The end of a word that begins at `from` and is too wide for a line: after its last comma that fits, else after the
 * word. */
static size_t wide_word_end(const struct folding *fold, size_t from, int column) {
  size_t comma = 0;
  int columns;
  for (size_t at = from; at < fold->length && fold->line[at] != ' ';) {
    const size_t next = at + character_at(fold->line, fold->length, at, &columns);
    column += columns;
    if (column > fold->columns && comma > 0) return comma;
    if (fold->line[at] == ',') comma = next;
    at = next;
    if (at < fold->length && fold->line[at] == ' ') return at;
  }
  return fold->length;
}

/* The end of the part of a line that begins at `from`. It is at a gap if one is in reach, else between two words, or
 * after a word that is too wide for a line.
 *   first_column  of the part's first character */
static size_t part_end(const struct folding *fold, size_t from, const int first_column) {
  int column = first_column;
  size_t end = 0, gap = 0;
  int columns;
  for (size_t at = from; at < fold->length; column += columns) {
    const bool is_before_percent = at + 1 < fold->length && fold->line[at + 1] == '%'; /* "95 %" stays on one line */
    if (fold->line[at] == ' ' && at > from && at >= fold->text && fold->line[at - 1] != ' ' && !is_before_percent) {
      if (column > fold->columns) break;
      end = at;
      if (at + 1 < fold->length && fold->line[at + 1] == ' ') gap = at;
    }
    if (column >= fold->columns && end > 0) break;
    at += character_at(fold->line, fold->length, at, &columns);
    if (at >= fold->length && column + columns <= fold->columns) end = gap = at;
  }
  if (fold->has_groups && gap > 0) return gap;
  if (end > 0) return end;
  const size_t word = skip_spaces(fold->line, fold->length, from > fold->text ? from : fold->text);
  return wide_word_end(fold, word, from == 0 ? columns_of(fold->line, word, 0) : first_column);
}

static void fold_without_tabs(const char *line, size_t length, int columns, struct text *out) {
  while (length > 0 && line[length - 1] == ' ') length--;
  const struct folding fold = folding_of(line, length, columns);
  size_t from = 0;
  while (from < length) {
    const int column = from == 0 ? 0 : fold.indent;
    const bool fits = column + columns_of(line, length, from) <= columns;
    const size_t end = fits ? length : part_end(&fold, from, column);
    if (from > 0) text_printf(out, "\n%*s", fold.indent, "");
    text_add(out, line + from, end - from);
    from = skip_spaces(line, length, end);
  }
}

void fold_line(const char *line, size_t length, int columns, struct text *out) {
  struct text blanks = {0};
  if (!memchr(line, '\t', length)) { /* true for nearly every line */
    fold_without_tabs(line, length, columns, out);
    return;
  }
  text_add(&blanks, line, length);
  if (text_ok(&blanks)) {
    for (size_t at = 0; at < length; at++)
      if (line[at] == '\t') blanks.bytes[at] = ' ';
    fold_without_tabs(blanks.bytes, length, columns, out);
  } else {
    out->out_of_memory = true;
  }
  text_free(&blanks);
}
