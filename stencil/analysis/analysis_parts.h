/* analysis_parts.h: the pieces that analysis_make calls; private to stencil/. Each fills its own members of `analysis` and
 * returns HALOTUNE_OK or HALOTUNE_MEMORY. */
#ifndef STENCIL_ANALYSIS_ANALYSIS_PARTS_H
#define STENCIL_ANALYSIS_ANALYSIS_PARTS_H

#include "stencil/analysis/analysis.h"

/* flops_per_point, unique_flops_per_point, instructions_per_point (operations.c). */
halotune_status count_operations(const struct stencil *stencil, struct analysis *analysis);

/* is_linear, weights (linear.c). Needs the taps. */
halotune_status find_weights(const struct stencil *stencil, struct analysis *analysis);

/* split (split.c). Needs the taps. */
halotune_status find_split(const struct stencil *stencil, struct analysis *analysis);

/* The factor of each tap in one linear node of the update (linear.c).
 *   uniform  as find_uniform gave it
 *   exprs    begins with the stencil's nodes; the factors are appended
 *   factors  receives, for each tap of the analysis, the node of its factor; -1 for none */
halotune_status find_factors(const struct stencil *stencil, const struct analysis *analysis, const bool *uniform,
                             int root, struct exprs *exprs, int *factors);

/* canonical, hash (canonical.c). */
halotune_status make_canonical(const struct stencil *stencil, struct analysis *analysis);

/* For each node of the update whether its value is the same at every point, because no tap enters it.
 * Returns an array from malloc that is indexed by the node's position less update.first; NULL when memory is out. */
bool *find_uniform(const struct stencil *stencil);

/* The position among the analysis' taps of the tap that this node reads. */
int find_tap(const struct analysis *analysis, const struct expr *node);

#endif
