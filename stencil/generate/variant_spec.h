/* variant_spec.h: the specification from which a CUDA source is made. */
#ifndef STENCIL_GENERATE_VARIANT_SPEC_H
#define STENCIL_GENERATE_VARIANT_SPEC_H

#include "stencil/launch/stages.h"
#include "stencil/template/template.h"

/* Everything that decides a variant's source. */
struct variant_spec {
  const struct stencil *stencil;
  const struct analysis *analysis;
  const struct template *template;
  struct configuration configuration;
  enum dtype dtype;
  /* gives the literal extents; for run-time extents it decides only the width of an index */
  struct domain domain;
  const double *coefficients; /* the values that are built in for `literal` and `constant` coefficients */
  struct device_limits limits;
  bool reproducible; /* one order of summation, and an explicit rounding after each operation; see prelude_rounded.c */
  int most_steps;    /* time steps that a launch may make; 0 counts as 1 */
  /* the stages of a time step, if it is a chain of updates; NULL: the stencil's update. `stencil` is then that of the
   * first stage, and `analysis` that of the chain (analysis_of_chain) */
  const struct stages *chain;
};

#endif
