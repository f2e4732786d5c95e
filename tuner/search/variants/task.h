/* task.h: what is tuned: a stencil on a grid, in an element type, for a device. */
#ifndef SEARCH_VARIANTS_TASK_H
#define SEARCH_VARIANTS_TASK_H

#include "gpu/architecture/arch.h"
#include "stencil/generate/generate.h"

/* A task owns nothing, and nobody changes what it points to. */
struct task {
  const struct stencil *stencil;
  const struct analysis *analysis;
  const char *stencil_text; /* the YAML file, for the store */
  enum dtype dtype;
  struct grid grid;
  const double *coefficients; /* the values that variants are built with */
  struct device_limits limits;
  const struct arch_facts *arch;
  const char *arch_name; /* "sm_90" */
  int sm_count;
  bool reproducible; /* only variants that all give the same bits are searched */
  int launch_steps;  /* time steps that a launch of each variant makes; 0 counts as 1 */
};

/* The specification of a variant on all points of a dense grid, which need not be the task's. */
struct variant_spec task_variant(const struct task *task, const struct template *template,
                                 const struct configuration *configuration, const struct grid *grid);

/* The compulsory traffic of one application, whatever its steps: each input is read once, each output is written
 * once. */
long long task_bytes(const struct task *task);

/* The numbers that a template's formulas see for the task. End with bindings_free. */
halotune_status task_bindings(const struct task *task, const struct template *template, struct bindings *out);

#endif
