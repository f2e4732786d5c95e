/* template.c: reading a template's two files. */
#include "stencil/template/template.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "stencil/template/template_names.h"
#include "stencil/template/template_reader.h"

halotune_status template_read_formula(struct reader *r, const struct yaml *node, struct formula *out) {
  struct snippet snippet;
  if (!node || node->kind != YAML_TEXT)
    return read_fail(r, node ? node->place : r->root->place, "expected an expression");
  halotune_status status = yaml_snippet(r->source, node, &snippet);
  return status == HALOTUNE_OK ? parse_rule(&snippet, &r->scope, &r->template->exprs, out) : status;
}

halotune_status template_need(const struct reader *r, const struct yaml *map, const char *key, enum yaml_kind kind,
                              const struct yaml **out) {
  *out = yaml_find(map, key);
  if (!*out) return read_fail(r, map->place, "the field '%s' is missing", key);
  if ((*out)->kind != kind) return read_fail(r, (*out)->place, "'%s' is not of the kind that it should be", key);
  return HALOTUNE_OK;
}

/* Every member of a map is one of these fields. */
halotune_status template_check_keys(const struct reader *r, const struct yaml *map, const char *const *known,
                                    size_t count) {
  for (const struct yaml *item = map->first; item; item = item->next) {
    bool found = false;
    for (size_t i = 0; i < count; i++) found = found || strcmp(item->key, known[i]) == 0;
    if (!found) return read_fail(r, item->key_place, "'%s' is not a field that can stand here", item->key);
  }
  return HALOTUNE_OK;
}

/* One value, as the file has it, unlike those before it. */
static halotune_status read_value(struct reader *r, const struct yaml *item, struct parameter *parameter) {
  int at = parameter->value_count;
  char *end = NULL;
  if (item->kind != YAML_TEXT) return read_fail(r, item->place, "expected a value, a number or a word");
  double number = strtod(item->text, &end);
  bool is_word = end == item->text || *end != '\0';
  if (at > 0 && is_word != parameter->is_word) {
    return read_fail(r, item->place, "the values of a parameter are all numbers or all words");
  }
  const char *error = is_word ? parameter_word_error(item->text, item->length) : parameter_number_error(item->text);
  if (error) return read_fail(r, item->place, "'%s' cannot be a value: %s", item->text, error);
  for (int i = 0; i < at; i++) {
    bool same = is_word ? strcmp(parameter->words[i], item->text) == 0 : parameter->values[i] == number;
    if (same) return read_fail(r, item->place, "the value '%s' stands there twice", item->text);
  }
  parameter->words[at] = item->text;
  parameter->is_word = is_word;
  parameter->values[at] = is_word ? at : number;
  parameter->value_count++;
  error = served_value_error(parameter, at);
  return error ? read_fail(r, item->place, "'%s' cannot be a value of %s: %s", item->text, parameter->name, error)
               : HALOTUNE_OK;
}

static halotune_status read_values(struct reader *r, const struct yaml *list, struct parameter *parameter) {
  if (list->count == 0 || list->count > MAX_VALUES) {
    return read_fail(r, list->place, "a parameter has between 1 and %d values", MAX_VALUES);
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
  return read_fail(r, node->place, "the default '%s' is none of the values of '%s'", node->text, parameter->name);
}

static halotune_status check_about(const struct reader *r, const struct yaml *about) {
  const char *error = about_error(about->text, about->length);
  return error ? read_fail(r, about->place, "this cannot be what it is about: %s", error) : HALOTUNE_OK;
}

static halotune_status declare(struct reader *r, const char *name, struct place place) {
  const struct name *other = scope_find(&r->scope, name, strlen(name));
  if (other) return read_fail(r, place, "'%s' already means something else", name);
  return scope_add(&r->scope, (struct name){name, NAME_VARIABLE, r->scope.count, false, place});
}

static halotune_status read_parameter(struct reader *r, const struct yaml *item) {
  static const char *const keys[] = {"values", "default", "about"};
  struct template *template = r->template;
  const struct yaml *values, *otherwise, *about;
  struct parameter *parameter = &template->parameters[template->parameter_count++];
  parameter->name = item->key;
  const char *error = parameter_name_error(item->key, strlen(item->key));
  if (error) return read_fail(r, item->key_place, "'%s' cannot be a parameter's name: %s", item->key, error);
  if (item->kind != YAML_MAP) return read_fail(r, item->place, "expected {values: [...], default: ..., about: ...}");
  halotune_status status = template_check_keys(r, item, keys, COUNT(keys));
  if (status == HALOTUNE_OK) status = template_need(r, item, "values", YAML_LIST, &values);
  if (status == HALOTUNE_OK) status = template_need(r, item, "default", YAML_TEXT, &otherwise);
  if (status == HALOTUNE_OK) status = template_need(r, item, "about", YAML_TEXT, &about);
  if (status == HALOTUNE_OK) status = check_about(r, about);
  if (status == HALOTUNE_OK) status = read_values(r, values, parameter);
  if (status == HALOTUNE_OK) status = read_default(r, otherwise, parameter);
  if (status != HALOTUNE_OK) return status;
  parameter->about = about->text;
  return declare(r, parameter->name, item->key_place);
}

/* A word that two parameters share, such as `plain`, means the same number in both. */
static halotune_status declare_words(struct reader *r, const struct yaml *parameters) {
  for (int i = 0; i < r->template->parameter_count; i++) {
    const struct parameter *parameter = &r->template->parameters[i];
    for (int v = 0; v < parameter->value_count && parameter->is_word; v++) {
      const char *word = parameter->words[v];
      const struct name *other = scope_find(&r->scope, word, strlen(word));
      if (other && other->index >= FACT_COUNT + r->template->parameter_count &&
          r->words[other->index - FACT_COUNT - r->template->parameter_count] == v) {
        continue;
      }
      halotune_status status = declare(r, word, parameters->place);
      if (status != HALOTUNE_OK) return status;
      r->words[r->template->word_count++] = v;
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
  return read_fail(r, item->key_place, "'%s' cannot be a parameter's name: %s", item->key, detail);
}

static halotune_status read_parameters(struct reader *r, const struct yaml *node) {
  halotune_status status = HALOTUNE_OK;
  if (node->count > MAX_PARAMETERS) return read_fail(r, node->place, "at most %d parameters", MAX_PARAMETERS);
  for (int i = 0; i < FACT_COUNT && status == HALOTUNE_OK; i++)
    status = declare(r, fact_rows[i].name, (struct place){0, 0});
  for (const struct yaml *item = node->first; item && status == HALOTUNE_OK; item = item->next) {
    status = read_parameter(r, item);
  }
  if (status == HALOTUNE_OK) status = declare_words(r, node);
  return status == HALOTUNE_OK ? check_macros(r, node) : status;
}

/* The last parameter that a formula names, so that a search can apply the rule as soon as that one is chosen. */
static int last_parameter(const struct template *template, struct formula formula) {
  int last = -1;
  for (int i = formula.first; i <= formula.root; i++) {
    const struct expr *node = &template->exprs.nodes[i];
    int parameter = node->kind == EXPR_VARIABLE ? node->index - FACT_COUNT : -1;
    if (parameter > last && parameter < template->parameter_count) last = parameter;
  }
  return last;
}

static halotune_status read_rules(struct reader *r, const struct yaml *list) {
  static const char *const keys[] = {"keep", "otherwise"};
  struct template *template = r->template;
  if (list->count >= MAX_RULES) return read_fail(r, list->place, "at most %d rules", MAX_RULES - 1);
  for (const struct yaml *item = list->first; item; item = item->next) {
    const struct yaml *keep, *otherwise;
    struct rule *rule = &template->rules[template->rule_count++];
    if (item->kind != YAML_MAP) return read_fail(r, item->place, "expected {keep: ..., otherwise: ...}");
    halotune_status status = template_check_keys(r, item, keys, COUNT(keys));
    if (status == HALOTUNE_OK) status = template_need(r, item, "keep", YAML_TEXT, &keep);
    if (status == HALOTUNE_OK) status = template_need(r, item, "otherwise", YAML_TEXT, &otherwise);
    if (status == HALOTUNE_OK) status = template_read_formula(r, keep, &rule->keep);
    if (status != HALOTUNE_OK) return status;
    rule->text = keep->text;
    rule->otherwise = otherwise->text;
    rule->last_parameter = last_parameter(template, rule->keep);
  }
  return HALOTUNE_OK;
}

halotune_status template_read_axes(struct reader *r, const struct yaml *list, struct formula out[MAX_DIMS]) {
  halotune_status status = HALOTUNE_OK;
  if (list->count != MAX_DIMS) return read_fail(r, list->place, "expected three expressions, for x, y and z");
  const struct yaml *item = list->first;
  for (int axis = 0; axis < MAX_DIMS && status == HALOTUNE_OK; axis++, item = item->next) {
    status = template_read_formula(r, item, &out[axis]);
  }
  return status;
}

/* [x, y, z, elements]. */
static halotune_status read_shared_access(struct reader *r, const struct yaml *list, struct shared_access *out) {
  halotune_status status = HALOTUNE_OK;
  if (list->kind != YAML_LIST || list->count != MAX_DIMS + 1) {
    return read_fail(r, list->place, "expected four expressions: strides in x, y and z, and elements at once");
  }
  const struct yaml *item = list->first;
  for (int axis = 0; axis < MAX_DIMS && status == HALOTUNE_OK; axis++, item = item->next) {
    status = template_read_formula(r, item, &out->stride[axis]);
  }
  return status == HALOTUNE_OK ? template_read_formula(r, item, &out->elements) : status;
}

static halotune_status read_access(struct reader *r, const struct yaml *map) {
  static const char *const keys[] = {"loads_per_point", "over_read", "computing_share", "shared"};
  struct access_formulas *access = &r->template->access;
  const struct yaml *loads, *over_read, *share, *shared = yaml_find(map, "shared");
  if (map->kind != YAML_MAP) return read_fail(r, map->place, "expected fields, such as loads_per_point: taps");
  halotune_status status = template_check_keys(r, map, keys, COUNT(keys));
  if (status == HALOTUNE_OK) status = template_need(r, map, "loads_per_point", YAML_TEXT, &loads);
  if (status == HALOTUNE_OK) status = template_need(r, map, "over_read", YAML_TEXT, &over_read);
  if (status == HALOTUNE_OK) status = template_need(r, map, "computing_share", YAML_TEXT, &share);
  if (status == HALOTUNE_OK) status = template_read_formula(r, loads, &access->loads_per_point);
  if (status == HALOTUNE_OK) status = template_read_formula(r, over_read, &access->over_read);
  if (status == HALOTUNE_OK) status = template_read_formula(r, share, &access->computing_share);
  if (status != HALOTUNE_OK) return status;
  r->template->has_access = true;
  if (!shared) return HALOTUNE_OK;
  if (shared->kind != YAML_LIST || shared->count > MAX_SHARED_ACCESSES) {
    return read_fail(r, shared->place, "expected a list of at most %d kinds of access", MAX_SHARED_ACCESSES);
  }
  for (const struct yaml *item = shared->first; item && status == HALOTUNE_OK; item = item->next) {
    status = read_shared_access(r, item, &access->shared[access->shared_count++]);
  }
  return status;
}

static halotune_status read_fields(struct reader *r) {
  static const char *const keys[] = {"name",           "about",        "parameters",      "rules",  "block",
                                     "grid",           "shared_bytes", "workspace_bytes", "access", "tensor_inputs",
                                     "tensor_outputs", "cluster",      "overlap"};
  const struct yaml *name, *about, *parameters, *rules, *block, *grid, *shared;
  struct template *template = r->template;
  struct yaml *root;
  halotune_status status = yaml_parse(r->source, &template->arena, &root);
  if (status != HALOTUNE_OK) return status;
  r->root = root;
  if (root->kind != YAML_MAP) return read_fail(r, root->place, "expected fields, such as name: direct");
  if ((status = template_check_keys(r, root, keys, COUNT(keys))) != HALOTUNE_OK) return status;
  if ((status = template_need(r, root, "name", YAML_TEXT, &name)) != HALOTUNE_OK) return status;
  if ((status = template_need(r, root, "about", YAML_TEXT, &about)) != HALOTUNE_OK) return status;
  if ((status = template_need(r, root, "parameters", YAML_MAP, &parameters)) != HALOTUNE_OK) return status;
  if ((status = template_need(r, root, "rules", YAML_LIST, &rules)) != HALOTUNE_OK) return status;
  if ((status = template_need(r, root, "block", YAML_LIST, &block)) != HALOTUNE_OK) return status;
  if ((status = template_need(r, root, "grid", YAML_LIST, &grid)) != HALOTUNE_OK) return status;
  if ((status = template_need(r, root, "shared_bytes", YAML_TEXT, &shared)) != HALOTUNE_OK) return status;
  const char *error = name_error(name->text, name->length);
  if (error) return read_fail(r, name->place, "'%s' cannot be a template's name: %s", name->text, error);
  if ((status = check_about(r, about)) != HALOTUNE_OK) return status;
  template->name = name->text;
  template->about = about->text;
  if ((status = read_parameters(r, parameters)) != HALOTUNE_OK) return status;
  if ((status = read_rules(r, rules)) != HALOTUNE_OK) return status;
  if ((status = template_read_axes(r, block, template->block)) != HALOTUNE_OK) return status;
  if ((status = template_read_axes(r, grid, template->grid)) != HALOTUNE_OK) return status;
  if ((status = template_read_formula(r, shared, &template->shared_bytes)) != HALOTUNE_OK) return status;
  if ((status = template_read_launch(r)) != HALOTUNE_OK) return status;
  const struct yaml *access = yaml_find(root, "access");
  return access ? read_access(r, access) : HALOTUNE_OK;
}

static halotune_status keep_words(struct reader *r) {
  struct template *template = r->template;
  template->variable_count = FACT_COUNT + template->parameter_count + template->word_count;
  template->word_values = arena_alloc(&template->arena, ((size_t) template->word_count + 1) * sizeof *r->words);
  if (!template->word_values) return fail_memory();
  memcpy(template->word_values, r->words, (size_t) template->word_count * sizeof *r->words);
  return HALOTUNE_OK;
}

/* Where bits are to be the same, only templates take part that leave all sums to `update`. The rule follows from the
 * CUDA text, so that none can forget it. */
static halotune_status add_order_rule(struct template *template) {
  const char *cuda = template->cuda;
  if (strstr(cuda, "update(") && !strstr(cuda, "add_plane(")) return HALOTUNE_OK;
  int fact = exprs_add(&template->exprs, (struct expr){.kind = EXPR_VARIABLE, .index = FACT_reproducible});
  int keep = exprs_add(&template->exprs, (struct expr){.kind = EXPR_NOT, .args = {fact}, .arg_count = 1});
  if (fact < 0 || keep < 0) return fail_memory();
  template->rules[template->rule_count++] = (struct rule){.keep = {.first = fact, .root = keep},
                                                          .text = "reproducible == 0",
                                                          .otherwise = "its sums have an order of their own",
                                                          .last_parameter = -1};
  return HALOTUNE_OK;
}

/* Both texts, and their hash. */
static halotune_status keep_texts(struct template *template, const struct source *yaml, const char *cuda) {
  struct text both = {0};
  template->yaml = strdup(yaml->text);
  template->cuda = strdup(cuda);
  text_add(&both, yaml->text, yaml->length);
  text_add(&both, cuda, strlen(cuda));
  bool ok = template->yaml && template->cuda && text_ok(&both);
  if (ok) template->hash = hash_bytes(both.bytes, both.length);
  text_free(&both);
  return ok ? add_order_rule(template) : fail_memory();
}

/* All that the YAML text says. */
static halotune_status read_yaml(const struct source *yaml, struct template **out) {
  halotune_status status = HALOTUNE_OK;
  *out = NULL;
  struct reader *r = calloc(1, sizeof *r);
  struct template *template = calloc(1, sizeof *template);
  if (!r || !template) status = fail_memory();
  if (status == HALOTUNE_OK) {
    *r = (struct reader){.source = yaml, .template = template};
    status = read_fields(r);
    if (status == HALOTUNE_OK) status = keep_words(r);
    scope_free(&r->scope);
  }
  if (status == HALOTUNE_OK) *out = template;
  else template_free(template);
  free(r);
  return status;
}

halotune_status template_parse(const struct source *yaml, const char *cuda, struct template **out) {
  halotune_status status = read_yaml(yaml, out);
  if (status == HALOTUNE_OK) status = keep_texts(*out, yaml, cuda);
  if (status == HALOTUNE_OK) return status;
  template_free(*out);
  *out = NULL;
  return status;
}

/* NAME.cu beside NAME.yaml. */
static halotune_status read_cuda(const char *yaml_path, char **cuda) {
  struct text path = {0};
  size_t length = 0;
  text_add(&path, yaml_path, strlen(yaml_path));
  const char *extension = strrchr(text_string(&path), '.');
  if (extension) path.length = (size_t)(extension - path.bytes);
  text_printf(&path, ".cu");
  halotune_status status = file_read(text_string(&path), MAX_STENCIL_BYTES, cuda, &length);
  text_free(&path);
  return status;
}

halotune_status template_read(const char *yaml_path, struct template **out) {
  char *text = NULL, *cuda = NULL;
  size_t length;
  *out = NULL;
  halotune_status status = file_read(yaml_path, MAX_STENCIL_BYTES, &text, &length);
  if (status != HALOTUNE_OK) return status;
  struct source source = source_of(yaml_path, text, length);
  status = read_yaml(&source, out);
  if (status == HALOTUNE_OK) status = read_cuda(yaml_path, &cuda);
  if (status == HALOTUNE_OK) status = keep_texts(*out, &source, cuda);
  if (status != HALOTUNE_OK) {
    template_free(*out);
    *out = NULL;
  }
  free(cuda);
  free(text);
  return status;
}

void template_free(struct template *template) {
  if (!template) return;
  free(template->yaml);
  free(template->cuda);
  exprs_free(&template->exprs);
  arena_free(&template->arena);
  free(template);
}
