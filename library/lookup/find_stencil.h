/* find_stencil.h: finds a stencil of a ctx: one of its databases, or one that the program added. */
#ifndef LIBRARY_LOOKUP_FIND_STENCIL_H
#define LIBRARY_LOOKUP_FIND_STENCIL_H

#include "base/text/nearest.h"
#include "library/lookup/context.h"

/* The number of stencils that the program has added so far. */
int context_added_count(const struct halotune_ctx *ctx);

/* Find an added stencil with this name and text. Returns its place in the catalog; -1 if there is none. */
int context_find_same(const struct halotune_ctx *ctx, const char *name, const char *text);

/* Find a stencil by its name or hash. A stencil that the program added goes before those of the databases; of several
 * the one that was added last. Returns its place in the catalog; -1 if there is none. */
int context_find_stencil(const struct halotune_ctx *ctx, const char *name);

/* Like context_find_stencil, but fails if there is none. Returns HALOTUNE_OK, or HALOTUNE_NOT_FOUND with what to do. */
halotune_status context_require_stencil(const struct halotune_ctx *ctx, const char *name, int *out);

/* Set the stencil of a lookup key. */
void context_set_stencil(const struct halotune_ctx *ctx, int stencil, struct lookup_key *key);

/* Find the stencil, of the databases or added, whose name is most like an unknown name. */
struct nearest context_nearest_stencil(const struct halotune_ctx *ctx, const char *name);

#endif
