/* problem.h: what commands about variants have in common: a stencil on a grid for an architecture, and templates for it. */
#ifndef CLI_OPTIONS_PROBLEM_H
#define CLI_OPTIONS_PROBLEM_H

#include "gpu/architecture/arch.h"
#include "stencil/generate/generate.h"
#include "tuner/cli/options/loaded_stencil.h"
#include "tuner/cli/options/option_value.h"

/* The options that problem_open reads, to be put in a command's table. */
#define PROBLEM_OPTIONS                                                                 \
  {"dtype", "TYPE", "f32 or f64; the file's first by default"},                         \
      {"grid", "NX,NY,NZ", "points along each axis; the file's first grid by default"}, \
      {"arch", "sm_XX", "the GPU's architecture; sm_90 by default"}, {                  \
    "reproducible", NULL, "only variants whose results are the same, bit for bit"       \
  }

/* The options that templates_open reads. */
#define TEMPLATE_OPTIONS                                                               \
  {"template", "NAME,...", "templates, by name or path; all that apply by default"}, { \
    "template-dir", "FOLDER", "look for templates there first"                         \
  }

/* Owns its members; end with problem_free. */
struct problem {
  struct loaded loaded;
  enum dtype dtype;
  struct grid grid;
  struct domain domain; /* the whole of a dense grid */
  double *coefficients; /* the file's, on this grid */
  const char *arch;     /* "sm_90" */
  const struct arch_facts *arch_facts;
  struct device_limits limits;
  bool reproducible;
};

/* Read the stencil that the command's first argument names, and the options above.
 *   out  filled on success; after a failure problem_free is harmless
 * Returns HALOTUNE_OK, HALOTUNE_ARGUMENT for an option, or what loaded_open returns. */
halotune_status problem_open(const struct invocation *invocation, struct problem *out);

void problem_free(struct problem *problem);

/* The specification of a variant of the problem. */
struct variant_spec problem_variant(const struct problem *problem, const struct template *template,
                                    const struct configuration *configuration);

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

/* The template's default configuration, changed as --set says: name=value,name=value. Rules are not applied.
 *   fixed  receives which parameters --set names
 * Returns HALOTUNE_OK, or HALOTUNE_ARGUMENT for unknown ones, and for a parameter that --set names twice. */
halotune_status option_set(const struct invocation *invocation, const struct template *template,
                           bool fixed[MAX_PARAMETERS], struct configuration *out);

/* Whether each parameter that --set names is one of some template. A single template says by itself what it lacks.
 * Returns HALOTUNE_OK or HALOTUNE_ARGUMENT. */
halotune_status option_set_known(const struct invocation *invocation, const struct templates *templates);

/* The configuration that --set means when the rules have their say: where they leave out the defaults of other parameters, as few
 * of these as possible have other values.
 *   bindings  of the template for the problem; its parameters are changed
 * Returns what option_set returns, and HALOTUNE_ARGUMENT where a rule leaves out all that --set allows. */
halotune_status option_configuration(const struct invocation *invocation, const struct template *template,
                                     struct bindings *bindings, struct configuration *out);

#endif
