/* template_parameters.c: reads parameters, their values, and the words among these. */
#include "stencil/template/template_parameters.h"

#include <string.h>

#include "base/memory/array.h"
#include "base/numbers/number.h"
#include "stencil/template/template_names.h"

/* Read one value, which must differ from the values before it. */
static halotune_status read_value(struct reader *r, const struct yaml *item, struct parameter *parameter) {
  int at = parameter->value_count;
  const char *end = NULL;
  if (item->kind != YAML_TEXT) return reader_fail(r, item->place, "expected a value, a number or a word");
  double number = number_read(item->text, &end);
  bool is_word = end == item->text || *end != '\0';
  if (at > 0 && is_word != parameter->is_word) {
    return reader_fail(r, item->place, "the values of a parameter are all numbers or all words");
  }
  const char *error = is_word ? parameter_word_error(item->text, item->length) : parameter_number_error(item->text);
  if (error) return reader_fail(r, item->place, "'%s' cannot be a value: %s", item->text, error);
  for (int i = 0; i < at; i++) {
    bool same = is_word ? strcmp(parameter->words[i], item->text) == 0 : parameter->values[i] == number;
    if (same) return reader_fail(r, item->place, "the value '%s' appears twice", item->text);
  }
  parameter->words[at] = item->text;
  parameter->is_word = is_word;
  parameter->values[at] = is_word ? at : number;
  parameter->value_count++;
  error = served_value_error(parameter, at);
  return error ? reader_fail(r, item->place, "'%s' cannot be a value of %s: %s", item->text, parameter->name, error)
               : HALOTUNE_OK;
}

static halotune_status read_values(struct reader *r, const struct yaml *list, struct parameter *parameter) {
  if (list->count == 0 || list->count > MAX_VALUES) {
    return reader_fail(r, list->place, "a parameter has between 1 and %d values", MAX_VALUES);
  }
  halotune_status status = HALOTUNE_OK;
  for (const struct yaml *item = list->first; item && status == HALOTUNE_OK; item = item->next) {
    status = read_value(r, item, parameter);
  }
  return status;
}

static halotune_status read_default(struct reader *r, const struct yaml *node, struct parameter *parameter) {
  parameter->default_value = parameter_value_at(parameter, node->text);
  if (parameter->default_value >= 0) return HALOTUNE_OK;
  return reader_fail(r, node->place, "the default '%s' is not a value of '%s'", node->text, parameter->name);
}

static halotune_status declare_variable(struct reader *r, const char *name, struct place place) {
  return reader_declare(r, (struct name){.text = name, .kind = NAME_VARIABLE, .index = r->scope.count, .place = place});
}

static halotune_status begin_parameter(struct reader *r, const char *name, struct place place, struct parameter **out) {
  const char *error = parameter_name_error(name, strlen(name));
  if (error) return reader_fail(r, place, "'%s' cannot be a parameter's name: %s", name, error);
  if (r->template->parameter_count == MAX_PARAMETERS) {
    return reader_fail(r, place, "at most %d parameters", MAX_PARAMETERS);
  }
  *out = &r->template->parameters[r->template->parameter_count++];
  (*out)->name = name;
  (*out)->needs = -1;
  return declare_variable(r, name, place);
}

/* Read a parameter that the template declares itself. Its `about` may come from the common text. */
static halotune_status read_parameter(struct reader *r, const struct reader *common, const struct yaml *item) {
  static const char *const keys[] = {"values", "default", "about"};
  const struct yaml *values, *otherwise;
  struct parameter *parameter;
  halotune_status status = begin_parameter(r, item->key, item->key_place, &parameter);
  if (status != HALOTUNE_OK) return status;
  if (item->kind != YAML_MAP) return reader_fail(r, item->place, "expected {values: [...], default: ..., about: ...}");
  const struct yaml *about = yaml_find(item, "about");
  if (!about) about = common_find(common, "about", item->key);
  status = reader_check_keys(r, item, keys, COUNT(keys));
  if (status == HALOTUNE_OK) status = reader_need(r, item, "values", YAML_LIST, &values);
  if (status == HALOTUNE_OK) status = reader_need(r, item, "default", YAML_TEXT, &otherwise);
  if (status == HALOTUNE_OK && !about) {
    return reader_fail(r, item->key_place, "the field 'about' is missing: it says in a line what '%s' is", item->key);
  }
  if (status == HALOTUNE_OK && yaml_find(item, "about")) {
    status = reader_need(r, item, "about", YAML_TEXT, &about);
    if (status == HALOTUNE_OK) status = reader_check_about(r, about);
  }
  if (status == HALOTUNE_OK) status = read_values(r, values, parameter);
  if (status == HALOTUNE_OK) status = read_default(r, otherwise, parameter);
  if (status == HALOTUNE_OK) parameter->about = about->text;
  return status;
}

static halotune_status unknown_common(const struct reader *r, const struct reader *common, const char *name,
                                      struct place place) {
  static const char *const sections[] = {"parameters", "rules"};
  struct nearest nearest = nearest_to(name, strlen(name));
  for (size_t i = 0; i < COUNT(sections); i++) {
    for (const struct yaml *item = yaml_find(common->root, sections[i])->first; item; item = item->next) {
      nearest_try(&nearest, item->key);
    }
  }
  return reader_fail(r, place, "'%s' is neither a common parameter nor the name of common rules%s", name,
                     nearest.question);
}

/* Number the words of a common parameter as in the common text, even if the template uses only some of them. */
static void number_words(const struct yaml *all, struct parameter *parameter) {
  int number = 0;
  for (const struct yaml *item = all->first; item && parameter->is_word; item = item->next, number++) {
    int at = parameter_value_at(parameter, item->text);
    if (at >= 0) parameter->values[at] = number;
  }
}

/* Read `needs` of a common parameter, if it has one. */
static halotune_status read_needs(struct reader *common, const struct yaml *known, struct parameter *parameter) {
  const struct yaml *needs = yaml_find(known, "needs");
  if (!needs) return HALOTUNE_OK;
  for (int i = 0; i < FACT_COUNT; i++) {
    if (strcmp(needs->text, fact_rows[i].name) == 0) parameter->needs = i;
  }
  return parameter->needs >= 0 ? HALOTUNE_OK : reader_fail(common, needs->place, "'%s' is not a fact", needs->text);
}

/* Read a common parameter: NAME, {NAME: [values]} or {NAME: {values: [...], default: ...}}. The default is the given
 * one; else the common one, if it is among the values; else the first value. A name of rules is not a parameter:
 * template_rules_read() takes it. */
static halotune_status read_common(struct reader *r, struct reader *common, const struct yaml *item) {
  static const char *const keys[] = {"values", "default"};
  const struct yaml *own = item->kind == YAML_MAP && item->count == 1 ? item->first : NULL;
  const struct yaml *values = own && own->kind == YAML_LIST ? own : NULL, *otherwise = NULL;
  if (item->kind != YAML_TEXT && (!own || own->kind == YAML_TEXT)) {
    return reader_fail(r, item->place, "expected a common parameter, such as extents or {min_blocks: [0, 2]}");
  }
  const char *name = own ? own->key : item->text;
  struct place place = own ? own->key_place : item->place;
  const struct yaml *known = common_find(common, "parameters", name);
  struct parameter *parameter;
  if (common_find(common, "rules", name)) {
    if (item->kind == YAML_TEXT) return HALOTUNE_OK;
    return reader_fail(r, place, "'%s' is a name of common rules, which have no values; write %s alone", name, name);
  }
  if (!known) return unknown_common(r, common, name, place);
  halotune_status status = begin_parameter(r, known->key, place, &parameter);
  if (status == HALOTUNE_OK && own && !values) {
    status = reader_check_keys(r, own, keys, COUNT(keys));
    if (status == HALOTUNE_OK) status = reader_need(r, own, "values", YAML_LIST, &values);
    if (status == HALOTUNE_OK) status = reader_need(r, own, "default", YAML_TEXT, &otherwise);
  }
  if (status != HALOTUNE_OK) return status;
  status = values ? read_values(r, values, parameter) : read_values(common, yaml_find(known, "values"), parameter);
  parameter->is_common = true;
  number_words(yaml_find(known, "values"), parameter);
  parameter->about = yaml_find(known, "about")->text;
  if (status == HALOTUNE_OK) status = read_needs(common, known, parameter);
  if (status != HALOTUNE_OK || otherwise) return status == HALOTUNE_OK ? read_default(r, otherwise, parameter) : status;
  int usual = parameter_value_at(parameter, yaml_find(known, "default")->text);
  parameter->default_value = usual < 0 ? 0 : usual;
  return HALOTUNE_OK;
}

/* Declare all words. A word that two parameters share, such as `plain`, must mean the same number in both. */
static halotune_status declare_words(struct reader *r, const struct yaml *parameters) {
  for (int i = 0; i < r->template->parameter_count; i++) {
    const struct parameter *parameter = &r->template->parameters[i];
    for (int v = 0; v < parameter->value_count && parameter->is_word; v++) {
      const char *word = parameter->words[v];
      const struct name *other = scope_find(&r->scope, word, strlen(word));
      if (other && other->index >= FACT_COUNT + r->template->parameter_count &&
          r->template->word_values[other->index - FACT_COUNT - r->template->parameter_count] == parameter->values[v]) {
        continue;
      }
      halotune_status status = declare_variable(r, word, parameters->place);
      if (status != HALOTUNE_OK) return status;
      r->template->word_values[r->template->word_count++] = parameter->values[v];
    }
  }
  return HALOTUNE_OK;
}

static halotune_status check_macros(const struct reader *r) {
  const char *detail;
  int at;
  const halotune_status status = template_macros_check(r->template, &at, &detail);
  if (status != HALOTUNE_OK || !detail) return status;
  const struct name *name = &r->scope.names[FACT_COUNT + at];
  return reader_fail(r, name->place, "'%s' cannot be a parameter's name: %s", name->text, detail);
}

halotune_status template_parameters_read(struct reader *r, struct reader *common) {
  struct template *template = r->template;
  const struct yaml *map, *list = yaml_find(r->root, "common");
  halotune_status status = reader_need(r, r->root, "parameters", YAML_MAP, &map);
  if (status == HALOTUNE_OK && list) status = reader_need(r, r->root, "common", YAML_LIST, &list);
  if (status != HALOTUNE_OK) return status;
  template->word_values =
      arena_alloc(&template->arena, (size_t)MAX_PARAMETERS * MAX_VALUES * sizeof *template->word_values);
  if (!template->word_values) return fail_memory();
  for (int i = 0; i < FACT_COUNT && status == HALOTUNE_OK; i++)
    status = declare_variable(r, fact_rows[i].name, (struct place){0, 0});
  for (const struct yaml *item = map->first; item && status == HALOTUNE_OK; item = item->next) {
    status = read_parameter(r, common, item);
  }
  for (const struct yaml *item = list ? list->first : NULL; item && status == HALOTUNE_OK; item = item->next) {
    status = read_common(r, common, item);
  }
  if (status == HALOTUNE_OK) status = declare_words(r, map);
  template->variable_count = FACT_COUNT + template->parameter_count + template->word_count;
  return status == HALOTUNE_OK ? check_macros(r) : status;
}
