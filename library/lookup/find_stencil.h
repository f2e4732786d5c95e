/* find_stencil.h: finds a stencil of a ctx: one of its databases, or one that the program added. */
#ifndef LIBRARY_LOOKUP_FIND_STENCIL_H
#define LIBRARY_LOOKUP_FIND_STENCIL_H

#include "base/text/nearest.h"
#include "library/lookup/context.h"

/* The number of stencils that the program has added so far. */
static inline int context_added_count(const struct halotune_ctx *ctx) {
  return atomic_load_explicit(&ctx->added_stencils, memory_order_acquire);
}

/* Find an added stencil with this name and text. Returns its place in the catalog; -1 if there is none. */
int context_find_same(const struct halotune_ctx *ctx, const char *name, const char *text);

/* Find the added stencil with this name or hash that was added last; adding it again counts. Returns its place in the
 * catalog; -1 if there is none. */
int context_find_added(const struct halotune_ctx *ctx, const char *name);

/* Find a stencil by its name or hash. A stencil that the program added goes before those of the databases; of several
 * the one that was added last. Returns its place in the catalog; -1 if there is none. */
static inline int context_find_stencil(const struct halotune_ctx *ctx, const char *name) {
  const int added = context_added_count(ctx) > 0 ? context_find_added(ctx, name) : -1;
  return added >= 0 ? added : names_find(&ctx->catalog.stencil_names, name);
}

/* Fail because no stencil has this name. Returns HALOTUNE_NOT_FOUND, with what to do. */
halotune_status context_fail_stencil(const struct halotune_ctx *ctx, const char *name);

/* Like context_find_stencil, but fails if there is none. Returns HALOTUNE_OK or HALOTUNE_NOT_FOUND. */
static inline halotune_status context_require_stencil(const struct halotune_ctx *ctx, const char *name, int *out) {
  *out = context_find_stencil(ctx, name);
  return *out >= 0 ? HALOTUNE_OK : context_fail_stencil(ctx, name);
}

/* Set the stencil of a lookup key. */
static inline void context_set_stencil(const struct halotune_ctx *ctx, int stencil, struct lookup_key *key) {
  key->stencil = ctx->catalog.stencils[stencil].rows_of;
  key->text_of = stencil;
}

/* Find the stencil, of the databases or added, whose name is most like an unknown name. */
struct nearest context_nearest_stencil(const struct halotune_ctx *ctx, const char *name);

#endif
