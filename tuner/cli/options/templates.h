/* templates.h: the templates that --template and --template-dir name. */
#ifndef CLI_OPTIONS_TEMPLATES_H
#define CLI_OPTIONS_TEMPLATES_H

#include "stencil/template/template.h"
#include "tuner/cli/options/command.h"

/* The options that templates_open reads. */
#define TEMPLATE_OPTIONS                                                               \
  {"template", "NAME,...", "templates, by name or path; all that apply by default"}, { \
    "template-dir", "FOLDER", "look for templates there first"                         \
  }

/* Templates, each read from its files; end with templates_free. */
struct templates {
  struct template **list;
  int count;
  enum exit_code code; /* HALOTUNE_EXIT_BAD_INPUT where others could not be read */
};

/* Read a template.
 *   by_name  whether it was found by its file's name, which must then be its own
 *   out      receives the template, the caller's to template_free; NULL on failure
 * Returns what template_read returns, and HALOTUNE_PARSE for another name. */
halotune_status template_open(const char *path, bool by_name, struct template **out);

/* Read the templates that --template names, or all. Of all, those with an error are named on stderr and passed over.
 * Returns HALOTUNE_OK, HALOTUNE_NOT_FOUND, what template_read returns, or HALOTUNE_PARSE where each of all has an error. */
halotune_status templates_open(const struct invocation *invocation, struct templates *out);

void templates_free(struct templates *templates);

#endif
