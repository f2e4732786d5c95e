/* stencil_file.c: reads a stencil file, with one function for each field. The order of the fields matters: a field is
 * read after those that it refers to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/nearest.h"
#include "stencil/expression/scan.h"
#include "stencil/file/stencil.h"
#include "stencil/file/yaml.h"

struct reader {
  const struct source *source;
  const struct yaml *root;
  struct stencil *stencil;
  struct scope scope;         /* what an update may name: inputs, outputs, coefficients */
  struct scope formula_scope; /* what a formula may name: nx, ny, nz, pi, coefficients, and for `exact` also x, y, z */
};

#define read_fail(r, place, ...) source_fail((r)->source, place, __VA_ARGS__)

static halotune_status read_text(const struct reader *r, const struct yaml *node, const char *what, const char **out) {
  if (node->kind != YAML_TEXT) return read_fail(r, node->place, "expected %s", what);
  *out = arena_text(&r->stencil->arena, node->text, node->length);
  return *out ? HALOTUNE_OK : fail_memory();
}

/* Read a text of one line for people. The line end of a YAML block is dropped. */
static halotune_status read_line(const struct reader *r, const struct yaml *node, const char **out) {
  if (node->kind != YAML_TEXT) return read_fail(r, node->place, "expected a text");
  size_t length = node->length;
  while (length > 0 && node->text[length - 1] == '\n') length--;
  if (memchr(node->text, '\n', length)) return read_fail(r, node->place, "expected a text of one line");
  *out = arena_text(&r->stencil->arena, node->text, length);
  return *out ? HALOTUNE_OK : fail_memory();
}

static halotune_status read_whole(const struct reader *r, const struct yaml *node, const char *what, long low,
                                  long high, long *out) {
  bool digits = node->kind == YAML_TEXT && node->length > 0 && strspn(node->text, "0123456789") == node->length;
  errno = 0;
  *out = digits ? strtol(node->text, NULL, 10) : 0;
  if (digits && errno == 0 && *out >= low && *out <= high) return HALOTUNE_OK;
  return read_fail(r, node->place, "expected %s, a whole number from %ld to %ld", what, low, high);
}

/* Read one of `count` words; `out` receives its position. */
static halotune_status read_word(const struct reader *r, const struct yaml *node, const char *what,
                                 const char *const *words, int count, int *out) {
  struct text list = {0};
  for (int i = 0; i < count; i++) {
    if (node->kind == YAML_TEXT && strcmp(node->text, words[i]) == 0) {
      text_free(&list);
      *out = i;
      return HALOTUNE_OK;
    }
    text_printf(&list, "%s%s", i == 0 ? "" : i == count - 1 ? " or " : ", ", words[i]);
  }
  halotune_status status = read_fail(r, node->place, "expected %s: %s", what, text_string(&list));
  text_free(&list);
  return status;
}

static halotune_status check_list(const struct reader *r, const struct yaml *node, enum yaml_kind kind,
                                  const char *what, int most) {
  if (node->kind != kind) return read_fail(r, node->place, "expected %s", what);
  if (node->count > most) return read_fail(r, node->place, "at most %d entries can stand here", most);
  return HALOTUNE_OK;
}

static halotune_status read_formula(struct reader *r, const struct yaml *node, const char *what, struct formula *out) {
  struct snippet snippet;
  if (node->kind != YAML_TEXT) return read_fail(r, node->place, "expected %s, a number or a formula", what);
  halotune_status status = yaml_snippet(r->source, node, &snippet);
  if (status != HALOTUNE_OK) return status;
  return parse_formula(&snippet, &r->formula_scope, &r->stencil->exprs, out);
}

/* Declare a name of the file. It must be well formed and new. */
static halotune_status declare(struct reader *r, const char *text, enum name_kind kind, int index, struct place place) {
  const char *error = name_error(text, strlen(text));
  if (error) return read_fail(r, place, "'%s' cannot be a name here: %s", text, error);
  const struct name *other = scope_find(&r->scope, text, strlen(text));
  if (other) return read_fail(r, place, "'%s' is already declared in line %d", text, other->place.line);
  return scope_add(&r->scope, (struct name){.text = text, .kind = kind, .index = index, .place = place});
}

/* Allow formulas to use a variable such as nx. */
static halotune_status declare_variable(struct reader *r, int variable) {
  return scope_add(&r->formula_scope,
                   (struct name){.text = variable_names[variable], .kind = NAME_VARIABLE, .index = (int)variable});
}

static halotune_status read_fields(struct reader *r, const struct yaml *node, enum name_kind kind, const char **names,
                                   int *count) {
  halotune_status status = check_list(r, node, YAML_LIST, "a list of names, such as [u]", MAX_FIELDS);
  if (status != HALOTUNE_OK) return status;
  if (node->count == 0) return read_fail(r, node->place, "expected at least one name");
  for (const struct yaml *item = node->first; item; item = item->next) {
    if ((status = read_text(r, item, "a name", &names[*count])) != HALOTUNE_OK) return status;
    if ((status = declare(r, names[*count], kind, *count, item->place)) != HALOTUNE_OK) return status;
    (*count)++;
  }
  return HALOTUNE_OK;
}

static halotune_status read_name(struct reader *r, const struct yaml *node) {
  halotune_status status = read_text(r, node, "the stencil's name", &r->stencil->name);
  if (status != HALOTUNE_OK) return status;
  const char *error = name_error(node->text, node->length);
  return error ? read_fail(r, node->place, "'%s' cannot be a stencil's name: %s", node->text, error) : HALOTUNE_OK;
}

static halotune_status read_about(struct reader *r, const struct yaml *node) {
  return read_line(r, node, &r->stencil->about);
}

static halotune_status read_origin(struct reader *r, const struct yaml *node) {
  return read_line(r, node, &r->stencil->origin);
}

static halotune_status read_kind(struct reader *r, const struct yaml *node) {
  int kind;
  halotune_status status = read_word(r, node, "a kind", kind_names, 2, &kind);
  if (status == HALOTUNE_OK) r->stencil->kind = (enum stencil_kind)kind;
  return status;
}

static halotune_status read_dims(struct reader *r, const struct yaml *node) {
  long dims;
  halotune_status status = read_whole(r, node, "the number of dimensions", 1, MAX_DIMS, &dims);
  if (status == HALOTUNE_OK) r->stencil->dims = (int)dims;
  return status;
}

static halotune_status read_axis(struct reader *r, const struct yaml *node) {
  static const char *const axes[] = {"x", "y", "z"};
  halotune_status status = read_word(r, node, "the axis of the scan", axes, MAX_DIMS, &r->stencil->axis);
  if (status != HALOTUNE_OK) return status;
  if (r->stencil->axis < r->stencil->dims) return HALOTUNE_OK;
  return read_fail(r, node->place, "a stencil of %d dimension%s has no %s axis", r->stencil->dims,
                   r->stencil->dims == 1 ? "" : "s", node->text);
}

static halotune_status read_inputs(struct reader *r, const struct yaml *node) {
  return read_fields(r, node, NAME_INPUT, r->stencil->inputs, &r->stencil->input_count);
}

static halotune_status read_outputs(struct reader *r, const struct yaml *node) {
  return read_fields(r, node, NAME_OUTPUT, r->stencil->outputs, &r->stencil->output_count);
}

static halotune_status read_coefficients(struct reader *r, const struct yaml *node) {
  struct stencil *stencil = r->stencil;
  halotune_status status =
      check_list(r, node, YAML_MAP, "names with default values, such as {c0: 0.5, c1: 0.25}", MAX_COEFFICIENTS);
  if (status != HALOTUNE_OK) return status;
  stencil->coefficients = arena_alloc(&stencil->arena, (size_t)node->count * sizeof *stencil->coefficients);
  if (!stencil->coefficients) return fail_memory();
  for (const struct yaml *item = node->first; item; item = item->next) {
    int index = stencil->coefficient_count;
    struct coefficient *coefficient = &stencil->coefficients[index];
    coefficient->name = item->key;
    if ((status = read_formula(r, item, "a default value", &coefficient->value)) != HALOTUNE_OK) return status;
    if ((status = declare(r, item->key, NAME_COEFFICIENT, index, item->key_place)) != HALOTUNE_OK) return status;
    struct name name = {.text = item->key, .kind = NAME_COEFFICIENT, .index = index, .place = item->key_place};
    if ((status = scope_add(&r->formula_scope, name)) != HALOTUNE_OK) return status;
    stencil->coefficient_count++;
  }
  return HALOTUNE_OK;
}

static halotune_status read_boundary(struct reader *r, const struct yaml *node) {
  enum { BOUNDARIES = BOUNDARY_ZERO + 1 };
  struct stencil *stencil = r->stencil;
  const struct yaml *item = node;
  if (node->kind == YAML_LIST && node->count != stencil->dims) {
    return read_fail(r, node->place, "expected a list of %d rule%s, one for each axis, or one word for all",
                     stencil->dims, PLURAL(stencil->dims));
  }
  if (node->kind == YAML_LIST) item = node->first;
  for (int axis = 0; axis < stencil->dims; axis++) {
    int rule;
    halotune_status status = read_word(r, item, "a boundary rule", boundary_names, BOUNDARIES, &rule);
    if (status != HALOTUNE_OK) return status;
    stencil->boundary[axis] = (enum boundary)rule;
    if (node->kind == YAML_LIST) item = item->next;
  }
  return HALOTUNE_OK;
}

static halotune_status read_dtypes(struct reader *r, const struct yaml *node) {
  halotune_status status = check_list(r, node, YAML_LIST, "a list of element types, such as [f32, f64]", DTYPE_COUNT);
  if (status != HALOTUNE_OK) return status;
  if (node->count == 0) return read_fail(r, node->place, "expected at least one element type");
  for (const struct yaml *item = node->first; item; item = item->next) {
    int dtype;
    if ((status = read_word(r, item, "an element type", dtype_names, DTYPE_COUNT, &dtype)) != HALOTUNE_OK)
      return status;
    if (r->stencil->dtypes[dtype]) return read_fail(r, item->place, "'%s' stands here twice", item->text);
    r->stencil->dtypes[dtype] = true;
  }
  return HALOTUNE_OK;
}

static halotune_status read_grid(struct reader *r, const struct yaml *node, struct grid *grid) {
  static const char *const examples[MAX_DIMS] = {"[1048576]", "[4096, 4096]", "[256, 256, 256]"};
  *grid = (struct grid){{1, 1, 1}};
  if (node->kind != YAML_LIST || node->count != r->stencil->dims) {
    return read_fail(r, node->place, "expected a list of %d number%s of points, one for each axis, such as %s",
                     r->stencil->dims, PLURAL(r->stencil->dims), examples[r->stencil->dims - 1]);
  }
  const struct yaml *item = node->first;
  for (int axis = 0; axis < r->stencil->dims; axis++, item = item->next) {
    halotune_status status = read_whole(r, item, "a number of points", 1, GRID_MOST_AXIS_POINTS, &grid->n[axis]);
    if (status != HALOTUNE_OK) return status;
  }
  int wrong;
  if (stencil_check_grid(r->stencil, grid, &wrong) == HALOTUNE_OK) return HALOTUNE_OK;
  const struct yaml *culprit = wrong < 0 ? node : node->first;
  for (int axis = 0; axis < wrong; axis++) culprit = culprit->next;
  return read_fail(r, culprit->place, "%s", fail_text());
}

static halotune_status read_grids(struct reader *r, const struct yaml *node) {
  struct stencil *stencil = r->stencil;
  halotune_status status = check_list(r, node, YAML_LIST, "a list of grids, such as [[256, 256, 256]]", MAX_GRIDS);
  if (status != HALOTUNE_OK) return status;
  if (node->count == 0) return read_fail(r, node->place, "expected at least one grid");
  double *values = malloc(((size_t)stencil->coefficient_count + 1) * sizeof *values);
  if (!values) return fail_memory();
  for (const struct yaml *item = node->first; item && status == HALOTUNE_OK; item = item->next) {
    struct grid *grid = &stencil->grids[stencil->grid_count++];
    status = read_grid(r, item, grid);
    /* What a default is worth depends on the grid; one that is no number there is an error of the file. */
    if (status == HALOTUNE_OK && (status = stencil_coefficients(stencil, grid, values)) == HALOTUNE_ARGUMENT) {
      status = read_fail(r, item->place, "%s", fail_text());
    }
  }
  free(values);
  return status;
}

/* Whether the node is one number, with or without a sign. */
static bool is_number(const struct reader *r, const struct yaml *node, double *out) {
  struct snippet snippet;
  struct token token, end;
  if (node->kind != YAML_TEXT || yaml_snippet(r->source, node, &snippet) != HALOTUNE_OK) return false;
  struct scanner scanner = scanner_at_start(&snippet);
  if (scan(&scanner, &token) != HALOTUNE_OK) return false;
  const bool negative = token_is(&token, "-");
  if (negative && scan(&scanner, &token) != HALOTUNE_OK) return false;
  *out = negative ? -token.number : token.number;
  return token.kind == TOKEN_NUMBER && scan(&scanner, &end) == HALOTUNE_OK && end.kind == TOKEN_END;
}

static halotune_status read_tolerance(struct reader *r, const struct yaml *node) {
  const double most = 1e15;
  double units;
  if (is_number(r, node, &units) && units > 0 && units <= most) {
    r->stencil->tolerance = units;
    return HALOTUNE_OK;
  }
  return read_fail(r, node->place, "expected the allowed error in units of rounding, a number above 0");
}

/* Find the input or output with this name. */
static halotune_status find_field(const struct reader *r, const char *text, struct place place,
                                  const struct name **out) {
  *out = scope_find(&r->scope, text, strlen(text));
  if (*out && ((*out)->kind == NAME_INPUT || (*out)->kind == NAME_OUTPUT)) return HALOTUNE_OK;
  return read_fail(r, place, "'%s' is neither an input nor an output", text);
}

static halotune_status read_values(struct reader *r, const struct yaml *node) {
  const double most = 1e15;
  halotune_status status =
      check_list(r, node, YAML_MAP, "inputs with a range of values each, such as {u: [0, 1]}", MAX_FIELDS);
  if (status != HALOTUNE_OK) return status;
  for (const struct yaml *item = node->first; item; item = item->next) {
    const struct name *field;
    if ((status = find_field(r, item->key, item->key_place, &field)) != HALOTUNE_OK) return status;
    if (field->kind != NAME_INPUT) return read_fail(r, item->key_place, "'%s' is not an input", field->text);
    struct value_range *range = &r->stencil->values[field->index];
    bool ok = item->kind == YAML_LIST && item->count == 2 && is_number(r, item->first, &range->low) &&
              is_number(r, item->first->next, &range->high);
    if (!ok || range->low >= range->high || range->low < -most || range->high > most) {
      return read_fail(r, item->place, "expected the least and the largest value, such as [0, 1]");
    }
  }
  return HALOTUNE_OK;
}

static halotune_status read_iterate_entry(const struct reader *r, const struct yaml *item, struct iterate *out) {
  const struct name *from, *to;
  halotune_status status = find_field(r, item->key, item->key_place, &from);
  if (status != HALOTUNE_OK) return status;
  if (item->kind != YAML_TEXT) return read_fail(r, item->place, "expected the name of an input");
  if ((status = find_field(r, item->text, item->place, &to)) != HALOTUNE_OK) return status;
  if (to->kind != NAME_INPUT)
    return read_fail(r, item->place, "'%s' is not an input: the next step reads inputs", to->text);
  for (int i = 0; i < r->stencil->iterate_count; i++) {
    if (r->stencil->iterate[i].to == to->index) {
      return read_fail(r, item->place, "two fields would become the input '%s'", to->text);
    }
  }
  *out = (struct iterate){from->kind == NAME_OUTPUT, from->index, to->index};
  return HALOTUNE_OK;
}

static halotune_status read_iterate(struct reader *r, const struct yaml *node) {
  struct stencil *stencil = r->stencil;
  bool replaced[MAX_FIELDS] = {false};
  halotune_status status =
      check_list(r, node, YAML_MAP, "which output becomes which input, such as {v: u}", MAX_FIELDS);
  if (status != HALOTUNE_OK) return status;
  if (node->count == 0) return read_fail(r, node->place, "expected at least one output and input, such as {v: u}");
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
      return read_fail(r, item->key_place, "'%s' moves on, but nothing takes its place", item->key);
    }
  }
  return output_moves ? HALOTUNE_OK
                      : read_fail(r, node->place, "no output becomes an input: each step would be the same");
}

static halotune_status read_update(struct reader *r, const struct yaml *node) {
  struct stencil *stencil = r->stencil;
  struct snippet snippet;
  bool assigned[MAX_FIELDS] = {false};
  bool plain = node->kind == YAML_TEXT && (node->style == YAML_LITERAL || node->style == YAML_PLAIN);
  if (!plain)
    return read_fail(r, node->place, "expected assignments, on one plain line or as a literal block behind '|'");
  halotune_status status = yaml_snippet(r->source, node, &snippet);
  if (status != HALOTUNE_OK) return status;
  r->scope.dims = stencil->dims;
  status = parse_update(&snippet, &r->scope, &stencil->arena, &stencil->exprs, &stencil->update);
  if (status != HALOTUNE_OK) return status;
  for (int i = 0; i < stencil->update.count; i++) {
    if (stencil->update.assignments[i].output >= 0) assigned[stencil->update.assignments[i].output] = true;
  }
  for (int i = 0; i < stencil->output_count; i++) {
    if (!assigned[i]) return read_fail(r, node->key_place, "the output '%s' is never assigned", stencil->outputs[i]);
  }
  return HALOTUNE_OK;
}

static halotune_status read_exact(struct reader *r, const struct yaml *node) {
  struct stencil *stencil = r->stencil;
  halotune_status status =
      check_list(r, node, YAML_MAP, "fields with formulas, such as {u: sin(2*pi*x)}", 2 * MAX_FIELDS);
  for (int axis = 0; axis < MAX_DIMS && axis < stencil->dims && status == HALOTUNE_OK; axis++) {
    status = declare_variable(r, VARIABLE_X + axis);
  }
  if (status != HALOTUNE_OK) return status;
  for (const struct yaml *item = node->first; item; item = item->next) {
    const struct name *field;
    struct exact *exact = &stencil->exact[stencil->exact_count];
    if ((status = find_field(r, item->key, item->key_place, &field)) != HALOTUNE_OK) return status;
    *exact = (struct exact){.is_output = field->kind == NAME_OUTPUT, .field = field->index};
    if ((status = read_formula(r, item, "a formula", &exact->value)) != HALOTUNE_OK) return status;
    stencil->exact_count++;
  }
  for (int i = 0; i < stencil->input_count; i++) {
    bool found = false;
    for (int k = 0; k < stencil->exact_count; k++) {
      found = found || (!stencil->exact[k].is_output && stencil->exact[k].field == i);
    }
    if (!found) return read_fail(r, node->key_place, "the input '%s' has no formula here", stencil->inputs[i]);
  }
  return HALOTUNE_OK;
}

enum need { OPTIONAL, REQUIRED, STENCIL_ONLY, STENCIL_REQUIRED, SCAN_REQUIRED };

/* The fields, in the order in which they are read. */
static const struct field {
  const char *name;
  enum need need;
  halotune_status (*read)(struct reader *r, const struct yaml *node);
} fields[] = {
    {"name", REQUIRED, read_name},
    {"about", OPTIONAL, read_about},
    {"source", OPTIONAL, read_origin},
    {"kind", OPTIONAL, read_kind},
    {"dims", REQUIRED, read_dims},
    {"axis", SCAN_REQUIRED, read_axis},
    {"inputs", REQUIRED, read_inputs},
    {"outputs", REQUIRED, read_outputs},
    {"coefficients", STENCIL_ONLY, read_coefficients},
    {"boundary", STENCIL_REQUIRED, read_boundary},
    {"dtypes", REQUIRED, read_dtypes},
    {"grids", REQUIRED, read_grids},
    {"iterate", STENCIL_ONLY, read_iterate},
    {"update", STENCIL_REQUIRED, read_update},
    {"tolerance", OPTIONAL, read_tolerance},
    {"exact", OPTIONAL, read_exact},
    {"values", OPTIONAL, read_values},
};

static halotune_status check_fields(const struct reader *r) {
  if (r->root->kind != YAML_MAP) return read_fail(r, r->root->place, "expected fields, such as name: heat");
  for (const struct yaml *item = r->root->first; item; item = item->next) {
    bool known = false;
    struct nearest nearest = nearest_to(item->key, strlen(item->key));
    for (size_t i = 0; i < COUNT(fields); i++) {
      known = known || strcmp(item->key, fields[i].name) == 0;
      nearest_try(&nearest, fields[i].name);
    }
    if (!known)
      return read_fail(r, item->key_place, "'%s' is not a field of a stencil file%s", item->key, nearest.question);
  }
  return HALOTUNE_OK;
}

static halotune_status read_field(struct reader *r, const struct field *field) {
  const struct yaml *node = yaml_find(r->root, field->name);
  bool scan = r->stencil->kind == STENCIL_SCAN;
  bool required = field->need == REQUIRED || (scan ? field->need == SCAN_REQUIRED : field->need == STENCIL_REQUIRED);
  bool allowed = required || field->need == OPTIONAL || (!scan && field->need == STENCIL_ONLY);
  if (node && !allowed) {
    return read_fail(r, node->key_place, "a %s has no '%s'", kind_names[r->stencil->kind], field->name);
  }
  if (!node && required) return read_fail(r, r->root->place, "the field '%s' is missing", field->name);
  return node ? field->read(r, node) : HALOTUNE_OK;
}

/* Check that every declared name is used. An unused name is more often a mistake than an intention. */
static halotune_status check_uses(const struct reader *r) {
  if (r->stencil->kind == STENCIL_SCAN) {
    if (r->stencil->input_count == 1 && r->stencil->output_count == 1) return HALOTUNE_OK;
    return read_fail(r, r->root->place, "a scan has one input and one output");
  }
  for (int i = 0; i < r->scope.count; i++) {
    const struct name *name = &r->scope.names[i];
    const struct name *formula_name = scope_find(&r->formula_scope, name->text, strlen(name->text));
    bool used = name->is_used || name->kind == NAME_OUTPUT || (formula_name && formula_name->is_used);
    if (!used) return read_fail(r, name->place, "'%s' is declared, but not used", name->text);
  }
  return HALOTUNE_OK;
}

static halotune_status read_all(struct reader *r) {
  struct yaml *root;
  halotune_status status = yaml_parse(r->source, &r->stencil->arena, &root);
  r->root = root;
  if (status == HALOTUNE_OK) status = check_fields(r);
  for (int i = VARIABLE_NX; i < VARIABLE_X && status == HALOTUNE_OK; i++) status = declare_variable(r, i);
  for (size_t i = 0; i < COUNT(fields) && status == HALOTUNE_OK; i++) status = read_field(r, &fields[i]);
  return status == HALOTUNE_OK ? check_uses(r) : status;
}

halotune_status stencil_parse(const struct source *source, struct stencil **out) {
  struct reader r = {.source = source};
  *out = NULL;
  r.stencil = calloc(1, sizeof *r.stencil);
  if (!r.stencil) return fail_memory();
  r.stencil->about = r.stencil->origin = "";
  halotune_status status = read_all(&r);
  scope_free(&r.scope);
  scope_free(&r.formula_scope);
  if (status == HALOTUNE_OK) *out = r.stencil;
  else stencil_free(r.stencil);
  return status;
}

halotune_status stencil_read(const char *path, struct stencil **out) {
  char *text = NULL;
  size_t length;
  *out = NULL;
  halotune_status status = file_read(path, MAX_STENCIL_BYTES, &text, &length);
  if (status != HALOTUNE_OK) return status;
  struct source source = source_of(path, text, length);
  status = stencil_parse(&source, out);
  free(text);
  return status;
}
