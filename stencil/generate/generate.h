/* generate.h: a stencil, a template and a configuration to CUDA source, and to what a launch of it needs. */
#ifndef STENCIL_GENERATE_GENERATE_H
#define STENCIL_GENERATE_GENERATE_H

#include "base/text.h"
#include "stencil/launch/launch.h"
#include "stencil/template/template.h"

/* All that decides a variant's source. */
struct variant_spec {
  const struct stencil *stencil;
  const struct analysis *analysis;
  const struct template *template;
  struct configuration configuration;
  enum dtype dtype;
  struct domain domain;       /* literal extents are these; run-time ones still decide the width of an index */
  const double *coefficients; /* the values that `literal` and `constant` coefficients are built with */
  struct device_limits limits;
  bool reproducible; /* one order of summation, and every rounding spelled out; see prelude_rounded.c */
  int most_steps;    /* time steps that a launch may make; 0 counts as 1 */
};

/* Owns its text; end with generated_free. */
struct generated {
  char *source;         /* complete: compiles as it stands with nvcc -cubin. Has #line; see source_strip_lines */
  struct identity hash; /* of what the source means: source_hash of it, with or without #line */
  struct launch launch; /* on the domain of the specification */
};

/* Generate one variant.
 *   out  filled on success; empty after a failure
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT with the reason, where a rule of the template leaves the configuration
 * out, its launch geometry is impossible, or a number does not fit the element type; or
 * HALOTUNE_MEMORY. The same specification gives the same text, byte for byte. */
halotune_status generate(const struct variant_spec *spec, struct generated *out);

void generated_free(struct generated *generated);

/* The least compute capability, times ten, that a generated source is for: 90 where definitions were chosen for sm_90, such as copies
 * that older GPUs do not have. 0 where every GPU runs the source. */
int source_capability(const char *source);

/* Take the #line directives out of a generated source, in place. With them, a compiler's messages and those of the emulation
 * name the line of the template's file; without them the source reads better. Users, files and databases get it without. */
void source_strip_lines(char *source);

/* Append what stands before a template in generated files, for the stencil's first grid and without parameters: what
 * templates/example.cuh is made of. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status generate_prelude(const struct stencil *stencil, const struct analysis *analysis, enum dtype dtype,
                                 struct text *text);

#endif
