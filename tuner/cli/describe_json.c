/* describe_json.c: a stencil and its analysis as a JSON document. */
#include <stdlib.h>
#include <stdio.h>

#include "tuner/cli/describe.h"

static json_t *names_json(const char *const *names, int count) {
  json_t *list = json_array();
  for (int i = 0; i < count; i++) json_array_append_new(list, json_string(names[i]));
  return list;
}

static json_t *axes_json(const int values[MAX_DIMS]) { return json_pack("[iii]", values[0], values[1], values[2]); }

static json_t *grids_json(const struct stencil *stencil) {
  json_t *list = json_array();
  for (int i = 0; i < stencil->grid_count; i++) {
    json_t *grid = json_array();
    for (int axis = 0; axis < stencil->dims; axis++) json_array_append_new(grid, json_integer(stencil->grids[i].n[axis]));
    json_array_append_new(list, grid);
  }
  return list;
}

static json_t *coefficients_json(const struct stencil *stencil) {
  json_t *map = json_object();
  double *values = malloc(((size_t)stencil->coefficient_count + 1) * sizeof *values);
  if (values && stencil_coefficients(stencil, &stencil->grids[0], values) == HALOTUNE_OK) {
    for (int i = 0; i < stencil->coefficient_count; i++) {
      json_object_set_new(map, stencil->coefficients[i].name, json_real(values[i]));
    }
  }
  free(values);
  return map;
}

static json_t *boundary_json(const struct stencil *stencil) {
  json_t *list = json_array();
  for (int axis = 0; axis < stencil->dims; axis++) {
    json_array_append_new(list, json_string(boundary_names[stencil->boundary[axis]]));
  }
  return list;
}

static json_t *iterate_json(const struct stencil *stencil) {
  json_t *map = json_object();
  for (int i = 0; i < stencil->iterate_count; i++) {
    const struct iterate *entry = &stencil->iterate[i];
    const char *from = entry->from_output ? stencil->outputs[entry->from] : stencil->inputs[entry->from];
    json_object_set_new(map, from, json_string(stencil->inputs[entry->to]));
  }
  return map;
}

/* A number for each element type, by its name. */
static json_t *by_dtype_json(const int values[DTYPE_COUNT]) {
  json_t *map = json_object();
  for (int i = 0; i < DTYPE_COUNT; i++) json_object_set_new(map, dtype_names[i], json_integer(values[i]));
  return map;
}

static json_t *intensity_json(const struct analysis *analysis, double (*intensity)(const struct analysis *, enum dtype)) {
  json_t *map = json_object();
  for (int i = 0; i < DTYPE_COUNT; i++) {
    json_object_set_new(map, dtype_names[i], json_real(intensity(analysis, (enum dtype)i)));
  }
  return map;
}

static json_t *tap_json(const struct stencil *stencil, const struct tap *tap) {
  return json_pack("{s:s, s:o}", "input", stencil->inputs[tap->input], "offset", axes_json(tap->offset));
}

static json_t *tap_list_json(const struct loaded *loaded) {
  json_t *list = json_array();
  for (int i = 0; i < loaded->analysis->tap_count; i++) {
    json_array_append_new(list, tap_json(loaded->stencil, &loaded->analysis->taps[i]));
  }
  return list;
}

static json_t *weights_json(const struct loaded *loaded) {
  json_t *list = json_array();
  for (int i = 0; i < loaded->analysis->weight_count; i++) {
    const struct weight *weight = &loaded->analysis->weights[i];
    json_t *entry = tap_json(loaded->stencil, &weight->tap);
    json_object_set_new(entry, "output", json_string(loaded->stencil->outputs[weight->output]));
    json_object_set_new(entry, "weight", json_string(weight->text));
    json_object_set_new(entry, "value", json_real(weight->value));
    json_array_append_new(list, entry);
  }
  return list;
}

static json_t *dtypes_json(const struct stencil *stencil) {
  json_t *list = json_array();
  for (int i = 0; i < DTYPE_COUNT; i++) {
    if (stencil->dtypes[i]) json_array_append_new(list, json_string(dtype_names[i]));
  }
  return list;
}

static void set_stencil(json_t *json, const struct loaded *loaded) {
  const struct stencil *stencil = loaded->stencil;
  json_object_set_new(json, "name", json_string(stencil->name));
  json_object_set_new(json, "about", json_string(stencil->about));
  json_object_set_new(json, "source", json_string(stencil->origin));
  json_object_set_new(json, "file", json_string(loaded->path));
  json_object_set_new(json, "kind", json_string(kind_names[stencil->kind]));
  json_object_set_new(json, "dims", json_integer(stencil->dims));
  if (stencil->kind == STENCIL_SCAN) {
    json_object_set_new(json, "axis", json_stringn(&axis_names[stencil->axis], 1));
  }
  json_object_set_new(json, "inputs", names_json(stencil->inputs, stencil->input_count));
  json_object_set_new(json, "outputs", names_json(stencil->outputs, stencil->output_count));
  json_object_set_new(json, "coefficients", coefficients_json(stencil));
  if (stencil->kind == STENCIL_STENCIL) json_object_set_new(json, "boundary", boundary_json(stencil));
  json_object_set_new(json, "iterate", iterate_json(stencil));
  json_object_set_new(json, "dtypes", dtypes_json(stencil));
  json_object_set_new(json, "grids", grids_json(stencil));
}

static void set_analysis(json_t *json, const struct loaded *loaded) {
  const struct analysis *analysis = loaded->analysis;
  char hex[HASH_HEX_BYTES];
  hash_hex(analysis->hash, hex);
  json_object_set_new(json, "shape", json_string(shape_names[analysis->shape]));
  json_object_set_new(json, "radius", axes_json(analysis->radius));
  json_object_set_new(json, "radius_low", axes_json(analysis->radius_low));
  json_object_set_new(json, "radius_high", axes_json(analysis->radius_high));
  json_object_set_new(json, "taps", json_integer(analysis->tap_count));
  json_object_set_new(json, "tap_list", tap_list_json(loaded));
  json_object_set_new(json, "linear", json_boolean(analysis->is_linear));
  json_object_set_new(json, "weights", weights_json(loaded));
  json_object_set_new(json, "can_iterate", json_boolean(analysis->can_iterate));
  json_object_set_new(json, "flops_per_point", json_integer(analysis->flops_per_point));
  json_object_set_new(json, "unique_flops_per_point", json_integer(analysis->unique_flops_per_point));
  json_object_set_new(json, "instructions_per_point", json_integer(analysis->instructions_per_point));
  json_object_set_new(json, "bytes_per_point", by_dtype_json(analysis->bytes_per_point));
  json_object_set_new(json, "read_bytes_per_point", by_dtype_json(analysis->read_bytes_per_point));
  json_object_set_new(json, "flops_per_byte", intensity_json(analysis, analysis_intensity));
  json_object_set_new(json, "flops_per_read_byte", intensity_json(analysis, analysis_read_intensity));
  json_object_set_new(json, "hash", json_string(hex));
}

json_t *describe_json(const struct loaded *loaded) {
  json_t *json = json_object();
  if (!json) return NULL;
  set_stencil(json, loaded);
  set_analysis(json, loaded);
  return json;
}

halotune_status print_json(json_t *json) {
  if (!json) return fail_memory();
  int failed = json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
  json_decref(json);
  printf("\n");
  return failed ? fail(HALOTUNE_IO, "standard output: cannot be written") : HALOTUNE_OK;
}
