/* prelude.h: the part of a generated source that stands before the template; private to stencil/. */
#ifndef STENCIL_GENERATE_PRELUDE_H
#define STENCIL_GENERATE_PRELUDE_H

#include "stencil/generate/generate.h"

/* The parameters that the prelude itself serves, whatever the template. Their words must be spelled like this; a template that
 * lacks one gets the first word. */
enum coefficient_mode { COEFFICIENTS_PARAMETER, COEFFICIENTS_LITERAL, COEFFICIENTS_CONSTANT };
enum load_path { LOAD_PLAIN, LOAD_READONLY, LOAD_TEXTURE_LINEAR, LOAD_TEXTURE_2D };

enum streaming { STREAMING_NONE, STREAMING_STORES, STREAMING_ALL, STREAMING_LOADS };

/* What the prelude is written for. */
struct prelude {
  const struct variant_spec *spec;
  const struct generated *generated; /* kernel, block, index_bytes */
  enum coefficient_mode coefficients;
  enum load_path load_path;
  enum streaming streaming;
  bool literal_extents;
  long threads, min_blocks; /* for launch bounds; no bounds where threads is 0 */
};

/* Append the prelude. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status prelude_write(struct text *text, const struct prelude *prelude);

/* Append a number as an element: real(0.5). What is too small for f32 is rounded as the device would. */
void prelude_write_number(struct text *text, const struct prelude *prelude, double number);

/* Append a number, a coefficient or a tap as the update's function calls it. */
void prelude_write_leaf(struct text *text, const struct prelude *prelude, const struct expr *node);

/* Its sections, in their order; all but the last ignore a lack of memory, which text_ok tells. */
void prelude_write_parameters(struct text *text, const struct variant_spec *spec);
void prelude_write_stencil(struct text *text, const struct prelude *prelude); /* real, reach, staged inputs */
void prelude_write_grid(struct text *text, const struct prelude *prelude);    /* struct Geometry */
void prelude_write_stages(struct text *text, const struct prelude *prelude);  /* several steps in a launch: buffers */
void prelude_write_coefficients(struct text *text, const struct prelude *prelude);
void prelude_write_fields(struct text *text, const struct prelude *prelude);   /* arguments, reading and writing them */
void prelude_write_boundary(struct text *text, const struct prelude *prelude); /* points beyond the grid */
void prelude_write_stage_points(struct text *text, const struct prelude *prelude); /* which points a stage computes */
halotune_status prelude_write_update(struct text *text, const struct prelude *prelude);
void prelude_write_rounding(struct text *text, const struct prelude *prelude); /* what rounded updates are made of */
halotune_status prelude_write_rounded(struct text *text,
                                      const struct prelude *prelude); /* the body of a reproducible update */
halotune_status prelude_write_split(struct text *text, const struct prelude *prelude); /* the same, a plane at a time */

#endif
