/* template_reader.c: reads expressions and members of maps, and declares names. */
#include "stencil/template/template_reader.h"

#include <string.h>

#include "stencil/template/template_names.h"

halotune_status reader_formula(struct reader *r, const struct yaml *node, struct formula *out) {
  struct snippet snippet;
  if (!node || node->kind != YAML_TEXT)
    return reader_fail(r, node ? node->place : r->root->place, "expected an expression");
  halotune_status status = yaml_snippet(r->source, node, &snippet);
  return status == HALOTUNE_OK ? parse_rule(&snippet, &r->scope, &r->template->exprs, out) : status;
}

halotune_status reader_axes(struct reader *r, const struct yaml *list, struct formula out[MAX_DIMS]) {
  halotune_status status = HALOTUNE_OK;
  if (list->kind != YAML_LIST || list->count != MAX_DIMS)
    return reader_fail(r, list->place, "expected three expressions, for x, y and z");
  const struct yaml *item = list->first;
  for (int axis = 0; axis < MAX_DIMS && status == HALOTUNE_OK; axis++, item = item->next) {
    status = reader_formula(r, item, &out[axis]);
  }
  return status;
}

halotune_status reader_need(const struct reader *r, const struct yaml *map, const char *key, enum yaml_kind kind,
                            const struct yaml **out) {
  static const char *const kinds[] = {
      [YAML_TEXT] = "one text", [YAML_LIST] = "a list, such as [1, 2]", [YAML_MAP] = "fields, such as name: value"};
  *out = yaml_find(map, key);
  if (!*out) return reader_fail(r, map->place, "the field '%s' is missing", key);
  if ((*out)->kind != kind) return reader_fail(r, (*out)->place, "expected %s for '%s'", kinds[kind], key);
  return HALOTUNE_OK;
}

halotune_status reader_check_keys(const struct reader *r, const struct yaml *map, const char *const *known,
                                  size_t count) {
  for (const struct yaml *item = map->first; item; item = item->next) {
    bool found = false;
    for (size_t i = 0; i < count && !found; i++) found = strcmp(item->key, known[i]) == 0;
    if (found) continue;
    struct nearest nearest = nearest_to(item->key, strlen(item->key));
    for (size_t i = 0; i < count; i++) nearest_try(&nearest, known[i]);
    const bool is_formula = strpbrk(item->key, "()"); /* the rest of a formula that YAML has cut at a comma */
    return reader_fail(r, item->key_place, "'%s' is not a field that is allowed here%s", item->key,
                       is_formula ? "; between { and } put a formula with ',' in quotes" : nearest.question);
  }
  return HALOTUNE_OK;
}

halotune_status reader_check_about(const struct reader *r, const struct yaml *about) {
  const char *error = about_error(about->text, about->length);
  return error ? reader_fail(r, about->place, "this text cannot be an 'about': %s", error) : HALOTUNE_OK;
}

/* What a name that is already in the scope means. */
static const char *meaning_of(const struct reader *r, const struct name *name) {
  if (name->kind != NAME_VARIABLE) return "a definition";
  if (name->index < FACT_COUNT) return "a fact";
  return name->index < FACT_COUNT + r->template->parameter_count ? "a parameter" : "a word that a parameter can have";
}

halotune_status reader_declare(struct reader *r, struct name name) {
  const struct name *other = scope_find(&r->scope, name.text, strlen(name.text));
  if (!other) return scope_add(&r->scope, name);
  const bool is_fact = other->kind == NAME_VARIABLE && other->index < FACT_COUNT;
  return reader_fail(r, name.place, "'%s' already means something else: it is %s%s%s", name.text, meaning_of(r, other),
                     is_fact ? ": " : "", is_fact ? fact_rows[other->index].about : "");
}
