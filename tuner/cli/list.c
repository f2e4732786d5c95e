/* list.c: `halotune list stencils`: one line for each stencil that commands can name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/cli/command.h"
#include "tuner/cli/describe.h"

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

static enum exit_code run(const struct invocation *invocation) {
  char **paths;
  int count;
  if (strcmp(invocation->arguments[0], "stencils") != 0) {
    return report_failure(fail(HALOTUNE_ARGUMENT, "list knows 'stencils', not '%s'", invocation->arguments[0]));
  }
  halotune_status status = find_all(&paths, &count);
  if (status != HALOTUNE_OK) return report_failure(status);
  enum exit_code code = list_stencils(paths, count, option_value(invocation, "json") != NULL);
  for (int i = 0; i < count; i++) free(paths[i]);
  free(paths);
  return code;
}

static const struct option_row options[] = {{"json", NULL, "print a JSON document"}, {0}};

const struct command command_list = {
    "list", "stencils", 1, 1, "list the stencils that commands can name", options, run,
};
