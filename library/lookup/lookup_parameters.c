/* lookup_parameters.c: names, words and numbers of a flat JSON object; they are identifiers and need no escapes. */
#include "library/lookup/lookup_parameters.h"

#include <stdlib.h>
#include <string.h>

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* Mostly there are none, and values have a few bytes: strspn and strcspn would spend their time on getting ready. */
static const char *skip_blanks(const char *at) {
  while (is_blank(*at)) at++;
  return at;
}

static size_t number_length(const char *text) {
  size_t length = 0;
  while (text[length] && text[length] != ',' && text[length] != '}' && !is_blank(text[length])) length++;
  return length;
}

/* A quoted word from `at` on; NULL where there is none, else what stands behind it. */
static const char *read_quoted(const char *at, const char **text, size_t *length) {
  if (*at != '"') return NULL;
  const char *end = strchr(at + 1, '"');
  if (!end) return NULL;
  *text = at + 1;
  *length = (size_t)(end - at - 1);
  return end + 1;
}

bool parameters_next(const char **at, struct parameter_text *out) {
  const char *c = skip_blanks(*at);
  if (*c != '{' && *c != ',') return false;
  c = read_quoted(skip_blanks(c + 1), &out->name, &out->name_length);
  if (!c) return false;
  c = skip_blanks(c);
  if (*c != ':') return false;
  c = skip_blanks(c + 1);
  out->is_word = *c == '"';
  if (out->is_word) {
    c = read_quoted(c, &out->value, &out->value_length);
    if (!c) return false;
  } else {
    out->value = c;
    out->value_length = number_length(c);
    if (out->value_length == 0) return false;
    c += out->value_length;
  }
  *at = c;
  return true;
}

static bool text_is(const char *text, const char *other, size_t length) {
  return strncmp(text, other, length) == 0 && text[length] == '\0';
}

static int find_value(const struct parameter *parameter, const struct parameter_text *text) {
  for (int v = 0; v < parameter->value_count; v++) {
    if (text_is(parameter->words[v], text->value, text->value_length)) return v;
  }
  if (parameter->is_word || text->is_word) return -1;
  double number = strtod(text->value, NULL); /* spelled otherwise in the template's file */
  for (int v = 0; v < parameter->value_count; v++) {
    if (parameter->values[v] == number) return v;
  }
  return -1;
}

bool parameters_configure(const struct template *template, const char *text, struct configuration *out) {
  struct parameter_text next;
  int count = 0;
  *out = configuration_default(template);
  for (; parameters_next(&text, &next); count++) {
    bool in_order =
        count < template->parameter_count && text_is(template->parameters[count].name, next.name, next.name_length);
    int at = in_order ? count : template_parameter(template, next.name, next.name_length);
    int value = at < 0 ? -1 : find_value(&template->parameters[at], &next);
    if (value < 0) return false;
    out->choice[at] = (unsigned char)value;
  }
  return count == template->parameter_count;
}
