/* lookup_parameters.h: the values of parameters in the JSON text of a variant, read without copies: lookups do it in a microsecond. */
#ifndef LIBRARY_LOOKUP_LOOKUP_PARAMETERS_H
#define LIBRARY_LOOKUP_LOOKUP_PARAMETERS_H

#include "stencil/template/template.h"

/* One parameter; neither text is NUL-terminated. */
struct parameter_text {
  const char *name, *value;
  size_t name_length, value_length;
  bool is_word;
};

/* Read the next one, from `*at` on, which begins as the whole text. False at the end, and for what configuration_write did not
 * write. */
bool parameters_next(const char **at, struct parameter_text *out);

/* The configuration that a text stands for. False where it is not of this template, or lacks one of its parameters. */
bool parameters_configure(const struct template *template, const char *text, struct configuration *out);

#endif
