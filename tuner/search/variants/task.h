/* task.h: what is tuned: a stencil on a grid, in an element type, for a device. */
#ifndef SEARCH_VARIANTS_TASK_H
#define SEARCH_VARIANTS_TASK_H

#include "gpu/architecture/arch.h"
#include "stencil/generate/generate.h"

/* Owns nothing; what it points to is only read. */
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
  bool reproducible; /* all variants give the same bits */
};

/* The specification of a variant on the whole of a dense grid: the task's, or another one. */
struct variant_spec task_variant(const struct task *task, const struct template *template,
                                 const struct configuration *configuration, const struct grid *grid);

/* Compulsory traffic of one application: each input read once, each output written once. */
long long task_bytes(const struct task *task);

/* The numbers that a template's formulas see for the task; end with bindings_free. */
halotune_status task_bindings(const struct task *task, const struct template *template, struct bindings *out);

#endif
