/* template_read.c: reads a template's two files into one struct. The other template_*.c files read its fields. */
#include "stencil/template/template_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/files/file.h"
#include "base/memory/array.h"
#include "stencil/template/template_definitions.h"
#include "stencil/template/template_hash.h"
#include "stencil/template/template_launch.h"
#include "stencil/template/template_parameters.h"
#include "stencil/template/template_rules.h"

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

static halotune_status read_fields(struct reader *r) {
  static const char *const keys[] = {
      "name",           "about",        "parameters",      "common",          "define",     "rules",  "block",
      "grid",           "shared_bytes", "workspace_bytes", "alignment_bytes", "sums",       "access", "tensor_inputs",
      "tensor_outputs", "cluster",      "overlap",         "steps",           "cooperative"};
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
  if (status == HALOTUNE_OK) status = template_definitions_read(r);
  if (status == HALOTUNE_OK) status = template_launch_read(r);
  if (status == HALOTUNE_OK) status = common_names(r, &common);
  if (status == HALOTUNE_OK) status = template_rules_read(r, &common);
  if (status == HALOTUNE_OK) status = template_sums_read(r);
  if (status == HALOTUNE_OK) status = template_access_read(r);
  if (status == HALOTUNE_OK) status = template_definitions_check_use(r);
  scope_free(&common.scope);
  return status;
}

/* Keep both texts, and compute the hashes that identify the template. */
static halotune_status keep_texts(struct template *template, const struct source *yaml, const char *cuda) {
  template->yaml = strdup(yaml->text);
  template->cuda = strdup(cuda);
  return template->yaml && template->cuda ? template_identify(template, cuda) : fail_memory();
}

/* Read the YAML text. */
static halotune_status read_yaml(const struct source *yaml, struct template **out) {
  halotune_status status = HALOTUNE_OK;
  *out = NULL;
  struct reader *r = calloc(1, sizeof *r);
  struct template *template = calloc(1, sizeof *template);
  if (!r || !template) status = fail_memory();
  if (status == HALOTUNE_OK) {
    *r = (struct reader){.source = yaml, .template = template};
    status = read_fields(r);
    scope_free(&r->scope);
  }
  if (status == HALOTUNE_OK) *out = template;
  else template_free(template);
  free(r);
  return status;
}

halotune_status template_parse(const struct source *yaml, const char *cuda, struct template **out) {
  halotune_status status = read_yaml(yaml, out);
  if (status == HALOTUNE_OK) status = keep_texts(*out, yaml, cuda);
  if (status == HALOTUNE_OK) return status;
  template_free(*out);
  *out = NULL;
  return status;
}

/* Read NAME.cu beside NAME.yaml. */
static halotune_status read_cuda(const char *yaml_path, char **cuda) {
  struct text path = {0};
  size_t length = 0;
  text_add(&path, yaml_path, strlen(yaml_path));
  const char *extension = strrchr(text_string(&path), '.');
  if (extension) path.length = (size_t)(extension - path.bytes);
  text_printf(&path, ".cu");
  halotune_status status = file_read_found(text_string(&path), MAX_STENCIL_BYTES, cuda, &length);
  text_free(&path);
  return status;
}

halotune_status template_read(const char *yaml_path, struct template **out) {
  char *text = NULL, *cuda = NULL;
  size_t length;
  *out = NULL;
  halotune_status status = file_read(yaml_path, MAX_STENCIL_BYTES, &text, &length);
  if (status != HALOTUNE_OK) return status;
  struct source source = source_of(yaml_path, text, length);
  status = read_yaml(&source, out);
  if (status == HALOTUNE_OK) status = read_cuda(yaml_path, &cuda);
  if (status == HALOTUNE_OK) status = keep_texts(*out, &source, cuda);
  if (status != HALOTUNE_OK) {
    template_free(*out);
    *out = NULL;
  }
  free(cuda);
  free(text);
  return status;
}

void template_free(struct template *template) {
  if (!template) return;
  free(template->yaml);
  free(template->cuda);
  exprs_free(&template->exprs);
  arena_free(&template->arena);
  free(template);
}
