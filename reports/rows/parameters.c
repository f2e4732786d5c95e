/* parameters.c: a configuration's JSON text, split without a tree: there are as many as measurements. */
#include <ctype.h>
#include <string.h>

#include "reports/rows/variants.h"

static const char *skip_space(const char *at) {
  while (isspace((unsigned char)*at)) at++;
  return at;
}

/* The end of a quoted text that begins at `at`, which is its closing quote; NULL where there is none, or an escape,
 * which no name or word of a template needs. */
static const char *quoted_end(const char *at) {
  const char *end = strpbrk(at, "\"\\");
  return end && *end == '"' ? end : NULL;
}

bool parameters_each(const char *text,
                     bool (*visit)(void *context, const char *name, size_t name_length, const char *value,
                                   size_t value_length),
                     void *context) {
  const char *at = skip_space(text);
  if (*at++ != '{') return false;
  at = skip_space(at);
  while (*at != '}') {
    if (*at++ != '"') return false;
    const char *name = at, *name_end = quoted_end(at);
    if (!name_end) return false;
    at = skip_space(name_end + 1);
    if (*at++ != ':') return false;
    const char *value = skip_space(at), *value_end;
    if (*value == '"') {
      value_end = quoted_end(++value);
      if (!value_end) return false;
      at = value_end + 1;
    } else {
      value_end = value + strcspn(value, ",} \t\r\n");
      if (value_end == value) return false;
      at = value_end;
    }
    if (!visit(context, name, (size_t)(name_end - name), value, (size_t)(value_end - value))) return false;
    at = skip_space(at);
    if (*at == ',') at = skip_space(at + 1);
    else if (*at != '}') return false;
  }
  return *skip_space(at + 1) == '\0';
}
