/* generate.h: makes CUDA source, and what a launch of it needs, from a stencil, a template and a configuration. */
#ifndef STENCIL_GENERATE_GENERATE_H
#define STENCIL_GENERATE_GENERATE_H

#include "base/text/text.h"
#include "stencil/generate/variant_spec.h"
#include "stencil/launch/launch.h"

/* Owns its text; end with generated_free. */
struct generated {
  /* Complete: NVRTC compiles it as it is, and nvcc after pragma_numbers. Mostly has #line; see source_strip_lines. */
  char *source;
  struct identity hash; /* source_hash of the source, the same with and without #line */
  struct launch launch; /* the launch on the domain of the specification */
};

/* Generate one variant.
 *   out  filled on success; empty after a failure
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT with the reason, if a rule of the template excludes the configuration, its
 * launch geometry is impossible, or a number does not fit the element type; HALOTUNE_PARSE with file and line, if the
 * template's #if asks for a name that nothing defines; or HALOTUNE_MEMORY. The same specification gives the same text,
 * byte for byte. */
halotune_status generate(const struct variant_spec *spec, struct generated *out);

void generated_free(struct generated *generated);

/* The smallest compute capability, times ten, for which a generated source was made. It is 90 if definitions were
 * chosen for sm_90, such as copies that older GPUs do not have, and 0 if every GPU runs the source. */
int source_capability(const char *source);

/* Remove the #line directives from a generated source, in place. With them, messages of compilers and of the emulation
 * name the line in the template's file. Without them the source is easier to read. Users, files and databases get it
 * without them. */
void source_strip_lines(char *source);

/* Append the text that stands before a template in generated files, for the stencil's first grid and without
 * parameters. templates/example.cuh is made from it. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status generate_prelude(const struct stencil *stencil, const struct analysis *analysis, enum dtype dtype,
                                 struct text *text);

#endif
