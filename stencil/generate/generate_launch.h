/* generate_launch.h: the launch of a variant, as its template's formulas have it; private to stencil/. */
#ifndef STENCIL_GENERATE_GENERATE_LAUNCH_H
#define STENCIL_GENERATE_GENERATE_LAUNCH_H

#include "stencil/generate/generate.h"

/* Apply the rules, and compute block, grid, shared memory, workspace, tensor maps, clusters and overlap.
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT where a rule leaves the configuration out or no GPU could launch it;
 * HALOTUNE_MEMORY. */
halotune_status launch_find(const struct variant_spec *spec, struct launch *out);

/* The fields that tensor maps are of: staged inputs, and all outputs. */
void tensor_fields_find(const struct variant_spec *spec, struct launch *out);

#endif
