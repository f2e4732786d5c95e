/* problem.c: from the command line to a stencil on a grid, and to templates. */
#include "tuner/cli/options/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stencil/template/space.h"
#include "tuner/cli/options/search_path.h"

static halotune_status fail_unknown_arch(const char *name) {
  struct text known = {0};
  for (const struct arch_facts *facts = arch_oldest(); facts <= arch_newest(); facts++) {
    text_printf(&known, "%ssm_%d%d", known.length ? ", " : "", facts->major, facts->minor);
  }
  halotune_status status = fail(HALOTUNE_ARGUMENT, "nothing is known of %s: name one of %s", name, text_string(&known));
  text_free(&known);
  return status;
}

static halotune_status read_arch(const struct invocation *invocation, struct problem *problem) {
  struct arch arch;
  const char *text = option_value(invocation, "arch");
  problem->arch = text ? text : "sm_90";
  halotune_status status = arch_parse(problem->arch, &arch);
  if (status != HALOTUNE_OK) return status;
  problem->arch_facts = arch_find(arch.major, arch.minor);
  if (!problem->arch_facts) return fail_unknown_arch(problem->arch);
  problem->limits = arch_device_limits(problem->arch_facts);
  return HALOTUNE_OK;
}

halotune_status problem_open(const struct invocation *invocation, struct problem *out) {
  *out = (struct problem){.dtype = DTYPE_F32, .reproducible = option_given(invocation, "reproducible")};
  halotune_status status = loaded_open(invocation->arguments[0], &out->loaded);
  if (status != HALOTUNE_OK) return status;
  const struct stencil *stencil = out->loaded.stencil;
  if ((status = option_grid(invocation, stencil, &out->grid)) != HALOTUNE_OK) goto done;
  out->domain = domain_dense(stencil, out->loaded.analysis, &out->grid);
  if ((status = option_dtype(invocation, stencil, &out->dtype)) != HALOTUNE_OK) goto done;
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
                               .domain = problem->domain,
                               .coefficients = problem->coefficients,
                               .limits = problem->limits,
                               .reproducible = problem->reproducible};
}

halotune_status template_open(const char *path, bool by_name, struct template **out) {
  halotune_status status = template_read(path, out);
  if (status == HALOTUNE_OK && by_name) status = search_check_name(&search_templates, path, (*out)->name);
  if (status == HALOTUNE_OK) return HALOTUNE_OK;
  template_free(*out);
  *out = NULL;
  return status;
}

/* Add one template by its name or path. */
static halotune_status add_named(const char *folder, const char *name, struct templates *out) {
  char *path;
  halotune_status status = search_find(&search_templates, folder, name, &path);
  if (status != HALOTUNE_OK) return status;
  status = template_open(path, !search_is_path(name), &out->list[out->count]);
  free(path);
  if (status != HALOTUNE_OK) return status;
  const struct template *added = out->list[out->count++];
  for (int i = 0; i < out->count - 1; i++) {
    if (hash_compare(out->list[i]->hash, added->hash) == 0)
      return fail(HALOTUNE_ARGUMENT, "--template names %s twice", added->name);
  }
  return HALOTUNE_OK;
}

static halotune_status open_named(const char *folder, const char *names, struct templates *out) {
  int room = 1;
  for (const char *comma = strchr(names, ','); comma; comma = strchr(comma + 1, ',')) room++;
  char *words = strdup(names), *rest = words;
  out->list = calloc((size_t)room, sizeof *out->list);
  halotune_status status = words && out->list ? HALOTUNE_OK : fail_memory();
  while (status == HALOTUNE_OK && rest) status = add_named(folder, strsep(&rest, ","), out);
  free(words);
  return status;
}

/* One bad file hides no other. */
static halotune_status open_all(const char *folder, struct templates *out) {
  char **paths;
  int count;
  halotune_status status = search_all(&search_templates, folder, &paths, &count);
  if (status != HALOTUNE_OK) return status;
  out->list = calloc((size_t)count + 1, sizeof *out->list);
  if (!out->list) status = fail_memory();
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
    status = template_open(paths[i], true, &out->list[out->count]);
    if (status == HALOTUNE_OK) {
      out->count++;
    } else if (status != HALOTUNE_MEMORY) {
      report_failure(status);
      out->code = HALOTUNE_EXIT_BAD_INPUT;
      status = HALOTUNE_OK;
    }
  }
  search_free(paths, count);
  if (status != HALOTUNE_OK || out->count > 0) return status;
  return count > 0 ? fail(HALOTUNE_PARSE, "each of the templates has an error")
                   : fail(HALOTUNE_NOT_FOUND, "there are no templates; see --template-dir");
}

halotune_status templates_open(const struct invocation *invocation, struct templates *out) {
  const char *name = option_value(invocation, "template"), *folder = option_value(invocation, "template-dir");
  *out = (struct templates){.code = HALOTUNE_EXIT_SUCCESS};
  halotune_status status = name ? open_named(folder, name, out) : open_all(folder, out);
  if (status != HALOTUNE_OK) templates_free(out);
  return status;
}

void templates_free(struct templates *templates) {
  for (int i = 0; i < templates->count; i++) template_free(templates->list[i]);
  free(templates->list);
  *templates = (struct templates){.code = HALOTUNE_EXIT_SUCCESS};
}

/* No name stands twice in a text such as a=1,b=2. */
static halotune_status check_once(const char *text) {
  for (; *text; text += strcspn(text, ","), text += *text == ',') {
    size_t length = strcspn(text, "=,");
    for (const char *later = strchr(text, ','); later; later = strchr(later, ',')) {
      later++;
      if (length != strcspn(later, "=,") || strncmp(text, later, length) != 0) continue;
      return fail(HALOTUNE_ARGUMENT, "--set gives '%.*s' twice", (int)length, text);
    }
  }
  return HALOTUNE_OK;
}

halotune_status option_set(const struct invocation *invocation, const struct template *template,
                           bool fixed[MAX_PARAMETERS], struct configuration *out) {
  const char *text = option_value(invocation, "set");
  halotune_status status = text ? check_once(text) : HALOTUNE_OK;
  memset(fixed, 0, MAX_PARAMETERS * sizeof *fixed);
  *out = configuration_default(template);
  while (text && *text && status == HALOTUNE_OK) {
    size_t length = strcspn(text, ","), name_length = strcspn(text, "=,");
    char *assignment = strndup(text, length);
    if (!assignment) return fail_memory();
    status = configuration_set(template, assignment, out);
    if (status == HALOTUNE_OK) fixed[template_parameter(template, text, name_length)] = true;
    free(assignment);
    text += length + (text[length] == ',');
  }
  return status;
}

halotune_status option_set_known(const struct invocation *invocation, const struct templates *templates) {
  const char *text = option_value(invocation, "set");
  for (; text && *text && templates->count > 1; text += strcspn(text, ","), text += *text == ',') {
    int length = (int)strcspn(text, "=,");
    bool found = false;
    struct nearest nearest = nearest_to(text, (size_t)length);
    if (text[length] != '=') return fail(HALOTUNE_ARGUMENT, "--set takes NAME=VALUE,..., not '%s'", text);
    for (int i = 0; i < templates->count; i++) {
      found = found || template_parameter(templates->list[i], text, (size_t)length) >= 0;
      template_try_parameters(templates->list[i], &nearest);
    }
    if (!found) return fail(HALOTUNE_ARGUMENT, "no template has a parameter '%.*s'%s", length, text, nearest.question);
  }
  return HALOTUNE_OK;
}

halotune_status option_configuration(const struct invocation *invocation, const struct template *template,
                                     struct bindings *bindings, struct configuration *out) {
  bool fixed[MAX_PARAMETERS];
  halotune_status status = option_set(invocation, template, fixed, out);
  if (status != HALOTUNE_OK) return status;
  const struct rule *broken = space_nearest(bindings, fixed, out);
  if (!broken) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "template %s leaves this configuration out: %s (%s)", template->name,
              broken->otherwise, broken->text);
}
