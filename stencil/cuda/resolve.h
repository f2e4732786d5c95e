/* resolve.h: removes from CUDA text what a configuration decides; private to stencil/. */
#ifndef STENCIL_CUDA_RESOLVE_H
#define STENCIL_CUDA_RESOLVE_H

#include "stencil/cuda/constants.h"

/* Remove the branches of #if and similar directives that are not taken, and define the part's macros. Undecided
 * conditions stay with all their branches. Returns the first name in them that nothing defines, as a token, because the
 * compiler would silently take it for 0; -1 if there is none. */
int resolve_directives(struct constants *constants, struct part *part);

/* Remove the branches of `if` and ?: that cannot be taken, in a definition of the part. */
void resolve_definition(struct constants *constants, struct part *part, struct range definition);

#endif
