/* boundary_fields.c: reads the fields `boundary` and `margins` of a stencil file. */
#include <string.h>

#include "base/memory/array.h"
#include "stencil/file/boundary.h"
#include "stencil/file/stencil_fields.h"

/* Read a value in place of a word: a number, or the name of a coefficient. Leaves `found` false for anything else. */
static void read_value(struct stencil_reader *r, const struct yaml *node, struct edge *out, bool *found) {
  struct name *name = node->kind == YAML_TEXT ? scope_find(&r->scope, node->text, node->length) : NULL;
  *out = (struct edge){.rule = BOUNDARY_VALUE, .coefficient = -1};
  *found = true;
  if (name && name->kind == NAME_COEFFICIENT) {
    out->coefficient = name->index;
    name->is_used = true;
  } else if (!entry_is_number(r, node, &out->number)) *found = false;
  if (*found && out->coefficient < 0 && out->number == 0) *out = (struct edge){.rule = BOUNDARY_ZERO};
}

/* Words for rules that other programs use, and what to write here. */
static const struct {
  const char *other, *remedy;
} other_words[] = {
    {"mirror-node", "mirror_node"},
    {"mirror_face", "mirror"},
    {"odd-mirror", "odd_mirror"},
    {"reflect", "mirror_node"},
    {"reflecting", "mirror, or odd_mirror for a field that changes its sign at the wall"},
    {"wall", "mirror, or odd_mirror for a field that changes its sign at the wall"},
    {"symmetric", "mirror"},
    {"even", "mirror"},
    {"neumann", "mirror"},
    {"no_flux", "mirror"},
    {"zero_gradient", "mirror"},
    {"insulated", "mirror"},
    {"antisymmetric", "odd_mirror"},
    {"odd", "odd_mirror"},
    {"no_slip", "odd_mirror"},
    {"wrap", "periodic"},
    {"cyclic", "periodic"},
    {"nearest", "clamp"},
    {"edge", "clamp"},
    {"outflow", "clamp"},
    {"open", "clamp"},
    {"fixed", "keep"},
    {"constant", "the number itself"},
    {"dirichlet", "the number itself, or a coefficient"},
    {"robin", "mirror, and the value beyond the wall as a choice in the update (docs/boundaries.md, Robin)"},
    {"absorbing", "zero, and a sponge into the update (docs/boundaries.md, Absorbing)"},
    {"sponge", "zero, and a sponge into the update (docs/boundaries.md, Absorbing)"},
    {"none", "skip"},
};

/* Fail for a word that is not a rule, and say what to write in its place. */
static halotune_status fail_edge(struct stencil_reader *r, const struct yaml *node) {
  int rule;
  for (size_t i = 0; i < COUNT(other_words) && node->kind == YAML_TEXT; i++) {
    if (strcmp(node->text, other_words[i].other) != 0) continue;
    return reader_fail(r, node->place, "'%s' is not a boundary rule here: write %s", node->text, other_words[i].remedy);
  }
  if (node->kind == YAML_MAP) {
    return reader_fail(r, node->place, "write the rules of the low and the high end as a list, such as [mirror, zero]");
  }
  if (node->kind == YAML_TEXT && strpbrk(node->text, "*/+(")) {
    return reader_fail(r, node->place, "a rule can be a number or a coefficient: give the formula to a coefficient");
  }
  return entry_word(r, node, "a number, a coefficient or a boundary rule", boundary_names, BOUNDARY_VALUE, &rule);
}

static halotune_status read_edge(struct stencil_reader *r, const struct yaml *node, struct edge *out) {
  bool is_value;
  for (int i = 0; i < BOUNDARY_VALUE && node->kind == YAML_TEXT; i++) {
    if (strcmp(node->text, boundary_names[i]) != 0) continue;
    *out = (struct edge){.rule = (enum boundary)i};
    return HALOTUNE_OK;
  }
  read_value(r, node, out, &is_value);
  return is_value ? HALOTUNE_OK : fail_edge(r, node);
}

/* Read the rules of an axis: one for both ends, or a list of two. */
static halotune_status read_edges(struct stencil_reader *r, const struct yaml *node, struct edge out[SIDES]) {
  const bool is_list = node->kind == YAML_LIST;
  if (is_list && node->count != SIDES) {
    return reader_fail(r, node->place, "expected two rules, for the low and the high end of the axis, or one for both");
  }
  const struct yaml *item = is_list ? node->first : node;
  for (int side = 0; side < SIDES; side++) {
    halotune_status status = read_edge(r, item, &out[side]);
    if (status != HALOTUNE_OK) return status;
    if (is_list) item = item->next;
  }
  if (edge_equal(&out[SIDE_LOW], &out[SIDE_HIGH])) return HALOTUNE_OK;
  for (int side = 0; side < SIDES; side++) {
    if (!edge_is_periodic(&out[side])) continue;
    return reader_fail(r, node->place, "'%s' joins both ends of an axis: write it for both",
                       boundary_names[out[side].rule]);
  }
  return HALOTUNE_OK;
}

/* Fail for a key that other programs use for one end of an axis. */
static halotune_status check_end_word(const struct stencil_reader *r, const struct yaml *item) {
  static const char *const words[] = {"low",   "high",  "left", "right", "bottom", "top",  "west", "east", "south",
                                      "north", "front", "back", "xmin",  "xmax",   "ymin", "ymax", "zmin", "zmax"};
  for (size_t i = 0; i < COUNT(words) && !scope_find(&r->scope, item->key, strlen(item->key)); i++) {
    if (strcmp(item->key, words[i]) != 0) continue;
    return reader_fail(r, item->key_place,
                       "'%s' is not an axis: write the rules of the low and the high end of an axis as a list, such as "
                       "{x: [mirror, zero]}",
                       item->key);
  }
  return HALOTUNE_OK;
}

/* Read a key that names an axis. */
static halotune_status read_axis(const struct stencil_reader *r, const struct yaml *item, int *out) {
  for (*out = 0; *out < r->stencil->dims; (*out)++) {
    if (item->key[0] == axis_names[*out] && item->key[1] == '\0') return HALOTUNE_OK;
  }
  const halotune_status status = check_end_word(r, item);
  if (status != HALOTUNE_OK) return status;
  return reader_fail(r, item->key_place, "'%s' is not an axis of a stencil of %d dimension%s", item->key,
                     r->stencil->dims, PLURAL(r->stencil->dims));
}

static bool is_axis(const char *key) { return strchr(axis_names, key[0]) && key[0] != '\0' && key[1] == '\0'; }

/* Read the rules that an input has in place of those of the axes. */
static halotune_status read_input(struct stencil_reader *r, const struct yaml *node) {
  const struct name *field;
  struct stencil *stencil = r->stencil;
  halotune_status status = reader_find_field(r, node->key, node->key_place, &field);
  if (status != HALOTUNE_OK) return status;
  if (field->kind != NAME_INPUT) {
    return reader_fail(r, node->key_place,
                       "'%s' is an output: taps read inputs; `margins` says where an output is left out", node->key);
  }
  if (node->kind != YAML_MAP) return reader_fail(r, node->place, "expected rules by axis, such as {x: odd_mirror}");
  for (const struct yaml *item = node->first; item && status == HALOTUNE_OK; item = item->next) {
    int axis;
    if ((status = read_axis(r, item, &axis)) != HALOTUNE_OK) return status;
    struct edge *edges = stencil->input_boundary[field->index][axis];
    if ((status = read_edges(r, item, edges)) != HALOTUNE_OK) return status;
    for (int side = 0; side < SIDES; side++) {
      const struct edge *common = &stencil->boundary[axis][side];
      const struct edge *wrong = edge_leaves_out(common) || edge_is_periodic(common) ? common : &edges[side];
      if (edge_equal(common, &edges[side]) || !(edge_leaves_out(wrong) || edge_is_periodic(wrong))) continue;
      return reader_fail(r, item->place, "'%s' holds for all inputs or for none", boundary_names[wrong->rule]);
    }
  }
  return status;
}

/* `keep` writes the input that an output becomes. */
static halotune_status check_keep(const struct stencil_reader *r) {
  const struct stencil *stencil = r->stencil;
  const struct yaml *node = yaml_find(r->root, "boundary");
  bool keeps = false;
  for (int axis = 0; axis < stencil->dims; axis++) {
    for (int side = 0; side < SIDES; side++) keeps = keeps || stencil->boundary[axis][side].rule == BOUNDARY_KEEP;
  }
  for (int output = 0; output < stencil->output_count && keeps; output++) {
    bool has_input = false;
    for (int i = 0; i < stencil->iterate_count; i++) {
      has_input = has_input || (stencil->iterate[i].from_output && stencil->iterate[i].from == output);
    }
    if (has_input) continue;
    return reader_fail(
        r, node->place,
        "'keep' writes the values of the input that an output becomes, but `iterate` names no input for '%s'",
        stencil->outputs[output]);
  }
  return HALOTUNE_OK;
}

halotune_status boundary_check(struct stencil_reader *r) {
  const struct yaml *grids = yaml_find(r->root, "grids");
  const struct yaml *item = grids->first;
  halotune_status status = check_keep(r);
  for (int i = 0; i < r->stencil->grid_count && status == HALOTUNE_OK; i++, item = item->next) {
    int wrong;
    if (stencil_check_grid(r->stencil, &r->stencil->grids[i], &wrong) == HALOTUNE_OK) continue;
    const struct yaml *culprit = item->first;
    for (int axis = 0; axis < wrong; axis++) culprit = culprit->next;
    status = reader_fail(r, culprit->place, "%s", fail_text());
  }
  return status;
}

static halotune_status read_axes(struct stencil_reader *r, const struct yaml *node) {
  bool is_given[MAX_DIMS] = {false};
  halotune_status status = HALOTUNE_OK;
  for (const struct yaml *item = node->first; item && status == HALOTUNE_OK; item = item->next) {
    int axis;
    if ((status = check_end_word(r, item)) != HALOTUNE_OK) return status;
    if (!is_axis(item->key)) continue;
    if ((status = read_axis(r, item, &axis)) != HALOTUNE_OK) return status;
    is_given[axis] = true;
    status = read_edges(r, item, r->stencil->boundary[axis]);
  }
  for (int axis = 0; axis < r->stencil->dims && status == HALOTUNE_OK; axis++) {
    if (!is_given[axis]) status = reader_fail(r, node->place, "the rule of %c is missing", axis_names[axis]);
  }
  return status;
}

/* The text of a rule in an error message. */
static const char *rule_word(const struct yaml *node) { return node->kind == YAML_TEXT ? node->text : "..."; }

static halotune_status read_list(struct stencil_reader *r, const struct yaml *node) {
  struct stencil *stencil = r->stencil;
  const bool is_list = node->kind == YAML_LIST;
  if (is_list && node->count == SIDES && stencil->dims == 1) {
    return reader_fail(r, node->place,
                       "a list has one rule for each axis: for the low and the high end of x write {x: [%s, %s]}",
                       rule_word(node->first), rule_word(node->first->next));
  }
  if (is_list && node->count != stencil->dims) {
    return reader_fail(r, node->place, "expected a list of %d rule%s, one for each axis, or one word for all",
                       stencil->dims, PLURAL(stencil->dims));
  }
  const struct yaml *item = is_list ? node->first : node;
  for (int axis = 0; axis < stencil->dims; axis++) {
    halotune_status status = read_edges(r, item, stencil->boundary[axis]);
    if (status != HALOTUNE_OK) return status;
    if (is_list) item = item->next;
  }
  return HALOTUNE_OK;
}

halotune_status field_boundary(struct stencil_reader *r, const struct yaml *node) {
  struct stencil *stencil = r->stencil;
  halotune_status status = node->kind == YAML_MAP ? read_axes(r, node) : read_list(r, node);
  for (int i = 0; i < stencil->input_count; i++) {
    memcpy(stencil->input_boundary[i], stencil->boundary, sizeof stencil->boundary);
  }
  if (node->kind != YAML_MAP) return status;
  for (const struct yaml *item = node->first; item && status == HALOTUNE_OK; item = item->next) {
    if (!is_axis(item->key)) status = read_input(r, item);
  }
  return status;
}

/* Read how many points of an axis an output leaves out: one number for both ends, or a list of two. */
static halotune_status read_margin(struct stencil_reader *r, const struct yaml *node, int output, int axis) {
  const struct yaml *item = node->kind == YAML_LIST ? node->first : node;
  if (node->kind == YAML_LIST && node->count != SIDES) {
    return reader_fail(r, node->place,
                       "expected two numbers, for the low and the high end of the axis, or one for both");
  }
  for (int side = 0; side < SIDES; side++) {
    long margin;
    int reach;
    halotune_status status = entry_whole(r, item, "a number of points", 0, MAX_RADIUS, &margin);
    if (status == HALOTUNE_OK) status = boundary_output_reach(r->stencil, output, axis, (enum edge_side)side, &reach);
    if (status != HALOTUNE_OK) return status;
    const bool leaves_out = edge_leaves_out(&r->stencil->boundary[axis][side]);
    if (margin > 0 && !leaves_out) {
      return reader_fail(r, item->place, "points are left out at ends whose rule is skip or keep; write 0 at others");
    }
    if (margin < reach && leaves_out) {
      return reader_fail(r, item->place, "taps of '%s' reach %d point%s beyond: leave out at least as many",
                         r->stencil->outputs[output], reach, PLURAL(reach));
    }
    r->stencil->margins[output][axis][side] = (int)margin;
    if (node->kind == YAML_LIST) item = item->next;
  }
  return HALOTUNE_OK;
}

halotune_status field_margins(struct stencil_reader *r, const struct yaml *node) {
  halotune_status status = entry_check_list(
      r, node, YAML_MAP, "outputs with the points that they leave out, such as {ex: {y: 1, z: [1, 0]}}", MAX_FIELDS);
  for (const struct yaml *item = node->first; item && status == HALOTUNE_OK; item = item->next) {
    const struct name *field;
    if ((status = reader_find_field(r, item->key, item->key_place, &field)) != HALOTUNE_OK) return status;
    if (field->kind != NAME_OUTPUT) {
      return reader_fail(r, item->key_place, "'%s' is an input: only outputs are left out at some points", item->key);
    }
    if (item->kind != YAML_MAP) {
      return reader_fail(r, item->place, "expected numbers of points by axis, such as {y: 1, z: [1, 0]}");
    }
    for (const struct yaml *entry = item->first; entry && status == HALOTUNE_OK; entry = entry->next) {
      int axis;
      if ((status = read_axis(r, entry, &axis)) == HALOTUNE_OK) status = read_margin(r, entry, field->index, axis);
    }
  }
  return status;
}
