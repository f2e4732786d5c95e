/* analysis_parts.h: the steps of analysis_make; private to stencil/. Each step fills in its own members of `analysis`
 * and returns HALOTUNE_OK or HALOTUNE_MEMORY. */
#ifndef STENCIL_ANALYSIS_ANALYSIS_PARTS_H
#define STENCIL_ANALYSIS_ANALYSIS_PARTS_H

#include "stencil/analysis/analysis.h"

/* operations.c: fills in flops_per_point, unique_flops_per_point, instructions_per_point, asks_signs. */
halotune_status count_operations(const struct stencil *stencil, struct analysis *analysis);

/* linear.c: fills in is_linear and weights. Needs the taps. */
halotune_status find_weights(const struct stencil *stencil, struct analysis *analysis);

/* split.c: fills in split. Needs the taps. */
halotune_status find_split(const struct stencil *stencil, struct analysis *analysis);

/* linear.c: appends a leaf of a weight: the name of a coefficient, or a number.
 *   context  the stencil */
void add_weight_leaf(struct text *text, const struct expr *node, const void *context);

/* groups.c: finds which weights of the split's forms are equal, and the groups of points that follow. Needs the forms
 * and their weights. */
halotune_status find_groups(const struct stencil *stencil, struct analysis *analysis);

/* Find the factor of each tap in one linear node of the update (linear.c).
 *   uniform  from find_uniform
 *   exprs    begins with the stencil's nodes; the factors are appended
 *   factors  receives, for each tap of the analysis, the node of its factor; -1 for none */
halotune_status find_factors(const struct stencil *stencil, const struct analysis *analysis, const bool *uniform,
                             int root, struct exprs *exprs, int *factors);

/* canonical.c: fills in hash. */
halotune_status make_hash(const struct stencil *stencil, struct analysis *analysis);

/* Find the nodes of the update whose value is the same at every point, because they use no tap.
 * Returns an array from malloc, indexed by the node's position minus update.first; NULL when memory is out. */
bool *find_uniform(const struct stencil *stencil);

#endif
