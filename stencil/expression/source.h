/* source.h: a text file in memory, places in it, and errors that show the place. */
#ifndef STENCIL_EXPRESSION_SOURCE_H
#define STENCIL_EXPRESSION_SOURCE_H

#include <stddef.h>

#include "base/fail.h"

struct source {
  const char *name; /* the file's name as the user wrote it; errors show it */
  const char *text; /* UTF-8, NUL-terminated */
  size_t length;
};

/* Make a source of this text. It skips the byte order mark that some editors write. The text must outlive the
 * source. */
struct source source_of(const char *name, const char *text, size_t length);

/* Line and column count from 1. A column is one character (code point), however many bytes it has. */
struct place {
  int line, column;
};

/* A part of a source that is parsed by itself, such as the value of one YAML field: whole lines with the same
 * indentation. */
struct snippet {
  const struct source *source;
  const char *text; /* a copy without the indentation */
  size_t length;
  struct place start; /* place of the first character; the later lines begin in the same column */
};

/* Fail with HALOTUNE_PARSE and a detail like this one. Control characters and broken UTF-8 are shown as '?'.
 *     kernels/heat.yaml:8:12: expected a number, a name or '(', found the end of the text
 *       v = c0*u[0,0] +
 *                      ^ */
#define source_fail(...) (source_fail_detail(__VA_ARGS__), HALOTUNE_PARSE)

/* Set the error detail only. source_fail is a macro so that static analysers see which status it returns. */
void source_fail_detail(const struct source *source, struct place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The place that is `length` bytes of `text` after `place`. Each new line begins in `first_column`. */
struct place place_behind(struct place place, int first_column, const char *text, size_t length);

#endif
