/* template_parameters.c: parameters with their values, and the words among these. */
#include "stencil/template/template_parameters.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "stencil/template/template_names.h"

/* One value, as the file has it, unlike those before it. */
static halotune_status read_value(struct reader *r, const struct yaml *item, struct parameter *parameter) {
  int at = parameter->value_count;
  char *end = NULL;
  if (item->kind != YAML_TEXT) return reader_fail(r, item->place, "expected a value, a number or a word");
  double number = strtod(item->text, &end);
  bool is_word = end == item->text || *end != '\0';
  if (at > 0 && is_word != parameter->is_word) {
    return reader_fail(r, item->place, "the values of a parameter are all numbers or all words");
  }
  const char *error = is_word ? parameter_word_error(item->text, item->length) : parameter_number_error(item->text);
  if (error) return reader_fail(r, item->place, "'%s' cannot be a value: %s", item->text, error);
  for (int i = 0; i < at; i++) {
    bool same = is_word ? strcmp(parameter->words[i], item->text) == 0 : parameter->values[i] == number;
    if (same) return reader_fail(r, item->place, "the value '%s' stands there twice", item->text);
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
  for (int i = 0; i < parameter->value_count; i++) {
    if (strcmp(node->text, parameter->words[i]) == 0) {
      parameter->default_value = i;
      return HALOTUNE_OK;
    }
  }
  return reader_fail(r, node->place, "the default '%s' is none of the values of '%s'", node->text, parameter->name);
}

static halotune_status declare_variable(struct reader *r, const char *name, struct place place) {
  return reader_declare(r, (struct name){.text = name, .kind = NAME_VARIABLE, .index = r->scope.count, .place = place});
}

static halotune_status read_parameter(struct reader *r, const struct yaml *item) {
  static const char *const keys[] = {"values", "default", "about"};
  struct template *template = r->template;
  const struct yaml *values, *otherwise, *about;
  struct parameter *parameter = &template->parameters[template->parameter_count++];
  parameter->name = item->key;
  const char *error = parameter_name_error(item->key, strlen(item->key));
  if (error) return reader_fail(r, item->key_place, "'%s' cannot be a parameter's name: %s", item->key, error);
  if (item->kind != YAML_MAP) return reader_fail(r, item->place, "expected {values: [...], default: ..., about: ...}");
  halotune_status status = reader_check_keys(r, item, keys, COUNT(keys));
  if (status == HALOTUNE_OK) status = reader_need(r, item, "values", YAML_LIST, &values);
  if (status == HALOTUNE_OK) status = reader_need(r, item, "default", YAML_TEXT, &otherwise);
  if (status == HALOTUNE_OK) status = reader_need(r, item, "about", YAML_TEXT, &about);
  if (status == HALOTUNE_OK) status = reader_check_about(r, about);
  if (status == HALOTUNE_OK) status = read_values(r, values, parameter);
  if (status == HALOTUNE_OK) status = read_default(r, otherwise, parameter);
  if (status != HALOTUNE_OK) return status;
  parameter->about = about->text;
  return declare_variable(r, parameter->name, item->key_place);
}

/* A word that two parameters share, such as `plain`, means the same number in both. */
static halotune_status declare_words(struct reader *r, const struct yaml *parameters) {
  for (int i = 0; i < r->template->parameter_count; i++) {
    const struct parameter *parameter = &r->template->parameters[i];
    for (int v = 0; v < parameter->value_count && parameter->is_word; v++) {
      const char *word = parameter->words[v];
      const struct name *other = scope_find(&r->scope, word, strlen(word));
      if (other && other->index >= FACT_COUNT + r->template->parameter_count &&
          r->template->word_values[other->index - FACT_COUNT - r->template->parameter_count] == v) {
        continue;
      }
      halotune_status status = declare_variable(r, word, parameters->place);
      if (status != HALOTUNE_OK) return status;
      r->template->word_values[r->template->word_count++] = v;
    }
  }
  return HALOTUNE_OK;
}

static halotune_status check_macros(const struct reader *r, const struct yaml *parameters) {
  const struct yaml *item = parameters->first;
  const char *detail;
  int at;
  if (template_macros_are_free(r->template, &at, &detail)) return HALOTUNE_OK;
  while (at-- > 0) item = item->next;
  return reader_fail(r, item->key_place, "'%s' cannot be a parameter's name: %s", item->key, detail);
}

halotune_status template_parameters_read(struct reader *r) {
  struct template *template = r->template;
  const struct yaml *map;
  halotune_status status = reader_need(r, r->root, "parameters", YAML_MAP, &map);
  if (status != HALOTUNE_OK) return status;
  if (map->count > MAX_PARAMETERS) return reader_fail(r, map->place, "at most %d parameters", MAX_PARAMETERS);
  template->word_values = arena_alloc(&template->arena, MAX_PARAMETERS * MAX_VALUES * sizeof *template->word_values);
  if (!template->word_values) return fail_memory();
  for (int i = 0; i < FACT_COUNT && status == HALOTUNE_OK; i++)
    status = declare_variable(r, fact_rows[i].name, (struct place){0, 0});
  for (const struct yaml *item = map->first; item && status == HALOTUNE_OK; item = item->next) {
    status = read_parameter(r, item);
  }
  if (status == HALOTUNE_OK) status = declare_words(r, map);
  template->variable_count = FACT_COUNT + template->parameter_count + template->word_count;
  return status == HALOTUNE_OK ? check_macros(r, map) : status;
}
