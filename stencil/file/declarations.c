/* declarations.c: reads the fields that give a stencil's name, its number of dimensions, and what it reads and
 * writes. */
#include <string.h>

#include "stencil/file/stencil_fields.h"

static halotune_status read_fields(struct stencil_reader *r, const struct yaml *node, enum name_kind kind,
                                   const char **names, int *count) {
  halotune_status status = entry_check_list(r, node, YAML_LIST, "a list of names, such as [u]", MAX_FIELDS);
  if (status != HALOTUNE_OK) return status;
  if (node->count == 0) return reader_fail(r, node->place, "expected at least one name");
  for (const struct yaml *item = node->first; item; item = item->next) {
    if ((status = entry_text(r, item, "a name", &names[*count])) != HALOTUNE_OK) return status;
    if ((status = reader_declare_name(r, names[*count], kind, *count, item->place)) != HALOTUNE_OK) return status;
    (*count)++;
  }
  return HALOTUNE_OK;
}

halotune_status field_name(struct stencil_reader *r, const struct yaml *node) {
  halotune_status status = entry_text(r, node, "the stencil's name", &r->stencil->name);
  if (status != HALOTUNE_OK) return status;
  const char *error = name_error(node->text, node->length);
  return error ? reader_fail(r, node->place, "'%s' cannot be a stencil's name: %s", node->text, error) : HALOTUNE_OK;
}

halotune_status field_about(struct stencil_reader *r, const struct yaml *node) {
  return entry_line(r, node, &r->stencil->about);
}

halotune_status field_origin(struct stencil_reader *r, const struct yaml *node) {
  return entry_line(r, node, &r->stencil->origin);
}

halotune_status field_kind(struct stencil_reader *r, const struct yaml *node) {
  int kind;
  halotune_status status = entry_word(r, node, "a kind", kind_names, 2, &kind);
  if (status == HALOTUNE_OK) r->stencil->kind = (enum stencil_kind)kind;
  return status;
}

halotune_status field_dims(struct stencil_reader *r, const struct yaml *node) {
  long dims;
  halotune_status status = entry_whole(r, node, "the number of dimensions", 1, MAX_DIMS, &dims);
  if (status == HALOTUNE_OK) r->stencil->dims = (int)dims;
  return status;
}

halotune_status field_axis(struct stencil_reader *r, const struct yaml *node) {
  static const char *const axes[] = {"x", "y", "z"};
  halotune_status status = entry_word(r, node, "the axis of the scan", axes, MAX_DIMS, &r->stencil->axis);
  if (status != HALOTUNE_OK) return status;
  if (r->stencil->axis < r->stencil->dims) return HALOTUNE_OK;
  return reader_fail(r, node->place, "a stencil of %d dimension%s has no %s axis", r->stencil->dims,
                     PLURAL(r->stencil->dims), node->text);
}

halotune_status field_inputs(struct stencil_reader *r, const struct yaml *node) {
  return read_fields(r, node, NAME_INPUT, r->stencil->inputs, &r->stencil->input_count);
}

halotune_status field_outputs(struct stencil_reader *r, const struct yaml *node) {
  return read_fields(r, node, NAME_OUTPUT, r->stencil->outputs, &r->stencil->output_count);
}

halotune_status field_coefficients(struct stencil_reader *r, const struct yaml *node) {
  struct stencil *stencil = r->stencil;
  halotune_status status =
      entry_check_list(r, node, YAML_MAP, "names with default values, such as {c0: 0.5, c1: 0.25}", MAX_COEFFICIENTS);
  if (status != HALOTUNE_OK) return status;
  stencil->coefficients = arena_alloc(&stencil->arena, (size_t)node->count * sizeof *stencil->coefficients);
  if (!stencil->coefficients) return fail_memory();
  for (const struct yaml *item = node->first; item; item = item->next) {
    int index = stencil->coefficient_count;
    struct coefficient *coefficient = &stencil->coefficients[index];
    coefficient->name = item->key;
    if ((status = entry_formula(r, item, "a default value", &coefficient->value)) != HALOTUNE_OK) return status;
    if ((status = reader_declare_name(r, item->key, NAME_COEFFICIENT, index, item->key_place)) != HALOTUNE_OK)
      return status;
    struct name name = {.text = item->key, .kind = NAME_COEFFICIENT, .index = index, .place = item->key_place};
    if ((status = scope_add(&r->formula_scope, name)) != HALOTUNE_OK) return status;
    stencil->coefficient_count++;
  }
  return HALOTUNE_OK;
}
