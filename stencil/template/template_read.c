/* template_read.c: reads a template's two files into one struct. The other template_*.c files read its fields. */
#include "stencil/template/template_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/files/data_file.h"
#include "base/files/file.h"
#include "base/files/path.h"
#include "base/memory/array.h"
#include "base/text/utf8.h"
#include "stencil/template/template_hash.h"
#include "stencil/template/template_launch.h"
#include "stencil/template/template_parameters.h"
#include "stencil/template/template_rules.h"
#include "stencil/template/template_starts.h"

static halotune_status name_read(struct reader *r) {
  const struct yaml *name, *about;
  halotune_status status = reader_need(r, r->root, "name", YAML_TEXT, &name);
  if (status == HALOTUNE_OK) status = reader_need(r, r->root, "about", YAML_TEXT, &about);
  if (status != HALOTUNE_OK) return status;
  const char *error = name_error(name->text, name->length);
  if (error) return reader_fail(r, name->place, "'%s' cannot be a template's name: %s", name->text, error);
  r->template->name = name->text;
  r->template->about = about->text;
  return reader_check_about(r, about);
}

/* Read `define` if the file has it, and add the names to the scope. A definition may use those above it. It is copied
 * to each place that names it, so that each formula contains all nodes that it needs. */
static halotune_status read_definitions(struct reader *r) {
  const struct yaml *map = yaml_find(r->root, "define");
  halotune_status status = HALOTUNE_OK;
  if (!map) return HALOTUNE_OK;
  if (map->kind != YAML_MAP)
    return reader_fail(r, map->place, "expected definitions, such as tile_y: block_y*points_y");
  for (const struct yaml *item = map->first; item && status == HALOTUNE_OK; item = item->next) {
    const char *error = name_error(item->key, strlen(item->key));
    if (error) return reader_fail(r, item->key_place, "'%s' cannot be defined: %s", item->key, error);
    status = reader_declare(r, (struct name){.text = item->key, .kind = NAME_LATER, .place = item->key_place});
  }
  for (const struct yaml *item = map->first; item && status == HALOTUNE_OK; item = item->next) {
    struct formula formula;
    status = reader_formula(r, item, &formula);
    if (status != HALOTUNE_OK) break;
    struct name *name = scope_find(&r->scope, item->key, strlen(item->key));
    name->kind = NAME_DEFINITION;
    name->definition = formula;
  }
  return status;
}

static halotune_status check_definitions(const struct reader *r) {
  for (int i = 0; i < r->scope.count; i++) {
    const struct name *name = &r->scope.names[i];
    if (name->kind != NAME_DEFINITION || name->is_used) continue;
    return reader_fail(r, name->place, "'%s' is defined, but no formula uses it", name->text);
  }
  return HALOTUNE_OK;
}

static halotune_status read_fields(struct reader *r) {
  static const char *const keys[] = {
      "name",           "about",        "parameters",      "common",          "define",      "rules",  "block",
      "grid",           "shared_bytes", "workspace_bytes", "alignment_bytes", "sums",        "access", "tensor_inputs",
      "tensor_outputs", "cluster",      "overlap",         "steps",           "cooperative", "starts", "unsteady"};
  struct source common_source;
  struct reader common = {0};
  struct yaml *root;
  halotune_status status = yaml_parse(r->source, &r->template->arena, &root);
  if (status != HALOTUNE_OK) return status;
  r->root = root;
  if (root->kind != YAML_MAP) return reader_fail(r, root->place, "expected fields, such as name: direct");
  status = reader_check_keys(r, root, keys, COUNT(keys));
  if (status == HALOTUNE_OK) status = name_read(r);
  if (status == HALOTUNE_OK) status = common_open(r->template, &common_source, &common);
  if (status == HALOTUNE_OK) status = template_parameters_read(r, &common);
  if (status == HALOTUNE_OK) status = template_starts_read(r);
  if (status == HALOTUNE_OK) status = read_definitions(r);
  if (status == HALOTUNE_OK) status = template_launch_read(r);
  if (status == HALOTUNE_OK) status = common_names(r, &common);
  if (status == HALOTUNE_OK) status = template_rules_read(r, &common);
  if (status == HALOTUNE_OK) status = template_sums_read(r);
  if (status == HALOTUNE_OK) status = template_access_read(r);
  if (status == HALOTUNE_OK) status = check_definitions(r);
  if (status == HALOTUNE_OK) status = template_hash_taken(r->template, root);
  scope_free(&common.scope);
  return status;
}

/* Keep both texts, and compute the hashes that identify the template. */
static halotune_status keep_texts(struct template *template, const struct source *yaml, const char *cuda) {
  template->yaml = strdup(yaml->text);
  template->cuda = strdup(cuda);
  return template->yaml && template->cuda ? template_identify(template, cuda) : fail_memory();
}

/* Read the YAML text of a file, or one that a database keeps. */
static halotune_status read_yaml(const struct source *yaml, bool is_file, struct template **out) {
  halotune_status status = HALOTUNE_OK;
  *out = NULL;
  struct reader *r = calloc(1, sizeof *r);
  struct template *template = calloc(1, sizeof *template);
  if (!r || !template) status = fail_memory();
  if (status == HALOTUNE_OK) {
    *r = (struct reader){.source = yaml, .template = template, .is_file = is_file};
    status = read_fields(r);
    scope_free(&r->scope);
  }
  if (status == HALOTUNE_OK) *out = template;
  else template_free(template);
  free(r);
  return status;
}

halotune_status template_parse(const struct source *yaml, const char *cuda, struct template **out) {
  *out = NULL;
  halotune_status status = stencil_length_check(yaml->name, yaml->length);
  if (status == HALOTUNE_OK) status = stencil_length_check(yaml->name, strlen(cuda));
  if (status == HALOTUNE_OK) status = read_yaml(yaml, false, out);
  if (status == HALOTUNE_OK) status = keep_texts(*out, yaml, cuda);
  if (status == HALOTUNE_OK) return status;
  template_free(*out);
  *out = NULL;
  return status;
}

halotune_status template_check_cuda(const struct source *cuda) {
  for (size_t i = 0, step; i < cuda->length; i += step) {
    const char *at = cuda->text + i;
    step = valid_bytes(at, cuda->length - i);
    if (step > 0 && *at) continue;
    const struct place place = place_behind((struct place){1, 1}, 1, cuda->text, i);
    return source_fail(
        cuda, place, *at ? "this is no character of UTF-8; save the file as UTF-8" : "a template cannot have a byte 0");
  }
  return HALOTUNE_OK;
}

/* Read NAME.cu beside NAME.yaml. */
static halotune_status read_cuda(const char *yaml_path, file_reader *reader, char **cuda) {
  struct text path = {0};
  size_t length = 0;
  text_add(&path, yaml_path, strlen(yaml_path));
  const char *extension = strrchr(path_name(text_string(&path)), '.');
  if (extension) path.length = (size_t)(extension - path.bytes);
  text_printf(&path, ".cu");
  halotune_status status = reader(text_string(&path), MAX_STENCIL_BYTES, cuda, &length);
  const struct source source = {text_string(&path), *cuda, length};
  if (status == HALOTUNE_OK) status = template_check_cuda(&source);
  text_free(&path);
  return status;
}

static halotune_status read_files(const char *yaml_path, file_reader *of_yaml, file_reader *of_cuda,
                                  struct template **out) {
  char *text = NULL, *cuda = NULL;
  size_t length;
  *out = NULL;
  halotune_status status = of_yaml(yaml_path, MAX_STENCIL_BYTES, &text, &length);
  if (status != HALOTUNE_OK) return status;
  struct source source = source_of(yaml_path, text, length);
  status = read_yaml(&source, true, out);
  if (status == HALOTUNE_OK) status = read_cuda(yaml_path, of_cuda, &cuda);
  if (status == HALOTUNE_OK) status = keep_texts(*out, &source, cuda);
  if (status != HALOTUNE_OK) {
    template_free(*out);
    *out = NULL;
  }
  free(cuda);
  free(text);
  return status;
}

halotune_status template_read(const char *yaml_path, struct template **out) {
  return read_files(yaml_path, file_read, file_read_found, out);
}

halotune_status template_read_found(const char *yaml_path, struct template **out) {
  return read_files(yaml_path, data_file_read, data_file_read, out);
}

void template_free(struct template *template) {
  if (!template) return;
  free(template->yaml);
  free(template->cuda);
  exprs_free(&template->exprs);
  arena_free(&template->arena);
  free(template);
}
