/* inline_names.h: replaces names and calls in CUDA text by what they stand for; private to stencil/. */
#ifndef STENCIL_CUDA_INLINE_NAMES_H
#define STENCIL_CUDA_INLINE_NAMES_H

#include "base/fail.h"
#include "base/text/text.h"

enum { MOST_INLINED_PARAMETERS = 4 };

/* A name that stands for a text, or a function whose call stands for one. */
struct inlined {
  const char *name;
  const char *parameters[MOST_INLINED_PARAMETERS + 1]; /* NULL at the end; none: the name stands for the text alone */
  const char *text; /* an expression, in which each parameter occurs at most once; or a type */
};

/* Append a text in which these names are replaced. Arguments and results are put in brackets where an operator beside
 * them would take them apart. Nothing else changes: comments, blanks and lines stay. A call with another number of
 * arguments stays as it is.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status inline_names(const char *text, const struct inlined *list, int count, struct text *out);

#endif
