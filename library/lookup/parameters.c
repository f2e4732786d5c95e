/* parameters.c: members of a JSON object to the choices of a configuration. */
#include "library/lookup/parameters.h"

#include <string.h>

#include "base/number.h"

static bool text_is(const char *text, const char *other, size_t length) {
  return strncmp(text, other, length) == 0 && text[length] == '\0';
}

static int find_value(const struct parameter *parameter, const struct json_member *member) {
  for (int v = 0; v < parameter->value_count; v++) {
    if (text_is(parameter->words[v], member->value, member->value_length)) return v;
  }
  if (parameter->is_word || member->is_string) return -1;
  double number = number_read(member->value, NULL); /* spelled otherwise in the template's file */
  for (int v = 0; v < parameter->value_count; v++) {
    if (parameter->values[v] == number) return v;
  }
  return -1;
}

bool parameters_configure(const struct template *template, const char *text, struct configuration *out) {
  struct json_member next;
  int count = 0;
  *out = configuration_default(template);
  for (; json_member_next(&text, &next); count++) {
    bool in_order =
        count < template->parameter_count && text_is(template->parameters[count].name, next.name, next.name_length);
    int at = in_order ? count : template_parameter(template, next.name, next.name_length);
    int value = at < 0 ? -1 : find_value(&template->parameters[at], &next);
    if (value < 0) return false;
    out->choice[at] = (unsigned char)value;
  }
  return count == template->parameter_count;
}
