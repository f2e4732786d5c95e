/* stencil_json.c: writes a stencil and its analysis, member by member. */
#include "tuner/cli/output/stencil_json.h"

#include <stdlib.h>

#include "stencil/file/grid_text.h"
#include "stencil/file/update_text.h"

static json_t *axes_json(const int values[MAX_DIMS]) { return json_pack("[iii]", values[0], values[1], values[2]); }

static json_t *grids_json(const struct stencil *stencil) {
  json_t *list = json_array();
  for (int i = 0; i < stencil->grid_count; i++) json_add(&list, grid_json(&stencil->grids[i], stencil->dims));
  return list;
}

static json_t *coefficients_json(const struct stencil *stencil) {
  json_t *map = json_object();
  double *values = malloc(((size_t)stencil->coefficient_count + 1) * sizeof *values);
  bool ok = values && stencil_coefficients(stencil, &stencil->grids[0], values) == HALOTUNE_OK;
  for (int i = 0; i < stencil->coefficient_count; i++) {
    json_put(&map, stencil->coefficients[i].name, ok ? number_json(values[i]) : NULL);
  }
  free(values);
  return map;
}

/* A word, a number or the name of a coefficient. */
static json_t *edge_json(const struct stencil *stencil, const struct edge *edge) {
  struct text text = {0};
  if (edge->rule == BOUNDARY_VALUE && edge->coefficient < 0) return number_json(edge->number);
  edge_write(&text, stencil, edge);
  json_t *json = text_json(text_string(&text));
  text_free(&text);
  return json;
}

/* The rule of both ends of an axis, or a list of two. */
static json_t *edges_json(const struct stencil *stencil, const struct edge edges[SIDES]) {
  json_t *list = json_array();
  if (edge_equal(&edges[SIDE_LOW], &edges[SIDE_HIGH])) {
    json_decref(list);
    return edge_json(stencil, &edges[SIDE_LOW]);
  }
  for (int side = 0; side < SIDES; side++) json_add(&list, edge_json(stencil, &edges[side]));
  return list;
}

static json_t *boundary_json(const struct stencil *stencil) {
  json_t *list = json_array();
  for (int axis = 0; axis < stencil->dims; axis++) json_add(&list, edges_json(stencil, stencil->boundary[axis]));
  return list;
}

/* The rules of inputs that differ from those of the axes. */
static json_t *input_boundary_json(const struct stencil *stencil) {
  json_t *map = json_object();
  for (int i = 0; i < stencil->input_count; i++) {
    json_t *axes = json_object();
    for (int axis = 0; axis < stencil->dims; axis++) {
      const struct edge *edges = stencil->input_boundary[i][axis], *usual = stencil->boundary[axis];
      const char name[] = {axis_names[axis], '\0'};
      if (edge_equal(&edges[SIDE_LOW], &usual[SIDE_LOW]) && edge_equal(&edges[SIDE_HIGH], &usual[SIDE_HIGH])) continue;
      json_put(&axes, name, edges_json(stencil, edges));
    }
    if (json_object_size(axes) > 0) json_put(&map, stencil->inputs[i], axes);
    else json_decref(axes);
  }
  return map;
}

/* For each output, the points that it leaves out at the two ends of each axis. */
static json_t *margins_json(const struct stencil *stencil, const struct analysis *analysis) {
  json_t *map = json_object();
  for (int output = 0; output < stencil->output_count; output++) {
    json_t *axes = json_array();
    for (int axis = 0; axis < stencil->dims; axis++) {
      json_t *ends = json_array();
      for (int side = 0; side < SIDES; side++) {
        json_add(&ends, json_integer(margin_of(stencil, analysis, output, axis, (enum edge_side)side)));
      }
      json_add(&axes, ends);
    }
    json_put(&map, stencil->outputs[output], axes);
  }
  return map;
}

/* Put the members that only some files have: rules of single inputs, and margins of outputs. */
static void put_exceptions(json_t **json, const struct stencil *stencil, const struct analysis *analysis) {
  json_t *inputs = input_boundary_json(stencil);
  if (json_object_size(inputs) > 0) json_put(json, "input_boundary", inputs);
  else json_decref(inputs);
  if (analysis_has_masks(analysis, stencil)) json_put(json, "margins", margins_json(stencil, analysis));
}

static json_t *in_place_json(const struct stencil *stencil) {
  json_t *json = json_object();
  for (int i = 0; i < stencil->in_place_count; i++) {
    const struct in_place *entry = &stencil->in_place[i];
    json_put(&json, stencil->outputs[entry->output], text_json(stencil->inputs[entry->input]));
  }
  return json;
}

static json_t *iterate_json(const struct stencil *stencil) {
  json_t *map = json_object();
  for (int i = 0; i < stencil->iterate_count; i++) {
    const struct iterate *entry = &stencil->iterate[i];
    const char *from = entry->from_output ? stencil->outputs[entry->from] : stencil->inputs[entry->from];
    json_put(&map, from, text_json(stencil->inputs[entry->to]));
  }
  return map;
}

const char *exact_name(const struct stencil *stencil, const struct exact *exact) {
  return exact->is_output ? stencil->outputs[exact->field] : stencil->inputs[exact->field];
}

static json_t *exact_json(const struct stencil *stencil) {
  json_t *map = json_object();
  for (int i = 0; i < stencil->exact_count; i++) {
    const struct exact *exact = &stencil->exact[i];
    struct text text = {0};
    bool ok = describe_formula(&text, stencil, exact->value) == HALOTUNE_OK;
    json_put(&map, exact_name(stencil, exact), ok ? text_json(text_string(&text)) : NULL);
    text_free(&text);
  }
  return map;
}

static json_t *values_json(const struct stencil *stencil) {
  json_t *map = json_object();
  for (int i = 0; i < stencil->input_count; i++) {
    const struct value_range *range = &stencil->values[i];
    if (range->low == range->high) continue;
    json_t *pair = json_array();
    json_add(&pair, number_json(range->low));
    json_add(&pair, number_json(range->high));
    json_put(&map, stencil->inputs[i], pair);
  }
  return map;
}

/* A number for each element type, by its name. */
static json_t *by_dtype_json(const int values[DTYPE_COUNT]) {
  json_t *map = json_object();
  for (int i = 0; i < DTYPE_COUNT; i++) json_put(&map, dtype_names[i], json_integer(values[i]));
  return map;
}

static json_t *intensity_json(const struct analysis *analysis,
                              double (*intensity)(const struct analysis *, enum dtype)) {
  json_t *map = json_object();
  for (int i = 0; i < DTYPE_COUNT; i++) json_put(&map, dtype_names[i], number_json(intensity(analysis, (enum dtype)i)));
  return map;
}

static json_t *tap_json(const struct stencil *stencil, const struct tap *tap) {
  json_t *json = json_object();
  json_put(&json, "input", text_json(stencil->inputs[tap->input]));
  json_put(&json, "offset", axes_json(tap->offset));
  return json;
}

static json_t *tap_list_json(const struct stencil *stencil, const struct analysis *analysis) {
  json_t *list = json_array();
  for (int i = 0; i < analysis->tap_count; i++) {
    json_add(&list, tap_json(stencil, &analysis->taps[i]));
  }
  return list;
}

static json_t *weights_json(const struct stencil *stencil, const struct analysis *analysis) {
  json_t *list = json_array();
  for (int i = 0; i < analysis->weight_count; i++) {
    const struct weight *weight = &analysis->weights[i];
    json_t *entry = tap_json(stencil, &weight->tap);
    json_put(&entry, "output", text_json(stencil->outputs[weight->output]));
    json_put(&entry, "weight", text_json(weight->text));
    json_put(&entry, "value", number_json(weight->value));
    json_add(&list, entry);
  }
  return list;
}

static json_t *dtypes_json(const struct stencil *stencil) {
  json_t *list = json_array();
  for (int i = 0; i < DTYPE_COUNT; i++) {
    if (stencil->dtypes[i]) json_add(&list, text_json(dtype_names[i]));
  }
  return list;
}

static void put_stencil(json_t **json, const char *path, const struct stencil *stencil,
                        const struct analysis *analysis) {
  json_put(json, "name", text_json(stencil->name));
  json_put(json, "about", text_json(stencil->about));
  json_put(json, "source", text_json(stencil->origin));
  json_put(json, "file", text_json(path));
  json_put(json, "kind", text_json(kind_names[stencil->kind]));
  json_put(json, "dims", json_integer(stencil->dims));
  if (stencil->kind == STENCIL_SCAN) json_put(json, "axis", json_stringn(&axis_names[stencil->axis], 1));
  json_put(json, "inputs", names_json(stencil->inputs, stencil->input_count));
  json_put(json, "outputs", names_json(stencil->outputs, stencil->output_count));
  json_put(json, "coefficients", coefficients_json(stencil));
  if (stencil->kind == STENCIL_STENCIL) {
    json_put(json, "boundary", boundary_json(stencil));
    put_exceptions(json, stencil, analysis);
  }
  json_put(json, "iterate", iterate_json(stencil));
  if (stencil->in_place_count > 0) json_put(json, "in_place", in_place_json(stencil));
  json_put(json, "dtypes", dtypes_json(stencil));
  json_put(json, "grids", grids_json(stencil));
  json_put(json, "exact", exact_json(stencil));
  json_put(json, "values", values_json(stencil));
  json_put(json, "tolerance", stencil->tolerance > 0 ? number_json(stencil->tolerance) : json_null());
}

static void put_analysis(json_t **json, const struct stencil *stencil, const struct analysis *analysis) {
  char hex[IDENTITY_HEX_BYTES];
  identity_hex(analysis->hash, hex);
  json_put(json, "shape", text_json(shape_names[analysis->shape]));
  json_put(json, "radius", axes_json(analysis->radius));
  json_put(json, "radius_low", axes_json(analysis->radius_low));
  json_put(json, "radius_high", axes_json(analysis->radius_high));
  json_put(json, "taps", json_integer(analysis->tap_count));
  json_put(json, "tap_list", tap_list_json(stencil, analysis));
  json_put(json, "linear", json_boolean(analysis->is_linear));
  json_put(json, "weights", weights_json(stencil, analysis));
  json_put(json, "can_iterate", json_boolean(analysis->can_iterate));
  json_put(json, "flops_per_point", json_integer(analysis->flops_per_point));
  json_put(json, "unique_flops_per_point", json_integer(analysis->unique_flops_per_point));
  json_put(json, "instructions_per_point", json_integer(analysis->instructions_per_point));
  json_put(json, "grouped_instructions_per_point", json_integer(analysis->grouped_instructions_per_point));
  json_put(json, "bytes_per_point", by_dtype_json(analysis->bytes_per_point));
  json_put(json, "read_bytes_per_point", by_dtype_json(analysis->read_bytes_per_point));
  bool is_iterated = analysis->unknown_bytes_per_point[DTYPE_F32] > 0;
  json_put(json, "unknown_bytes_per_point",
           is_iterated ? by_dtype_json(analysis->unknown_bytes_per_point) : json_null());
  json_put(json, "known_bytes_per_point", is_iterated ? by_dtype_json(analysis->known_bytes_per_point) : json_null());
  json_put(json, "flops_per_byte", intensity_json(analysis, analysis_intensity));
  json_put(json, "flops_per_read_byte", intensity_json(analysis, analysis_read_intensity));
  json_put(json, "hash", text_json(hex));
}

json_t *stencil_json(const char *path, const struct stencil *stencil, const struct analysis *analysis) {
  json_t *json = json_object();
  put_stencil(&json, path, stencil, analysis);
  put_analysis(&json, stencil, analysis);
  return json;
}
