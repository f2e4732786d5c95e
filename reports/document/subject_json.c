/* subject_json.c: writes the facts of a stencil's text. */
#include "reports/document/subject_json.h"

#include "stencil/file/update_text.h"

/* Find the first weight of a tap. A tap of several outputs has a weight in each. */
static const struct weight *find_weight(const struct analysis *analysis, const struct tap *tap) {
  for (int i = 0; i < analysis->weight_count; i++) {
    const struct tap *other = &analysis->weights[i].tap;
    if (other->input == tap->input && other->offset[0] == tap->offset[0] && other->offset[1] == tap->offset[1] &&
        other->offset[2] == tap->offset[2]) {
      return &analysis->weights[i];
    }
  }
  return NULL;
}

static json_t *taps_json(const struct analysis *analysis) {
  json_t *list = json_array();
  for (int i = 0; i < analysis->tap_count; i++) {
    const struct tap *tap = &analysis->taps[i];
    const struct weight *weight = find_weight(analysis, tap);
    json_t *entry = json_object(), *offset = json_array();
    for (int axis = 0; axis < MAX_DIMS; axis++) json_add(&offset, json_integer(tap->offset[axis]));
    json_put(&entry, "input", json_integer(tap->input));
    json_put(&entry, "offset", offset);
    json_put(&entry, "weight", weight ? text_json(weight->text) : json_null());
    json_put(&entry, "value", weight ? number_json(weight->value) : json_null());
    json_add(&list, entry);
  }
  return list;
}

static json_t *bytes_json(const int bytes[DTYPE_COUNT]) {
  json_t *json = json_object();
  for (int i = 0; i < DTYPE_COUNT; i++) json_put(&json, dtype_names[i], json_integer(bytes[i]));
  return json;
}

static json_t *update_json(const struct stencil *stencil) {
  struct text text = {0};
  json_t *json = describe_update(&text, stencil, "") == HALOTUNE_OK ? text_json(text_string(&text)) : NULL;
  text_free(&text);
  return json;
}

void put_subject(json_t **json, const struct known_stencil *subject) {
  bool is_readable = subject && subject->analysis;
  json_put(json, "is_readable", json_boolean(is_readable));
  if (!is_readable) return;
  const struct stencil *stencil = subject->stencil;
  const struct analysis *analysis = subject->analysis;
  json_t *boundary = json_array(), *radius = json_array();
  for (int axis = 0; axis < stencil->dims; axis++) {
    struct text rules = {0};
    edges_write(&rules, stencil, stencil->boundary[axis], " and ");
    json_add(&boundary, text_json(text_string(&rules)));
    text_free(&rules);
    json_add(&radius, json_integer(analysis->radius[axis]));
  }
  json_put(json, "about", text_json(stencil->about));
  json_put(json, "kind", text_json(kind_names[stencil->kind]));
  json_put(json, "dims", json_integer(stencil->dims));
  json_put(json, "axis", stencil->kind == STENCIL_SCAN ? json_stringn(&axis_names[stencil->axis], 1) : json_null());
  json_put(json, "shape", text_json(shape_names[analysis->shape]));
  json_put(json, "radius", radius);
  json_put(json, "boundary", boundary);
  json_put(json, "inputs", names_json(stencil->inputs, stencil->input_count));
  json_put(json, "outputs", names_json(stencil->outputs, stencil->output_count));
  json_put(json, "taps", taps_json(analysis));
  json_put(json, "update", update_json(stencil));
  json_put(json, "is_linear", json_boolean(analysis->is_linear));
  json_put(json, "flops_per_point", json_integer(analysis->flops_per_point));
  json_put(json, "instructions_per_point", json_integer(analysis->instructions_per_point));
  json_put(json, "grouped_instructions_per_point", json_integer(analysis->grouped_instructions_per_point));
  json_put(json, "bytes_per_point", bytes_json(analysis->bytes_per_point));
  json_put(json, "read_bytes_per_point", bytes_json(analysis->read_bytes_per_point));
  if (analysis->unknown_bytes_per_point[DTYPE_F32] == 0) return;
  json_put(json, "unknown_bytes_per_point", bytes_json(analysis->unknown_bytes_per_point));
  json_put(json, "known_bytes_per_point", bytes_json(analysis->known_bytes_per_point));
}
