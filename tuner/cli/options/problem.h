/* problem.h: a stencil in an element type, on a grid, for an architecture. Commands about variants begin with it. */
#ifndef CLI_OPTIONS_PROBLEM_H
#define CLI_OPTIONS_PROBLEM_H

#include "gpu/architecture/arch.h"
#include "stencil/generate/generate.h"
#include "tuner/cli/options/loaded_stencil.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/options/templates.h"

/* The options that problem_open reads, to be put in a command's table. */
#define PROBLEM_OPTIONS PROBLEM_OPTIONS_GRID("the file's first grid by default")
#define PROBLEM_OPTIONS_GRID(otherwise)                                \
  {"dtype", "TYPE", "f32 or f64; the file's first by default"},        \
      {"grid", "NX,NY,NZ", "points along each axis; " otherwise},      \
      {"arch", "sm_XX", "the GPU's architecture; sm_90 by default"}, { \
    "reproducible", NULL, "only variants that all give the same bits"  \
  }

/* Owns its members; end with problem_free. */
struct problem {
  struct loaded loaded;
  enum dtype dtype;
  struct grid grid;
  struct domain domain; /* all points of a dense grid */
  double *coefficients; /* the coefficients of the file, on this grid */
  const char *arch;     /* "sm_90" */
  const struct arch_facts *arch_facts;
  struct device_limits limits;
  bool reproducible;
  int least_steps, most_steps; /* time steps that a launch of a variant may make: 1 and 1 after problem_open */
};

/* Read the stencil that the command's first argument names, and the options above.
 *   out  filled on success; after a failure problem_free is harmless
 * Returns HALOTUNE_OK, HALOTUNE_ARGUMENT for a wrong option, or the errors of loaded_open. */
halotune_status problem_open(const struct invocation *invocation, struct problem *out);

void problem_free(struct problem *problem);

/* The specification of a variant of the problem. */
struct variant_spec problem_variant(const struct problem *problem, const struct template *template,
                                    const struct configuration *configuration);

/* Bind the names in a template's formulas to the problem. End with bindings_free.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status problem_bindings(const struct problem *problem, const struct template *template, struct bindings *out);

#endif
