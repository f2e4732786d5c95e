/* generate.h: a stencil, a template and a configuration to CUDA source, and to what a launch of it needs. */
#ifndef STENCIL_GENERATE_H
#define STENCIL_GENERATE_H

#include "base/text.h"
#include "stencil/template.h"

/* All that decides a variant's source. */
struct variant_spec {
  const struct stencil *stencil;
  const struct analysis *analysis;
  const struct template *template;
  struct configuration configuration;
  enum dtype dtype;
  struct domain domain;             /* literal extents are these; run-time ones still decide the width of an index */
  const double *coefficients;       /* the values that `literal` and `constant` coefficients are built with */
  struct device_limits limits;
};

/* The kernel's arguments are, in this order: a pointer for each input, one for each output, a texture object for each input
 * (where passes_textures says so), struct Geometry, and struct Coefficients (where passes_coefficients says so).
 * Owns its texts; end with generated_free. */
struct generated {
  char *source;                 /* complete: compiles as it stands with nvcc -cubin */
  struct hash hash;             /* of the source */
  char kernel[2 * 64];          /* name of the kernel in the source */
  long block[MAX_DIMS], grid[MAX_DIMS], shared_bytes;
  int index_bytes;              /* 4 or 8: the type of the extents that the kernel takes */
  bool literal_extents;         /* the kernel's Geometry is then empty */
  bool passes_coefficients;     /* whether the kernel takes them as its last argument */
  int passes_textures;          /* 1: a linear texture for each input, behind the pointers; 2: a 2D texture, its rows those of
                                   the field; a double is two integers of 32 bits; 0: none */
};

/* Generate one variant.
 *   out  filled on success; empty after a failure
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT with the reason, where a rule of the template leaves the configuration
 * out, its launch geometry is impossible, or a number does not fit the element type; or
 * HALOTUNE_MEMORY. The same specification gives the same text, byte for byte. */
halotune_status generate(const struct variant_spec *spec, struct generated *out);

void generated_free(struct generated *generated);

/* Append what stands before a template in generated files, for the stencil's first grid and without parameters: what
 * templates/example.cuh is made of. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status generate_prelude(const struct stencil *stencil, const struct analysis *analysis, enum dtype dtype,
                                 struct text *text);

/* The struct Geometry that a launch passes to the kernel: 11 integers of index_bytes each, in the order
 * nx, ny, nz, row, plane, x0, x1, y0, y1, z0, z1; one zero byte where extents are literal.
 *   bytes  receives at most GEOMETRY_BYTES
 * Returns how many bytes it takes. */
enum { GEOMETRY_BYTES = 88 };
size_t geometry_pack(const struct generated *generated, const struct domain *domain, void *bytes);

/* The struct Coefficients that a launch passes where the kernel takes one: one element each.
 *   bytes  receives coefficient_count elements
 * Returns how many bytes it takes; 0 where they are built in. */
size_t coefficients_pack(const struct generated *generated, const struct stencil *stencil, enum dtype dtype,
                         const double *coefficients, void *bytes);

#endif
