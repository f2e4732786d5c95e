/* problem.c: from the command line to a stencil on a grid, and to templates. */
#include "tuner/cli/problem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/cli/search_path.h"

halotune_status option_grid(const struct invocation *invocation, const struct stencil *stencil, struct grid *grid) {
  const char *text = option_value(invocation, "grid");
  *grid = text ? (struct grid){{1, 1, 1}} : stencil->grids[0];
  if (!text) return HALOTUNE_OK;
  const char *rest = text;
  int axis = 0;
  for (; axis < stencil->dims; axis++) {
    size_t digits = strspn(rest, "0123456789");
    char behind = axis == stencil->dims - 1 ? '\0' : ',';
    errno = 0;
    grid->n[axis] = strtol(rest, NULL, 10);
    bool in_range = errno == 0 && grid->n[axis] >= 1 && grid->n[axis] <= GRID_MOST_AXIS_POINTS;
    if (digits == 0 || rest[digits] != behind || !in_range) break;
    rest += digits + 1;
  }
  if (axis < stencil->dims) {
    const char *example = stencil->dims == 1 ? "4096" : stencil->dims == 2 ? "512,512" : "64,64,64";
    return fail(HALOTUNE_ARGUMENT, "--grid takes %d whole number%s from 1 to %ld for this stencil, such as %s, not '%s'",
                stencil->dims, stencil->dims == 1 ? "" : "s", GRID_MOST_AXIS_POINTS, example, text);
  }
  halotune_status status = stencil_check_grid(stencil, grid, NULL);
  if (status == HALOTUNE_ARGUMENT) {
    char detail[FAIL_TEXT_BYTES / 2];
    snprintf(detail, sizeof detail, "%s", fail_text());
    return fail(HALOTUNE_ARGUMENT, "--grid %s: %s", text, detail);
  }
  return status;
}

static halotune_status read_dtype(const struct invocation *invocation, struct problem *problem) {
  const struct stencil *stencil = problem->loaded.stencil;
  const char *text = option_value(invocation, "dtype");
  for (int i = 0; i < DTYPE_COUNT; i++) {
    if (text ? strcmp(text, dtype_names[i]) != 0 : !stencil->dtypes[i]) continue;
    problem->dtype = (enum dtype)i;
    if (stencil->dtypes[i]) return HALOTUNE_OK;
    return fail(HALOTUNE_ARGUMENT, "%s is not among the dtypes of %s", text, stencil->name);
  }
  return fail(HALOTUNE_ARGUMENT, "--dtype is f32 or f64, not '%s'", text);
}

static halotune_status read_arch(const struct invocation *invocation, struct problem *problem) {
  struct arch arch;
  const char *text = option_value(invocation, "arch");
  problem->arch = text ? text : "sm_90";
  halotune_status status = arch_parse(problem->arch, &arch);
  if (status != HALOTUNE_OK) return status;
  problem->arch_facts = arch_find(arch.major, arch.minor);
  if (!problem->arch_facts) return fail(HALOTUNE_ARGUMENT, "nothing is known of %s", problem->arch);
  problem->limits = arch_device_limits(problem->arch_facts);
  return HALOTUNE_OK;
}

halotune_status problem_open(const struct invocation *invocation, struct problem *out) {
  *out = (struct problem){.dtype = DTYPE_F32};
  halotune_status status = loaded_open(invocation->arguments[0], &out->loaded);
  if (status != HALOTUNE_OK) return status;
  const struct stencil *stencil = out->loaded.stencil;
  if ((status = option_grid(invocation, stencil, &out->grid)) != HALOTUNE_OK) goto done;
  if ((status = read_dtype(invocation, out)) != HALOTUNE_OK) goto done;
  if ((status = read_arch(invocation, out)) != HALOTUNE_OK) goto done;
  out->coefficients = calloc((size_t)stencil->coefficient_count + 1, sizeof *out->coefficients);
  status = out->coefficients ? stencil_coefficients(stencil, &out->grid, out->coefficients) : fail_memory();
done:
  if (status != HALOTUNE_OK) problem_free(out);
  return status;
}

void problem_free(struct problem *problem) {
  free(problem->coefficients);
  loaded_free(&problem->loaded);
  *problem = (struct problem){.dtype = DTYPE_F32};
}

struct variant_spec problem_variant(const struct problem *problem, const struct template *template,
                                    const struct configuration *configuration) {
  const struct loaded *loaded = &problem->loaded;
  return (struct variant_spec){.stencil = loaded->stencil,
                               .analysis = loaded->analysis,
                               .template = template,
                               .configuration = *configuration,
                               .dtype = problem->dtype,
                               .domain = domain_dense(loaded->stencil, loaded->analysis, &problem->grid),
                               .coefficients = problem->coefficients,
                               .limits = problem->limits};
}

halotune_status templates_open(const struct invocation *invocation, struct templates *out) {
  const char *name = option_value(invocation, "template"), *folder = option_value(invocation, "template-dir");
  char **paths = NULL, *path = NULL;
  int count = 1;
  *out = (struct templates){0};
  halotune_status status = name ? search_find(&search_templates, folder, name, &path)
                                : search_all(&search_templates, folder, &paths, &count);
  if (status != HALOTUNE_OK) return status;
  out->list = calloc((size_t)count + 1, sizeof *out->list);
  if (!out->list) status = fail_memory();
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
    status = template_read(name ? path : paths[i], &out->list[i]);
    if (status == HALOTUNE_OK) out->count++;
  }
  if (status == HALOTUNE_OK && out->count == 0) status = fail(HALOTUNE_NOT_FOUND, "there are no templates; see --template-dir");
  free(path);
  if (paths) search_free(paths, count);
  if (status != HALOTUNE_OK) templates_free(out);
  return status;
}

void templates_free(struct templates *templates) {
  for (int i = 0; i < templates->count; i++) template_free(templates->list[i]);
  free(templates->list);
  *templates = (struct templates){0};
}

halotune_status option_configuration(const struct invocation *invocation, const struct template *template,
                                     struct configuration *out) {
  const char *text = option_value(invocation, "set");
  halotune_status status = HALOTUNE_OK;
  *out = configuration_default(template);
  while (text && *text && status == HALOTUNE_OK) {
    size_t length = strcspn(text, ",");
    char *assignment = strndup(text, length);
    if (!assignment) return fail_memory();
    status = configuration_set(template, assignment, out);
    free(assignment);
    text += length + (text[length] == ',');
  }
  return status;
}
