/* steps.c: reads the fields that say what a time step computes, and what the next step reads. */
#include "stencil/file/stencil_fields.h"

static halotune_status read_iterate_entry(const struct stencil_reader *r, const struct yaml *item,
                                          struct iterate *out) {
  const struct name *from, *to;
  halotune_status status = reader_find_field(r, item->key, item->key_place, &from);
  if (status != HALOTUNE_OK) return status;
  if (item->kind != YAML_TEXT) return reader_fail(r, item->place, "expected the name of an input");
  if ((status = reader_find_field(r, item->text, item->place, &to)) != HALOTUNE_OK) return status;
  if (to->kind != NAME_INPUT)
    return reader_fail(r, item->place, "'%s' is not an input: the next step reads inputs", to->text);
  if (!input_is_whole(r->stencil, to->index)) {
    return reader_fail(r, item->place, "'%s' cannot become '%s', which %s", from->text, to->text,
                       input_is_thin(r->stencil, to->index) ? "lies along some axes only" : "is a mask");
  }
  for (int i = 0; i < r->stencil->iterate_count; i++) {
    if (r->stencil->iterate[i].to == to->index) {
      return reader_fail(r, item->place, "two fields would become the input '%s'", to->text);
    }
  }
  *out = (struct iterate){from->kind == NAME_OUTPUT, from->index, to->index};
  return HALOTUNE_OK;
}

halotune_status field_iterate(struct stencil_reader *r, const struct yaml *node) {
  struct stencil *stencil = r->stencil;
  bool replaced[MAX_FIELDS] = {false};
  halotune_status status =
      entry_check_list(r, node, YAML_MAP, "which output becomes which input, such as {v: u}", MAX_FIELDS);
  if (status != HALOTUNE_OK) return status;
  if (node->count == 0) return reader_fail(r, node->place, "expected at least one output and input, such as {v: u}");
  for (const struct yaml *item = node->first; item; item = item->next) {
    struct iterate *entry = &stencil->iterate[stencil->iterate_count];
    if ((status = read_iterate_entry(r, item, entry)) != HALOTUNE_OK) return status;
    replaced[entry->to] = true;
    stencil->iterate_count++;
  }
  bool output_moves = false;
  const struct iterate *entry = stencil->iterate;
  for (const struct yaml *item = node->first; item; item = item->next, entry++) {
    output_moves = output_moves || entry->from_output;
    if (!entry->from_output && !replaced[entry->from]) {
      return reader_fail(r, item->key_place, "'%s' becomes another input, but no output becomes '%s'", item->key,
                         item->key);
    }
  }
  return output_moves ? HALOTUNE_OK
                      : reader_fail(r, node->place, "no output becomes an input: each step would be the same");
}

halotune_status field_update(struct stencil_reader *r, const struct yaml *node) {
  struct stencil *stencil = r->stencil;
  struct snippet snippet;
  bool assigned[MAX_FIELDS] = {false};
  if (node->kind != YAML_TEXT || node->style == YAML_FOLDED)
    return reader_fail(r, node->place, "expected assignments, on one plain line or as a literal block behind '|'");
  halotune_status status = yaml_snippet(r->source, node, &snippet);
  if (status != HALOTUNE_OK) return status;
  r->scope.dims = stencil->dims;
  for (int axis = 0; axis < stencil->dims; axis++) {
    const int variable = VARIABLE_INDEX_X + axis;
    const struct name name = {.text = variable_names[variable], .kind = NAME_VARIABLE, .index = variable};
    if ((status = scope_add(&r->scope, name)) != HALOTUNE_OK) return status;
  }
  status = parse_update(&snippet, &r->scope, &stencil->arena, &stencil->exprs, &stencil->update);
  if (status != HALOTUNE_OK) return status;
  for (int i = stencil->update.first; i < stencil->update.end; i++) {
    const struct expr *part = &stencil->exprs.nodes[i];
    if (part->kind == EXPR_VARIABLE) stencil->uses_index[part->index - VARIABLE_INDEX_X] = true;
  }
  for (int i = 0; i < stencil->update.count; i++) {
    if (stencil->update.assignments[i].output >= 0) assigned[stencil->update.assignments[i].output] = true;
  }
  for (int i = 0; i < stencil->output_count; i++) {
    if (!assigned[i]) return reader_fail(r, node->key_place, "the output '%s' is never assigned", stencil->outputs[i]);
  }
  return HALOTUNE_OK;
}
