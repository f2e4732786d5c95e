/* list.c: `halotune list`: the stencils and the templates that commands can name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/cli/command.h"
#include "stencil/template.h"
#include "tuner/cli/describe.h"
#include "tuner/cli/search_path.h"

static void print_row(const struct loaded *loaded) {
  const struct stencil *stencil = loaded->stencil;
  const struct analysis *analysis = loaded->analysis;
  printf("%-14s %4d  %-9s %6d %4d %5d %8d  %s\n", stencil->name, stencil->dims,
         stencil->kind == STENCIL_SCAN ? "scan" : shape_names[analysis->shape], analysis->max_radius, analysis->tap_count,
         analysis->flops_per_point, analysis->bytes_per_point[DTYPE_F32], stencil->about);
}

static enum exit_code list_stencils(char *const *paths, int count, bool json) {
  enum exit_code code = HALOTUNE_EXIT_SUCCESS;
  json_t *list = json_array();
  if (!json) printf("%-14s dims  shape     radius taps flops  bytes_f32  about\n", "name");
  for (int i = 0; i < count; i++) {
    struct loaded loaded;
    halotune_status status = loaded_open(paths[i], &loaded);
    if (status != HALOTUNE_OK) {
      code = report_file_failure(status);
      continue; /* one bad file hides no other */
    }
    if (json) json_array_append_new(list, describe_json(&loaded));
    else print_row(&loaded);
    loaded_free(&loaded);
  }
  if (!json) json_decref(list);
  else if (print_json(list) != HALOTUNE_OK) code = HALOTUNE_EXIT_FAILURE;
  return code;
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
    json_t *values = json_array();
    for (int v = 0; v < parameter->value_count; v++) {
      json_array_append_new(values, parameter->is_word ? json_string(parameter->words[v]) : json_real(parameter->values[v]));
    }
    json_object_set_new(parameters, parameter->name,
                        json_pack("{s:o, s:s, s:s}", "values", values, "default", parameter->words[parameter->default_value],
                                  "about", parameter->about));
  }
  return json_pack("{s:s, s:s, s:o}", "name", template->name, "about", template->about, "parameters", parameters);
}

static enum exit_code list_templates(char *const *paths, int count, bool json) {
  enum exit_code code = HALOTUNE_EXIT_SUCCESS;
  json_t *list = json_array();
  for (int i = 0; i < count; i++) {
    struct template *template;
    halotune_status status = template_read(paths[i], &template);
    if (status != HALOTUNE_OK) {
      code = report_file_failure(status);
      continue;
    }
    if (json) json_array_append_new(list, template_json(template));
    else print_template(template);
    template_free(template);
  }
  if (!json) json_decref(list);
  else if (print_json(list) != HALOTUNE_OK) code = HALOTUNE_EXIT_FAILURE;
  return code;
}

static enum exit_code run(const struct invocation *invocation) {
  const char *what = invocation->arguments[0];
  bool stencils = strcmp(what, "stencils") == 0, json = option_value(invocation, "json") != NULL;
  char **paths;
  int count;
  if (!stencils && strcmp(what, "templates") != 0) {
    return report_failure(fail(HALOTUNE_ARGUMENT, "list knows 'stencils' and 'templates', not '%s'", what));
  }
  halotune_status status = stencils ? search_all(&search_stencils, NULL, &paths, &count)
                                    : search_all(&search_templates, option_value(invocation, "template-dir"), &paths, &count);
  if (status != HALOTUNE_OK) return report_failure(status);
  enum exit_code code = stencils ? list_stencils(paths, count, json) : list_templates(paths, count, json);
  search_free(paths, count);
  return code;
}

static const struct option_row options[] = {
    {"template-dir", "FOLDER", "look for templates there first"},
    {"json", NULL, "print a JSON document"},
    {0},
};

const struct command command_list = {
    "list", "WHAT", 1, 1, "list what commands can name: stencils or templates", options, run,
};
