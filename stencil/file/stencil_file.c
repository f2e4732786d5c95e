/* stencil_file.c: reads a stencil file, one field after the other. A field is read after those to which it refers. */
#include <stdlib.h>
#include <string.h>

#include "base/files/file.h"
#include "base/memory/array.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "stencil/file/stencil_fields.h"

/* Which forms of a field older versions of templates know: see has_basic_fields in struct stencil. A new field is
 * NEWER. */
enum form { NEWER, BASIC, BASIC_NAMES };

enum need { OPTIONAL, REQUIRED, STENCIL_ONLY, STENCIL_REQUIRED, SCAN_REQUIRED };

/* The fields, in the order in which they are read. */
static const struct field {
  const char *name;
  enum need need;
  field_read *read;
  enum form form;
} fields[] = {
    {"name", REQUIRED, field_name, BASIC},
    {"about", OPTIONAL, field_about, BASIC},
    {"source", OPTIONAL, field_origin, BASIC},
    {"kind", OPTIONAL, field_kind, BASIC},
    {"dims", REQUIRED, field_dims, BASIC},
    {"axis", SCAN_REQUIRED, field_axis, BASIC},
    {"inputs", REQUIRED, field_inputs, BASIC_NAMES},
    {"outputs", REQUIRED, field_outputs, BASIC_NAMES},
    {"along", STENCIL_ONLY, field_along, NEWER},
    {"types", STENCIL_ONLY, field_types, NEWER},
    {"coefficients", STENCIL_ONLY, field_coefficients, BASIC},
    {"boundary", STENCIL_REQUIRED, field_boundary, BASIC},
    {"dtypes", REQUIRED, field_dtypes, BASIC},
    {"grids", REQUIRED, field_grids, BASIC},
    {"iterate", STENCIL_ONLY, field_iterate, BASIC},
    {"update", STENCIL_REQUIRED, field_update, BASIC},
    {"margins", STENCIL_ONLY, field_margins, NEWER},
    {"in_place", STENCIL_ONLY, field_in_place, NEWER},
    {"tolerance", OPTIONAL, field_tolerance, BASIC},
    {"exact", OPTIONAL, field_exact, BASIC},
    {"values", OPTIONAL, field_values, BASIC},
};

/* Whether a field is a list of names and says nothing more about them. */
static bool is_list_of_names(const struct yaml *field) {
  bool is_list = field->kind == YAML_LIST;
  for (const struct yaml *member = field->first; member && is_list; member = member->next)
    is_list = member->kind == YAML_TEXT && !strpbrk(member->text, " :,[]{}()@");
  return is_list;
}

/* Whether the file has only fields that stencils always had, in their first form. */
static bool has_basic_fields(const struct yaml *root) {
  bool is_basic = true;
  for (size_t i = 0; i < COUNT(fields); i++) {
    const struct yaml *node = yaml_find(root, fields[i].name);
    if (node && fields[i].form == NEWER) is_basic = false;
    if (node && fields[i].form == BASIC_NAMES && !is_list_of_names(node)) is_basic = false;
  }
  return is_basic;
}

static halotune_status check_fields(const struct stencil_reader *r) {
  if (r->root->kind != YAML_MAP) return reader_fail(r, r->root->place, "expected fields, such as name: heat");
  for (const struct yaml *item = r->root->first; item; item = item->next) {
    bool known = false;
    struct nearest nearest = nearest_to(item->key, strlen(item->key));
    for (size_t i = 0; i < COUNT(fields); i++) {
      known = known || strcmp(item->key, fields[i].name) == 0;
      nearest_try(&nearest, fields[i].name);
    }
    if (!known)
      return reader_fail(r, item->key_place, "'%s' is not a field of a stencil file%s", item->key, nearest.question);
  }
  return HALOTUNE_OK;
}

static bool is_required(const struct stencil_reader *r, const struct field *field) {
  const bool is_scan = r->stencil->kind == STENCIL_SCAN;
  return field->need == REQUIRED || field->need == (is_scan ? SCAN_REQUIRED : STENCIL_REQUIRED);
}

/* Name all missing fields, so that a file needs one correction. `first` is the first of them. */
static halotune_status fail_missing(const struct stencil_reader *r, const struct field *first) {
  const struct field *missing[COUNT(fields)];
  struct text names = {0};
  int count = 0;
  for (const struct field *field = first; field < fields + COUNT(fields); field++) {
    if (is_required(r, field) && !yaml_find(r->root, field->name)) missing[count++] = field;
  }
  for (int i = 0; i < count; i++)
    text_printf(&names, "%s'%s'", i == 0 ? "" : i == count - 1 ? " and " : ", ", missing[i]->name);
  const halotune_status status = text_ok(&names)
                                     ? reader_fail(r, r->root->place, "the field%s %s %s missing", PLURAL(count),
                                                   text_string(&names), count == 1 ? "is" : "are")
                                     : fail_memory();
  text_free(&names);
  return status;
}

static halotune_status read_field(struct stencil_reader *r, const struct field *field) {
  const struct yaml *node = yaml_find(r->root, field->name);
  bool scan = r->stencil->kind == STENCIL_SCAN;
  bool required = is_required(r, field);
  bool allowed = required || field->need == OPTIONAL || (!scan && field->need == STENCIL_ONLY);
  if (node && !allowed) {
    return reader_fail(r, node->key_place, "a %s has no '%s'", kind_names[r->stencil->kind], field->name);
  }
  if (!node && required) return fail_missing(r, field);
  return node ? field->read(r, node) : HALOTUNE_OK;
}

/* Check that every declared name is used. An unused name is more often a mistake than an intention. */
static halotune_status check_uses(const struct stencil_reader *r) {
  if (r->stencil->kind == STENCIL_SCAN) {
    if (r->stencil->input_count == 1 && r->stencil->output_count == 1) return HALOTUNE_OK;
    return reader_fail(r, r->root->place, "a scan must have exactly one input and one output");
  }
  for (int i = 0; i < r->scope.count; i++) {
    const struct name *name = &r->scope.names[i];
    const struct name *formula_name = scope_find(&r->formula_scope, name->text, strlen(name->text));
    bool used = name->is_used || name->kind == NAME_OUTPUT || name->kind == NAME_VARIABLE ||
                (formula_name && formula_name->is_used);
    if (!used) return reader_fail(r, name->place, "'%s' is declared, but not used", name->text);
  }
  return HALOTUNE_OK;
}

static halotune_status read_all(struct stencil_reader *r) {
  struct yaml *root;
  halotune_status status = yaml_parse(r->source, &r->stencil->arena, &root);
  r->root = root;
  if (status == HALOTUNE_OK) status = check_fields(r);
  if (status == HALOTUNE_OK) r->stencil->has_basic_fields = has_basic_fields(root);
  for (int i = VARIABLE_NX; i < VARIABLE_X && status == HALOTUNE_OK; i++) status = reader_allow_variable(r, i);
  for (size_t i = 0; i < COUNT(fields) && status == HALOTUNE_OK; i++) status = read_field(r, &fields[i]);
  if (status == HALOTUNE_OK && r->stencil->kind == STENCIL_STENCIL) status = boundary_check(r);
  return status == HALOTUNE_OK ? check_uses(r) : status;
}

halotune_status stencil_length_check(const char *name, size_t length) {
  if (length <= MAX_STENCIL_BYTES) return HALOTUNE_OK;
  return fail(HALOTUNE_PARSE, "%s: the text is longer than %d bytes", name, MAX_STENCIL_BYTES);
}

halotune_status stencil_parse(const struct source *source, struct stencil **out) {
  struct stencil_reader r = {.source = source};
  *out = NULL;
  halotune_status status = stencil_length_check(source->name, source->length);
  if (status != HALOTUNE_OK) return status;
  r.stencil = calloc(1, sizeof *r.stencil);
  if (!r.stencil) return fail_memory();
  r.stencil->about = r.stencil->origin = "";
  memset(r.stencil->margins, DEFAULT_MARGIN, sizeof r.stencil->margins);
  status = read_all(&r);
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
