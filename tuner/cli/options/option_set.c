/* option_set.c: reads the option --set. */
#include "tuner/cli/options/option_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/nearest.h"
#include "stencil/template/space.h"
#include "tuner/cli/options/option_value.h"

/* The length of the name in "name=value". */
static size_t name_length(const char *item, size_t length) {
  const char *equals = memchr(item, '=', length);
  return equals ? (size_t)(equals - item) : length;
}

/* Refuse a text such as a=1,b=2,a=3, which names a parameter twice. */
static halotune_status check_once(const char *text) {
  size_t length, later_length;
  for (const char *rest = text, *item; (item = list_next(&rest, &length));) {
    const size_t name = name_length(item, length);
    for (const char *behind = rest, *later; (later = list_next(&behind, &later_length));) {
      if (name != name_length(later, later_length) || strncmp(item, later, name) != 0) continue;
      return fail(HALOTUNE_ARGUMENT, "--set gives '%.*s' twice", (int)name, item);
    }
  }
  return HALOTUNE_OK;
}

halotune_status option_set(const struct invocation *invocation, const struct template *template,
                           bool fixed[MAX_PARAMETERS], struct configuration *out) {
  const char *rest = option_value(invocation, "set"), *item;
  size_t length;
  halotune_status status = rest ? check_once(rest) : HALOTUNE_OK;
  memset(fixed, 0, MAX_PARAMETERS * sizeof *fixed);
  *out = configuration_default(template);
  while (status == HALOTUNE_OK && (item = list_next(&rest, &length))) {
    char *assignment = strndup(item, length);
    if (!assignment) return fail_memory();
    status = configuration_set(template, assignment, out);
    if (status == HALOTUNE_OK) fixed[template_parameter(template, item, name_length(item, length))] = true;
    free(assignment);
  }
  return status;
}

halotune_status option_set_known(const struct invocation *invocation, const struct templates *templates) {
  size_t length;
  if (templates->count <= 1) return HALOTUNE_OK; /* option_set says what its template lacks */
  for (const char *rest = option_value(invocation, "set"), *item; (item = list_next(&rest, &length));) {
    const size_t name = name_length(item, length);
    bool found = false;
    struct nearest nearest = nearest_to(item, name);
    if (name == length) return fail(HALOTUNE_ARGUMENT, "--set takes NAME=VALUE,..., not '%s'", item);
    for (int i = 0; i < templates->count; i++) {
      found = found || template_parameter(templates->list[i], item, name) >= 0;
      template_try_parameters(templates->list[i], &nearest);
    }
    if (!found) {
      return fail(HALOTUNE_ARGUMENT, "no template has a parameter '%.*s'%s", (int)name, item, nearest.question);
    }
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
  if ((status = space_is_walkable(bindings)) != HALOTUNE_OK) return status;
  return fail(HALOTUNE_ARGUMENT, "a rule of template %s excludes this configuration: %s (%s)", template->name,
              broken->otherwise, broken->text);
}
