/* source.h: a text file in memory, places in it, and errors that show the place. */
#ifndef STENCIL_EXPRESSION_SOURCE_H
#define STENCIL_EXPRESSION_SOURCE_H

#include <stddef.h>

#include "base/fail.h"

struct source {
  const char *name; /* as the user spelled it; shown in errors */
  const char *text; /* UTF-8, NUL-terminated */
  size_t length;
};

/* A source of this text, which must outlive it, without the byte order mark that some editors write in front. */
struct source source_of(const char *name, const char *text, size_t length);

/* Line and column count from 1; a column is one character (code point), whatever its bytes. */
struct place {
  int line, column;
};

/* A part of a source that is read by itself, such as the value of one YAML field: whole lines, indented alike. */
struct snippet {
  const struct source *source;
  const char *text; /* its own copy, without the indentation */
  size_t length;
  struct place start; /* of its first character; its later lines begin in the same column */
};

/* Fail with HALOTUNE_PARSE and a detail such as the following, in which control characters and broken UTF-8 are '?'.
 *     kernels/heat.yaml:8:12: expected a number, a name or '(', found the end of the text
 *       v = c0*u[0,0] +
 *                      ^ */
#define source_fail(...) (source_fail_detail(__VA_ARGS__), HALOTUNE_PARSE)

/* The detail alone; source_fail is a macro so that static checks, too, see what it returns. */
void source_fail_detail(const struct source *source, struct place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The place that lies `length` bytes of `text` behind `place`; each new line begins in `first_column`. */
struct place place_behind(struct place place, int first_column, const char *text, size_t length);

#endif
