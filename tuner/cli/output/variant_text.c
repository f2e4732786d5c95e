/* variant_text.c: writes template and configuration as text and as JSON. */
#include "tuner/cli/output/variant_text.h"

#include <math.h>
#include <string.h>

#include "tuner/cli/output/terminal.h"

void variant_text(const struct template *template, const struct configuration *configuration, struct text *text) {
  const bool is_brief = terminal_is_brief();
  text_printf(text, "%s", template->name);
  for (int i = 0; i < template->parameter_count; i++) {
    const struct parameter *parameter = &template->parameters[i];
    if (is_brief && configuration->choice[i] == parameter->default_value) continue;
    text_printf(text, " %s=%s", parameter->name, parameter->words[configuration->choice[i]]);
  }
}

static bool is_default(const struct template *template, const char *word, size_t length) {
  const size_t name = strcspn(word, "=");
  const int at = name < length ? template_parameter(template, word, name) : -1;
  if (at < 0) return false;
  const char *value = template->parameters[at].words[template->parameters[at].default_value];
  return strlen(value) == length - name - 1 && strncmp(word + name + 1, value, length - name - 1) == 0;
}

void variant_words_text(const char *name, const struct template *template, const char *words, struct text *text) {
  const bool is_brief = template && terminal_is_brief();
  text_printf(text, "%s", name);
  while (*words) {
    const size_t length = strcspn(words, " ");
    if (!is_brief || !is_default(template, words, length)) text_printf(text, " %.*s", (int)length, words);
    words += length + strspn(words + length, " ");
  }
}

/* Append all parameters. */
static void add_parameters(const char *parameters, struct text *text) {
  struct json_member member;
  while (json_member_next(&parameters, &member))
    text_printf(text, " %.*s=%.*s", (int)member.name_length, member.name, (int)member.value_length, member.value);
}

void parameters_text_brief(const struct template *template, const char *parameters, struct text *text) {
  struct text words = {0};
  add_parameters(parameters, &words);
  const size_t before = text->length;
  if (text_ok(&words)) variant_words_text("", template, text_string(&words) + strspn(text_string(&words), " "), text);
  if (text->length == before) text_printf(text, " defaults");
  text_free(&words);
}

json_t *parameter_value_json(const struct parameter *parameter, int choice) {
  double value = parameter->values[choice];
  if (parameter->is_word) return text_json(parameter->words[choice]);
  return value == floor(value) && fabs(value) < 1e9 ? json_integer((json_int_t)value) : number_json(value);
}

json_t *variant_json(const struct template *template, const struct configuration *configuration) {
  json_t *values = json_object();
  for (int i = 0; i < template->parameter_count; i++) {
    const struct parameter *parameter = &template->parameters[i];
    json_put(&values, parameter->name, parameter_value_json(parameter, configuration->choice[i]));
  }
  return values;
}
