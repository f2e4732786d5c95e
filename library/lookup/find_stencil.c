/* find_stencil.c: finds stencils of the databases in a table of names, and the few that a program added one by one. */
#include "library/lookup/find_stencil.h"

#include <string.h>

int context_find_added(const struct halotune_ctx *ctx, const char *name) {
  const struct catalog *catalog = &ctx->catalog;
  const int count = context_added_count(ctx);
  unsigned newest = 0;
  int found = -1;
  for (int i = catalog->stencil_count; i < catalog->stencil_count + count; i++) {
    const struct known_stencil *added = &catalog->stencils[i];
    const unsigned turn = atomic_load_explicit(&added->turn, memory_order_relaxed);
    if (turn < newest || (strcmp(added->name, name) != 0 && strcmp(added->hash, name) != 0)) continue;
    newest = turn;
    found = i;
  }
  return found;
}

int context_find_same(const struct halotune_ctx *ctx, const char *name, const char *text) {
  const struct catalog *catalog = &ctx->catalog;
  for (int i = catalog->stencil_count; i < catalog->stencil_count + context_added_count(ctx); i++) {
    const struct known_stencil *added = &catalog->stencils[i];
    if (strcmp(added->name, name) == 0 && strcmp(added->text, text) == 0) return i;
  }
  return -1;
}

struct nearest context_nearest_stencil(const struct halotune_ctx *ctx, const char *name) {
  struct nearest nearest = nearest_to(name, strlen(name));
  for (int i = 0; i < ctx->catalog.stencil_count + context_added_count(ctx); i++)
    nearest_try(&nearest, ctx->catalog.stencils[i].name);
  return nearest;
}

halotune_status context_fail_stencil(const struct halotune_ctx *ctx, const char *name) {
  const size_t length = strlen(name);
  const bool is_file = strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".yaml") == 0);
  if (is_file)
    return fail(HALOTUNE_NOT_FOUND,
                "'%s' is the name of a file: add the text of the file (halotune_stencil_add), and name the stencil as "
                "the text does",
                name);
  struct nearest nearest = context_nearest_stencil(ctx, name);
  if (*nearest.question)
    return fail(HALOTUNE_NOT_FOUND, "no database knows the stencil '%s'%s", name, nearest.question);
  return fail(HALOTUNE_NOT_FOUND, "no database knows the stencil '%s': run 'halotune tune %s'%s", name, name,
              ctx->catalog.database_count ? "" : "; there is no database yet");
}
