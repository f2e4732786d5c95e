/* resolve.h: what a configuration decides of CUDA text; private to stencil/. */
#ifndef STENCIL_CUDA_RESOLVE_H
#define STENCIL_CUDA_RESOLVE_H

#include "stencil/cuda/constants.h"

/* Take out the branches of #if and its kin that are not taken, and make the part's macros known. Conditions that are
 * not decided stay, with all their branches. */
void resolve_directives(struct constants *constants, struct part *part);

/* Take out the branches of `if` and ?: that cannot be taken, in a definition of the part. */
void resolve_definition(struct constants *constants, struct part *part, struct range definition);

#endif
