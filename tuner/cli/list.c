/* list.c: `halotune list`: prints the stencils, templates and GPUs that commands can name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "gpu/architecture/arch.h"
#include "gpu/architecture/gpus.h"
#include "stencil/template/template_read.h"
#include "tuner/cli/options/problem.h"
#include "tuner/cli/options/search_path.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/stencil_json.h"
#include "tuner/cli/output/terminal.h"

static void print_row(const struct loaded *loaded) {
  const struct stencil *stencil = loaded->stencil;
  const struct analysis *analysis = loaded->analysis;
  printf("%-14s %4d  %-9s %6d %4d %5d %8d  %s\n", stencil->name, stencil->dims,
         stencil->kind == STENCIL_SCAN ? "scan" : shape_names[analysis->shape], analysis->max_radius,
         analysis->tap_count, analysis->flops_per_point, analysis->bytes_per_point[DTYPE_F32], stencil->about);
}

static enum exit_code list_stencils(char *const *paths, int count, bool json) {
  enum exit_code code = HALOTUNE_EXIT_SUCCESS;
  json_t *list = json_array();
  if (!json) printf("%-14s dims  shape     radius taps flops  bytes_f32  about\n", "name");
  for (int i = 0; i < count; i++) {
    struct loaded loaded;
    halotune_status status = loaded_open(paths[i], &loaded);
    if (status == HALOTUNE_OK) status = loaded_check_name(&loaded);
    if (status != HALOTUNE_OK) code = report_file_failure(status); /* continue with the other files */
    else if (json) json_add(&list, stencil_json(loaded.path, loaded.stencil, loaded.analysis));
    else print_row(&loaded);
    loaded_free(&loaded);
  }
  if (!json) json_decref(list);
  halotune_status status = json ? print_json(list) : HALOTUNE_OK;
  return status == HALOTUNE_OK ? code : report_failure(status);
}

static void print_template(const struct template *template) {
  printf("%s: %s\n", template->name, template->about);
  for (int i = 0; i < template->parameter_count; i++) {
    const struct parameter *parameter = &template->parameters[i];
    printf("  %-13s", parameter->name);
    for (int v = 0; v < parameter->value_count; v++) printf(" %s", parameter->words[v]);
    printf("  # %s\n", parameter->about);
  }
}

static json_t *template_json(const struct template *template) {
  json_t *parameters = json_object();
  for (int i = 0; i < template->parameter_count; i++) {
    const struct parameter *parameter = &template->parameters[i];
    json_t *values = json_array(), *entry = json_object();
    for (int v = 0; v < parameter->value_count; v++) {
      json_add(&values, parameter->is_word ? text_json(parameter->words[v]) : number_json(parameter->values[v]));
    }
    json_put(&entry, "values", values);
    json_put(&entry, "default", text_json(parameter->words[parameter->default_value]));
    json_put(&entry, "about", text_json(parameter->about));
    json_put(&parameters, parameter->name, entry);
  }
  json_t *json = json_object();
  json_put(&json, "name", text_json(template->name));
  json_put(&json, "about", text_json(template->about));
  json_put(&json, "parameters", parameters);
  return json;
}

static enum exit_code list_templates(char *const *paths, int count, bool json) {
  enum exit_code code = HALOTUNE_EXIT_SUCCESS;
  json_t *list = json_array();
  for (int i = 0; i < count; i++) {
    struct template *template;
    halotune_status status = template_open(paths[i], true, &template);
    if (status != HALOTUNE_OK) {
      code = report_file_failure(status);
      continue;
    }
    if (json) json_add(&list, template_json(template));
    else print_template(template);
    template_free(template);
  }
  if (!json) json_decref(list);
  halotune_status status = json ? print_json(list) : HALOTUNE_OK;
  return status == HALOTUNE_OK ? code : report_failure(status);
}

enum { BYTES_PER_KIB = 1024 };

static json_t *gpu_json(const struct gpu_row *row) {
  const struct sm_limits *limits = &arch_find(row->capability / 10, row->capability % 10)->limits;
  json_t *json = json_object();
  json_put(&json, "name", text_json(row->name));
  json_put(&json, "short_name", text_json(row->short_name));
  json_put(&json, "capability", json_integer(row->capability));
  json_put(&json, "multiprocessors", json_integer(row->multiprocessors));
  json_put(&json, "memory_gbs", number_json(row->memory_gbs));
  json_put(&json, "memory_gb", json_integer(row->memory_gb));
  json_put(&json, "l2_bytes", json_integer((json_int_t)row->l2_kib * BYTES_PER_KIB));
  json_put(&json, "shared_bytes_per_multiprocessor", json_integer(limits->shared_per_sm_bytes));
  json_put(&json, "source", text_json(row->source));
  return json;
}

static halotune_status list_gpus(bool json) {
  enum { NAME_COLUMNS = 49, OTHER_COLUMNS = 44 };
  json_t *list = json_array();
  const int room = terminal_width() - OTHER_COLUMNS, width = room < NAME_COLUMNS ? room : NAME_COLUMNS;
  if (!json) printf("%-*s arch    SMs  GB/s   GB  L2_KiB  shared_KiB\n", width, "name");
  for (int i = 0; i < gpu_row_count; i++) {
    const struct gpu_row *row = &gpu_rows[i];
    const struct sm_limits *limits = &arch_find(row->capability / 10, row->capability % 10)->limits;
    if (json) json_add(&list, gpu_json(row));
    else {
      const bool fits = (int)strlen(row->name) <= width;
      if (!fits) printf("%s\n", row->name);
      printf("%-*s sm_%-4d %3d %5.0f %4d %7d %11d\n", width, fits ? row->name : "", row->capability,
             row->multiprocessors, row->memory_gbs, row->memory_gb, row->l2_kib,
             limits->shared_per_sm_bytes / BYTES_PER_KIB);
    }
  }
  if (json) return print_json(list);
  json_decref(list);
  return HALOTUNE_OK;
}

/* Print a name and a sentence for each stencil and template. Files with an error are left out: the lists of one kind
 * report them. */
static halotune_status print_stencil_names(void) {
  char **paths;
  int count;
  halotune_status status = search_all(&search_stencils, NULL, &paths, &count);
  if (status != HALOTUNE_OK) return status;
  printf("stencils\n");
  for (int i = 0; i < count; i++) {
    struct loaded loaded;
    if (loaded_open(paths[i], &loaded) == HALOTUNE_OK)
      printf("  %-16s %s\n", loaded.stencil->name, loaded.stencil->about);
    loaded_free(&loaded);
  }
  search_free(paths, count);
  return HALOTUNE_OK;
}

static halotune_status print_template_names(const char *folder) {
  char **paths;
  int count;
  halotune_status status = search_all(&search_templates, folder, &paths, &count);
  if (status != HALOTUNE_OK) return status;
  printf("templates\n");
  for (int i = 0; i < count; i++) {
    struct template *template;
    if (template_open(paths[i], true, &template) == HALOTUNE_OK)
      printf("  %-16s %s\n", template->name, template->about);
    template_free(template);
  }
  search_free(paths, count);
  return HALOTUNE_OK;
}

static enum exit_code list_names(const struct invocation *invocation) {
  if (option_given(invocation, "json"))
    return report_failure(fail(HALOTUNE_ARGUMENT, "--json needs one of stencils, templates and gpus"));
  halotune_status status = print_stencil_names();
  if (status == HALOTUNE_OK) status = print_template_names(option_value(invocation, "template-dir"));
  if (status != HALOTUNE_OK) return report_failure(status);
  printf("%d GPUs: see 'halotune list gpus'\n", gpu_row_count);
  return HALOTUNE_EXIT_SUCCESS;
}

static enum exit_code list_run(const struct invocation *invocation) {
  static const char *const lists[] = {"stencils", "templates", "gpus"};
  enum { STENCILS, TEMPLATES, GPUS };
  const bool json = option_given(invocation, "json");
  int list;
  char **paths;
  int count;
  if (invocation->argument_count == 0) return list_names(invocation);
  halotune_status status = word_find("list", invocation->arguments[0], lists, COUNT(lists), &list);
  if (status != HALOTUNE_OK) return report_failure(status);
  if (list == GPUS) {
    status = list_gpus(json);
    return status == HALOTUNE_OK ? HALOTUNE_EXIT_SUCCESS : report_failure(status);
  }
  const bool stencils = list == STENCILS;
  status = stencils ? search_all(&search_stencils, NULL, &paths, &count)
                    : search_all(&search_templates, option_value(invocation, "template-dir"), &paths, &count);
  if (status != HALOTUNE_OK) return report_failure(status);
  enum exit_code code = stencils ? list_stencils(paths, count, json) : list_templates(paths, count, json);
  search_free(paths, count);
  return code;
}

static const struct option_row options[] = {
    {"template-dir", "FOLDER", "folder in which templates are looked for first"},
    {"json", NULL, "print a JSON document"},
    {0},
};

const struct command command_list = {
    "list", "[WHAT]", 0, 1, "list the stencils, templates or GPUs that commands can name", options, list_run,
};
