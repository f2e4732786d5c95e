/* input_fields.c: reads which inputs lie along some axes only, and which are masks. These fields are read before the
 * update, because an input has one offset for each of its axes. */
#include <string.h>

#include "stencil/file/stencil_fields.h"

/* Find the input that an entry is about. */
static halotune_status find_input(struct stencil_reader *r, const struct yaml *item, struct name **out) {
  *out = scope_find(&r->scope, item->key, strlen(item->key));
  if (*out && (*out)->kind == NAME_INPUT) return HALOTUNE_OK;
  return reader_fail(r, item->key_place, "'%s' is not an input", item->key);
}

/* Read the name of one axis, which must follow those before it in the order x, y, z. */
static halotune_status add_axis(const struct stencil_reader *r, const struct yaml *item, unsigned *axes) {
  for (int axis = 0; axis < r->stencil->dims && item->kind == YAML_TEXT; axis++) {
    if (item->text[0] != axis_names[axis] || item->text[1] != '\0') continue;
    const unsigned bit = 1U << axis;
    if (*axes >= bit) return reader_fail(r, item->place, "expected each axis once, in the order x, y, z");
    *axes |= bit;
    return HALOTUNE_OK;
  }
  return reader_fail(r, item->place, "expected an axis of a stencil of %d dimension%s: %.*s", r->stencil->dims,
                     PLURAL(r->stencil->dims), 3 * r->stencil->dims - 2, "x, y, z");
}

static halotune_status read_axes(struct stencil_reader *r, const struct yaml *item) {
  struct name *input;
  unsigned axes = 0;
  const unsigned all = (1U << r->stencil->dims) - 1;
  halotune_status status = find_input(r, item, &input);
  if (status == HALOTUNE_OK && item->kind != YAML_LIST) status = add_axis(r, item, &axes);
  for (const struct yaml *axis = item->first; axis && item->kind == YAML_LIST && status == HALOTUNE_OK;
       axis = axis->next) {
    status = add_axis(r, axis, &axes);
  }
  if (status != HALOTUNE_OK) return status;
  if (axes == 0) return reader_fail(r, item->place, "expected at least one axis; a constant is a coefficient");
  if (axes == all) {
    return reader_fail(r, item->place, "an input that `along` does not name lies along all axes: remove '%s'",
                       item->key);
  }
  input->axes = r->stencil->input_axes[input->index] = axes;
  return HALOTUNE_OK;
}

halotune_status field_along(struct stencil_reader *r, const struct yaml *node) {
  halotune_status status = entry_check_list(
      r, node, YAML_MAP, "inputs with the axes along which they lie, such as {sponge: x, depth: [x, y]}", MAX_FIELDS);
  for (const struct yaml *item = node->first; item && status == HALOTUNE_OK; item = item->next) {
    status = read_axes(r, item);
  }
  return status;
}

halotune_status field_types(struct stencil_reader *r, const struct yaml *node) {
  halotune_status status =
      entry_check_list(r, node, YAML_MAP, "inputs with the type of their elements, such as {solid: u8}", MAX_FIELDS);
  for (const struct yaml *item = node->first; item && status == HALOTUNE_OK; item = item->next) {
    struct name *input;
    if ((status = find_input(r, item, &input)) != HALOTUNE_OK) return status;
    if (item->kind != YAML_TEXT || strcmp(item->text, input_type_names[INPUT_U8]) != 0) {
      return reader_fail(r, item->place,
                         "expected u8, whole numbers from 0 to 255: other inputs have the types of `dtypes`");
    }
    r->stencil->input_types[input->index] = INPUT_U8;
  }
  return status;
}
