/* templates.h: the templates that --template and --template-dir name. */
#ifndef CLI_OPTIONS_TEMPLATES_H
#define CLI_OPTIONS_TEMPLATES_H

#include "stencil/template/template.h"
#include "tuner/cli/options/command.h"

/* The options that templates_open reads. */
#define TEMPLATE_OPTIONS TEMPLATE_OPTIONS_NAMED("NAME,...", "templates, by name or path; all that apply by default")
#define TEMPLATE_OPTIONS_NAMED(value, about) \
  {"template", value, about}, { "template-dir", "FOLDER", "folder in which templates are looked for first" }

/* Templates, each read from its files; end with templates_free. */
struct templates {
  struct template **list;
  int count;
  enum exit_code code; /* HALOTUNE_EXIT_BAD_INPUT if other templates could not be read */
};

/* Read a template.
 *   by_name  it was found by name; it must then have the name of its file
 *   out      receives the template, to be ended with template_free; NULL on failure
 * Returns what template_read returns, and HALOTUNE_PARSE for another name. */
halotune_status template_open(const char *path, bool by_name, struct template **out);

/* Read the templates that --template names; without the option, all that are found. Of these, a template with an error
 * is reported on stderr and skipped.
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND; the errors of template_read; HALOTUNE_PARSE if every template has an
 * error. */
halotune_status templates_open(const struct invocation *invocation, struct templates *out);

void templates_free(struct templates *templates);

#endif
