/* expectations.c: reads the fields for tests: exact solutions, allowed errors, ranges of inputs. */
#include <math.h>
#include <string.h>

#include "stencil/file/stencil_fields.h"

halotune_status field_tolerance(struct stencil_reader *r, const struct yaml *node) {
  const double most = 1e15;
  double units;
  if (entry_is_number(r, node, &units) && units > 0 && units <= most) {
    r->stencil->tolerance = units;
    return HALOTUNE_OK;
  }
  return reader_fail(r, node->place, "expected the allowed error in units of rounding, a number above 0");
}

halotune_status field_values(struct stencil_reader *r, const struct yaml *node) {
  const double most = 1e15;
  halotune_status status =
      entry_check_list(r, node, YAML_MAP, "inputs with a range of values each, such as {u: [0, 1]}", MAX_FIELDS);
  if (status != HALOTUNE_OK) return status;
  for (const struct yaml *item = node->first; item; item = item->next) {
    const struct name *field;
    if ((status = reader_find_field(r, item->key, item->key_place, &field)) != HALOTUNE_OK) return status;
    if (field->kind != NAME_INPUT) return reader_fail(r, item->key_place, "'%s' is not an input", field->text);
    struct value_range *range = &r->stencil->values[field->index];
    bool ok = item->kind == YAML_LIST && item->count == 2 && entry_is_number(r, item->first, &range->low) &&
              entry_is_number(r, item->first->next, &range->high);
    if (!ok || range->low >= range->high || range->low < -most || range->high > most) {
      return reader_fail(r, item->place, "expected the least and the largest value, such as [0, 1]");
    }
    const bool is_u8 = r->stencil->input_types[field->index] == INPUT_U8;
    if (is_u8 && (range->low < 0 || range->high > MOST_U8 || floor(range->low) < range->low ||
                  floor(range->high) < range->high)) {
      return reader_fail(r, item->place, "a mask has whole numbers from 0 to %d", MOST_U8);
    }
  }
  return HALOTUNE_OK;
}

halotune_status field_exact(struct stencil_reader *r, const struct yaml *node) {
  struct stencil *stencil = r->stencil;
  halotune_status status =
      entry_check_list(r, node, YAML_MAP, "fields with formulas, such as {u: sin(2*pi*x)}", 2 * MAX_FIELDS);
  for (int axis = 0; axis < MAX_DIMS && axis < stencil->dims && status == HALOTUNE_OK; axis++) {
    status = reader_allow_variable(r, VARIABLE_X + axis);
  }
  /* A coefficient may have this name, which is reserved nowhere else. */
  const char *steps = variable_names[VARIABLE_STEPS];
  if (status == HALOTUNE_OK && !scope_find(&r->formula_scope, steps, strlen(steps)))
    status = reader_allow_variable(r, VARIABLE_STEPS);
  if (status != HALOTUNE_OK) return status;
  for (const struct yaml *item = node->first; item; item = item->next) {
    const struct name *field;
    struct exact *exact = &stencil->exact[stencil->exact_count];
    if ((status = reader_find_field(r, item->key, item->key_place, &field)) != HALOTUNE_OK) return status;
    *exact = (struct exact){.is_output = field->kind == NAME_OUTPUT, .field = field->index};
    if ((status = entry_formula(r, item, "a formula", &exact->value)) != HALOTUNE_OK) return status;
    stencil->exact_count++;
  }
  for (int i = 0; i < stencil->input_count; i++) {
    bool found = false;
    for (int k = 0; k < stencil->exact_count; k++) {
      found = found || (!stencil->exact[k].is_output && stencil->exact[k].field == i);
    }
    if (!found) return reader_fail(r, node->key_place, "the input '%s' has no formula here", stencil->inputs[i]);
  }
  return HALOTUNE_OK;
}
