/* launch_shape.h: computes the launch of a variant from its template's formulas; private to stencil/. */
#ifndef STENCIL_GENERATE_LAUNCH_SHAPE_H
#define STENCIL_GENERATE_LAUNCH_SHAPE_H

#include "stencil/generate/variant_spec.h"
#include "stencil/launch/launch.h"

/* Apply the rules, and compute block, grid, shared memory, workspace, tensor maps, clusters and overlap.
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT if a rule excludes the configuration or no GPU could launch it;
 * HALOTUNE_MEMORY. */
halotune_status launch_find(const struct variant_spec *spec, struct launch *out);

/* The stages of a launch of this many time steps. */
struct stages variant_stages(const struct variant_spec *spec, int steps);

/* Find the fields that have tensor maps: staged inputs, and all outputs. */
void tensor_fields_find(const struct variant_spec *spec, struct launch *out);

#endif
