/* configuration.c: reads the option --set. */
#include "tuner/cli/options/configuration.h"

#include <stdlib.h>
#include <string.h>

#include "stencil/template/space.h"
#include "tuner/cli/options/option_value.h"

/* Refuse a text such as a=1,b=2,a=3, which names a parameter twice. */
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
  return fail(HALOTUNE_ARGUMENT, "a rule of template %s excludes this configuration: %s (%s)", template->name,
              broken->otherwise, broken->text);
}
