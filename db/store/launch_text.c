/* launch_text.c: launches, configurations and coefficients to JSON and back. */
#include "db/store/launch_text.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/numbers/number.h"
#include "base/text/json.h"

static json_t *axes_json(const long axes[MAX_DIMS]) {
  json_t *json = json_array();
  for (int axis = 0; axis < MAX_DIMS; axis++) json_add(&json, json_integer(axes[axis]));
  return json;
}

static json_t *maps_json(const struct tensor_maps *maps) {
  json_t *json = json_object(), *fields = json_array();
  for (int i = 0; i < maps->count; i++) json_add(&fields, json_integer(maps->fields[i]));
  json_put(&json, "fields", fields);
  json_put(&json, "box", axes_json(maps->box));
  json_put(&json, "promotion_bytes", json_integer(maps->promotion_bytes));
  return json;
}

static json_t *arguments_json(const struct launch *launch) {
  static const char *const textures[] = {"", "textures", "textures2d"};
  json_t *json = json_array();
  json_add(&json, json_string("inputs"));
  json_add(&json, json_string("outputs"));
  if (launch->carried_count > 0) json_add(&json, json_string("carried"));
  if (launch->passes_textures) json_add(&json, json_string(textures[launch->passes_textures]));
  if (launch->input_maps.count > 0) json_add(&json, json_string("tensor_inputs"));
  if (launch->output_maps.count > 0) json_add(&json, json_string("tensor_outputs"));
  if (launch->workspace_bytes > 0) json_add(&json, json_string("workspace"));
  json_add(&json, json_string("geometry"));
  if (launch->passes_coefficients) json_add(&json, json_string("coefficients"));
  return json;
}

static void write_line(struct text *text, json_t *json) {
  if (!json_write(text, json, JSON_IN_LINE)) text->out_of_memory = true;
  json_decref(json);
}

void launch_write(const struct launch *launch, struct text *text) {
  json_t *json = json_object();
  json_put(&json, "kernel", json_string(launch->kernel));
  json_put(&json, "block", axes_json(launch->block));
  json_put(&json, "grid", axes_json(launch->grid));
  json_put(&json, "shared_bytes", json_integer(launch->shared_bytes));
  json_put(&json, "index_bytes", json_integer(launch->index_bytes));
  json_put(&json, "extents", json_string(launch->literal_extents ? "literal" : "runtime"));
  if (launch->input_maps.count > 0) json_put(&json, "tensor_inputs", maps_json(&launch->input_maps));
  if (launch->output_maps.count > 0) json_put(&json, "tensor_outputs", maps_json(&launch->output_maps));
  if (launch_cluster_blocks(launch) > 1) json_put(&json, "cluster", axes_json(launch->cluster));
  if (launch->overlaps) json_put(&json, "overlap", json_true());
  if (launch->cooperative) json_put(&json, "cooperative", json_true());
  if (launch->steps > 1) json_put(&json, "steps", json_integer(launch->steps));
  if (launch->carried_count > 0) json_put(&json, "carried", json_integer(launch->carried_count));
  if (launch->workspace_bytes > 0) json_put(&json, "workspace_bytes", json_integer(launch->workspace_bytes));
  json_put(&json, "arguments", arguments_json(launch));
  write_line(text, json);
}

void configuration_write(const struct template *template, const struct configuration *configuration,
                         struct text *text) {
  text_add(text, "{", 1);
  for (int i = 0; i < template->parameter_count; i++) {
    const struct parameter *parameter = &template->parameters[i];
    const int choice = configuration->choice[i];
    if (i > 0) text_add(text, ",", 1);
    json_write_string(text, parameter->name);
    text_add(text, ":", 1);
    if (parameter->is_word) json_write_string(text, parameter->words[choice]);
    else json_write_number(text, parameter->values[choice]);
  }
  text_add(text, "}", 1);
}

void coefficients_write(const double *coefficients, int count, struct text *text) {
  json_t *json = json_array();
  for (int i = 0; i < count; i++) json_add(&json, number_json(coefficients[i]));
  write_line(text, json);
}

/* Read a text as one JSON value of a type. The caller releases it with json_decref. */
static halotune_status read_value(const char *text, json_type type, const char *what, json_t **out) {
  halotune_status status = json_read(text, strlen(text), what, out);
  if (status != HALOTUNE_OK || json_typeof(*out) == type) return status;
  json_decref(*out);
  *out = NULL;
  return fail(HALOTUNE_PARSE, "%s: expected %s", what, type == JSON_ARRAY ? "a list" : "an object");
}

static halotune_status read_whole(const json_t *value, const char *what, long low, long high, long *out) {
  if (!json_is_integer(value) || json_integer_value(value) < low || json_integer_value(value) > high) {
    return fail(HALOTUNE_PARSE, "launch: '%s' is not a whole number from %ld to %ld", what, low, high);
  }
  *out = (long)json_integer_value(value);
  return HALOTUNE_OK;
}

static halotune_status read_axes(const json_t *launch, const char *key, long out[MAX_DIMS]) {
  const json_t *axes = json_object_get(launch, key);
  halotune_status status = HALOTUNE_OK;
  if (!json_is_array(axes) || json_array_size(axes) != MAX_DIMS)
    return fail(HALOTUNE_PARSE, "launch: '%s' must be three numbers", key);
  for (size_t i = 0; i < MAX_DIMS && status == HALOTUNE_OK; i++) {
    status = read_whole(json_array_get(axes, i), key, 1, INT_MAX, &out[i]);
  }
  return status;
}

static halotune_status read_kernel(const json_t *value, char out[KERNEL_NAME_BYTES]) {
  const char *name = json_string_value(value);
  size_t length = name ? strlen(name) : 0;
  bool good = length > 0 && length < KERNEL_NAME_BYTES && !isdigit((unsigned char)*name);
  for (size_t i = 0; i < length && good; i++) good = isalnum((unsigned char)name[i]) || name[i] == '_';
  if (!good) return fail(HALOTUNE_PARSE, "launch: 'kernel' is not the name of a kernel");
  memcpy(out, name, length + 1);
  return HALOTUNE_OK;
}

/* Skip the next argument if it has this name. Returns whether it has. */
static bool take_argument(const json_t *list, size_t *at, const char *name) {
  const char *found = json_string_value(json_array_get(list, *at));
  bool same = found && strcmp(found, name) == 0;
  *at += same;
  return same;
}

static halotune_status read_arguments(const json_t *list, struct launch *out) {
  size_t at = 0;
  bool good = json_is_array(list) && take_argument(list, &at, "inputs") && take_argument(list, &at, "outputs");
  good = good && take_argument(list, &at, "carried") == (out->carried_count > 0);
  if (good && take_argument(list, &at, "textures")) out->passes_textures = 1;
  else if (good && take_argument(list, &at, "textures2d")) out->passes_textures = 2;
  /* A launch passes maps exactly if it describes them. */
  good = good && take_argument(list, &at, "tensor_inputs") == (out->input_maps.count > 0);
  good = good && take_argument(list, &at, "tensor_outputs") == (out->output_maps.count > 0);
  good = good && take_argument(list, &at, "workspace") == (out->workspace_bytes > 0);
  good = good && take_argument(list, &at, "geometry");
  out->passes_coefficients = good && take_argument(list, &at, "coefficients");
  if (good && at == json_array_size(list)) return HALOTUNE_OK;
  return fail(HALOTUNE_PARSE, "launch: this Halotune cannot pass these 'arguments'");
}

static halotune_status read_extents(const json_t *value, bool *is_literal) {
  const char *word = json_string_value(value);
  *is_literal = word && strcmp(word, "literal") == 0;
  if (*is_literal || (word && strcmp(word, "runtime") == 0)) return HALOTUNE_OK;
  return fail(HALOTUNE_PARSE, "launch: 'extents' must be runtime or literal");
}

static halotune_status read_fields(const json_t *list, const char *key, struct tensor_maps *out) {
  halotune_status status = HALOTUNE_OK;
  size_t count = json_array_size(list);
  if (count < 1 || count > MAX_FIELDS)
    return fail(HALOTUNE_PARSE, "launch: the 'fields' of '%s' must be a list of 1 to %d fields", key, MAX_FIELDS);
  for (size_t i = 0; i < count && status == HALOTUNE_OK; i++) {
    long field = 0;
    status = read_whole(json_array_get(list, i), "fields", 0, MAX_FIELDS - 1, &field);
    out->fields[i] = (int)field;
  }
  out->count = (int)count;
  return status;
}

static halotune_status read_maps(const json_t *launch, const char *key, struct tensor_maps *out) {
  enum { MEMBERS = 3, MOST_PROMOTION_BYTES = 256 };
  const json_t *maps = json_object_get(launch, key);
  long promotion_bytes = 0;
  if (!maps) return HALOTUNE_OK;
  if (json_object_size(maps) != MEMBERS)
    return fail(HALOTUNE_PARSE, "launch: '%s' must have the members fields, box and promotion_bytes", key);
  halotune_status status = read_fields(json_object_get(maps, "fields"), key, out);
  if (status == HALOTUNE_OK) status = read_axes(maps, "box", out->box);
  if (status == HALOTUNE_OK) {
    status = read_whole(json_object_get(maps, "promotion_bytes"), "promotion_bytes", 0, MOST_PROMOTION_BYTES,
                        &promotion_bytes);
  }
  out->promotion_bytes = (int)promotion_bytes;
  return status;
}

static halotune_status read_steps(const json_t *launch, struct launch *out) {
  const json_t *steps_json = json_object_get(launch, "steps"), *carried_json = json_object_get(launch, "carried");
  long steps = 1, carried = 0;
  halotune_status status = steps_json ? read_whole(steps_json, "steps", 2, LAUNCH_MOST_STEPS, &steps) : HALOTUNE_OK;
  if (status == HALOTUNE_OK && carried_json) status = read_whole(carried_json, "carried", 1, MAX_FIELDS - 1, &carried);
  if (status == HALOTUNE_OK && carried > 0 && steps == 1)
    status = fail(HALOTUNE_PARSE, "launch: 'carried' is only for a launch of several steps");
  out->steps = (int)steps;
  out->carried_count = (int)carried;
  return status;
}

/* Read the blocks of a cluster. No GPU has clusters of more, and products of other numbers overflow. */
static halotune_status read_cluster(const json_t *launch, long out[MAX_DIMS]) {
  enum { MOST_BLOCKS = 1024 };
  double blocks = 1;
  for (int axis = 0; axis < MAX_DIMS; axis++) out[axis] = 1;
  if (!json_object_get(launch, "cluster")) return HALOTUNE_OK;
  halotune_status status = read_axes(launch, "cluster", out);
  for (int axis = 0; axis < MAX_DIMS; axis++) blocks *= (double)out[axis];
  if (status != HALOTUNE_OK || blocks <= MOST_BLOCKS) return status;
  return fail(HALOTUNE_PARSE, "launch: a 'cluster' has at most %d blocks", MOST_BLOCKS);
}

/* Read the members that a launch need not have. */
static halotune_status read_extras(const json_t *launch, struct launch *out) {
  const json_t *overlap = json_object_get(launch, "overlap"), *workspace = json_object_get(launch, "workspace_bytes");
  const json_t *cooperative = json_object_get(launch, "cooperative");
  if (cooperative && !json_is_true(cooperative)) return fail(HALOTUNE_PARSE, "launch: 'cooperative' can only be true");
  if (cooperative && overlap) return fail(HALOTUNE_PARSE, "launch: 'overlap' and 'cooperative' exclude each other");
  out->cooperative = cooperative != NULL;
  if (overlap && !json_is_true(overlap)) return fail(HALOTUNE_PARSE, "launch: 'overlap' can only be true");
  out->overlaps = overlap != NULL;
  halotune_status status = read_cluster(launch, out->cluster);
  if (status == HALOTUNE_OK) status = read_maps(launch, "tensor_inputs", &out->input_maps);
  if (status == HALOTUNE_OK) status = read_maps(launch, "tensor_outputs", &out->output_maps);
  if (status == HALOTUNE_OK) status = read_steps(launch, out);
  if (!workspace || status != HALOTUNE_OK) return status;
  if (overlap) return fail(HALOTUNE_PARSE, "launch: 'overlap' and 'workspace_bytes' exclude each other");
  return read_whole(workspace, "workspace_bytes", 1, LONG_MAX / 2, &out->workspace_bytes);
}

static halotune_status check_members(json_t *launch) {
  static const char *const known[] = {"kernel",  "block",           "grid",          "shared_bytes",   "index_bytes",
                                      "extents", "arguments",       "tensor_inputs", "tensor_outputs", "cluster",
                                      "overlap", "workspace_bytes", "steps",         "carried",        "cooperative"};
  const char *key;
  json_t *value;
  json_object_foreach(launch, key, value) {
    bool found = false;
    for (size_t i = 0; i < COUNT(known); i++) found = found || strcmp(key, known[i]) == 0;
    if (!found) return fail(HALOTUNE_PARSE, "launch: this Halotune does not know '%s'; a newer one wrote it", key);
  }
  return HALOTUNE_OK;
}

halotune_status launch_read(const char *text, struct launch *out) {
  struct launch launch = {.is_stored = true};
  long index_bytes = 0;
  json_t *json;
  halotune_status status = read_value(text, JSON_OBJECT, "launch", &json);
  if (status != HALOTUNE_OK) return status;
  status = check_members(json);
  if (status == HALOTUNE_OK) status = read_kernel(json_object_get(json, "kernel"), launch.kernel);
  if (status == HALOTUNE_OK) status = read_axes(json, "block", launch.block);
  if (status == HALOTUNE_OK) status = read_axes(json, "grid", launch.grid);
  if (status == HALOTUNE_OK) {
    status = read_whole(json_object_get(json, "shared_bytes"), "shared_bytes", 0, INT_MAX, &launch.shared_bytes);
  }
  if (status == HALOTUNE_OK)
    status = read_whole(json_object_get(json, "index_bytes"), "index_bytes", 4, 8, &index_bytes);
  if (status == HALOTUNE_OK && index_bytes != 4 && index_bytes != 8) {
    status = fail(HALOTUNE_PARSE, "launch: 'index_bytes' must be 4 or 8");
  }
  if (status == HALOTUNE_OK) status = read_extents(json_object_get(json, "extents"), &launch.literal_extents);
  if (status == HALOTUNE_OK) status = read_extras(json, &launch);
  if (status == HALOTUNE_OK) status = read_arguments(json_object_get(json, "arguments"), &launch);
  launch.index_bytes = (int)index_bytes;
  if (status == HALOTUNE_OK) *out = launch;
  json_decref(json);
  return status;
}

static bool text_is(const char *text, const char *other, size_t length) {
  return strncmp(text, other, length) == 0 && text[length] == '\0';
}

/* The position of a stored value; -1 if there is none. The template's file may spell the same number in another way. */
static int find_value(const struct parameter *parameter, const struct json_member *member) {
  if (parameter->is_word != member->is_string) return -1;
  for (int i = 0; i < parameter->value_count; i++) {
    if (text_is(parameter->words[i], member->value, member->value_length)) return i;
  }
  const char *end;
  const double number = parameter->is_word ? NAN : number_read(member->value, &end);
  for (int i = 0; i < parameter->value_count && !parameter->is_word; i++) {
    if (parameter->values[i] == number && end == member->value + member->value_length) return i;
  }
  return -1;
}

/* The parameter that a member names; -1 for none. Members mostly stand in the template's order. */
static int find_parameter(const struct template *template, const struct json_member *member, int expected) {
  const bool in_order = expected < template->parameter_count &&
                        text_is(template->parameters[expected].name, member->name, member->name_length);
  return in_order ? expected : template_parameter(template, member->name, member->name_length);
}

/* is_older: parameters that the template does not have are ignored. */
static halotune_status read_configuration(const struct template *template, const char *text, bool is_older,
                                          struct configuration *out) {
  struct configuration configuration = configuration_default(template);
  struct json_member member;
  _Static_assert(MAX_PARAMETERS <= 32, "a bit for each parameter");
  uint32_t given = 0;
  for (int count = 0; json_member_next(&text, &member); count++) {
    const int at = find_parameter(template, &member, count);
    const int value = at < 0 ? -1 : find_value(&template->parameters[at], &member);
    if (at < 0 && is_older) continue;
    if (at < 0) {
      return fail(HALOTUNE_PARSE, "template %s has no parameter '%.*s'", template->name, (int)member.name_length,
                  member.name);
    }
    if (value < 0) {
      return fail(HALOTUNE_PARSE, "template %s: the stored value of %s is not one of its values", template->name,
                  template->parameters[at].name);
    }
    if (given & UINT32_C(1) << at) /* the member stands twice: another reader could take the other value */
      return fail(HALOTUNE_PARSE, "template %s: %s is given twice", template->name, template->parameters[at].name);
    given |= UINT32_C(1) << at;
    configuration.choice[at] = (unsigned char)value;
  }
  if (!json_members_end(text)) return fail(HALOTUNE_PARSE, "parameters: this is not an object of numbers and words");
  *out = configuration;
  return HALOTUNE_OK;
}

halotune_status configuration_read(const struct template *template, const char *text, struct configuration *out) {
  return read_configuration(template, text, false, out);
}

halotune_status configuration_read_older(const struct template *template, const char *text, struct configuration *out) {
  return read_configuration(template, text, true, out);
}

halotune_status configuration_reword(const struct template *template, const char *text, struct text *out) {
  struct configuration configuration;
  const halotune_status status = configuration_read(template, text, &configuration);
  if (status != HALOTUNE_OK) return status;
  configuration_write(template, &configuration, out);
  return text_ok(out) ? HALOTUNE_OK : fail_memory();
}

halotune_status coefficients_read(const char *text, double *values, int most, int *count) {
  json_t *json, *value;
  size_t i;
  halotune_status status = read_value(text, JSON_ARRAY, "coefficients", &json);
  if (status != HALOTUNE_OK) return status;
  *count = (int)json_array_size(json);
  if (json_array_size(json) > (size_t)most) status = fail(HALOTUNE_PARSE, "there are more than %d coefficients", most);
  for (i = 0; i < json_array_size(json) && status == HALOTUNE_OK; i++) {
    value = json_array_get(json, i);
    if (!json_is_number(value)) status = fail(HALOTUNE_PARSE, "a coefficient is not a number");
    else values[i] = json_number_value(value);
  }
  json_decref(json);
  return status;
}
