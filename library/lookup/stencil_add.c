/* stencil_add.c: halotune_stencil_add: stencils that a program brings along. They stand behind those of the databases
 * in the catalog, in room that catalog_finish has left for them, so that nothing moves. */
#include <stdio.h>
#include <string.h>

#include "library/lookup/find_stencil.h"
#include "library/lookup/forked.h"

/* Find the stencil of a database with this name and meaning. Returns -1 if there is none. */
static int find_of_name(const struct catalog *catalog, const char *name, const char *hash) {
  for (int i = 0; i < catalog->stencil_count; i++) {
    const struct known_stencil *stencil = &catalog->stencils[i];
    if (*stencil->text && strcmp(stencil->name, name) == 0 && strcmp(stencil->hash, hash) == 0) return i;
  }
  return -1;
}

/* Say whose rows and verdicts are for a text of this name and meaning. A disputed name has its rows for itself.
 *   at  place of the added stencil */
static void find_rows_of(const struct catalog *catalog, struct known_stencil *added, int at) {
  const struct known_stencil *list = catalog->stencils;
  const int known = names_find(&catalog->stencil_names, added->hash);
  added->of_name = find_of_name(catalog, added->name, added->hash);
  added->meaning = known >= 0 ? list[known].meaning : -1;
  if (added->of_name >= 0) added->rows_of = list[added->of_name].rows_of;
  else added->rows_of = known >= 0 && !list[known].is_disputed ? list[known].rows_of : at;
}

/* Put a parsed stencil into the catalog. If it is already there, it becomes the newest of its name again. The caller
 * holds the lock. *is_taken receives whether the catalog has taken over `parsed`. */
static halotune_status add_parsed(struct halotune_ctx *ctx, const char *text, struct parsed_stencil *parsed,
                                  bool *is_taken) {
  struct catalog *catalog = &ctx->catalog;
  const int count = context_added_count(ctx), at = catalog->stencil_count + count;
  struct known_stencil *added = &catalog->stencils[at];
  char hash[IDENTITY_HEX_BYTES];
  const int same = context_find_same(ctx, parsed->stencil->name, text);
  identity_hex(parsed->analysis->hash, hash);
  *is_taken = false;
  if (same >= 0) {
    atomic_store_explicit(&catalog->stencils[same].turn, ++ctx->turns, memory_order_relaxed);
    return HALOTUNE_OK;
  }
  if (count == CATALOG_MOST_ADDED)
    return fail(HALOTUNE_ARGUMENT, "halotune_stencil_add: a ctx takes at most %d stencils", CATALOG_MOST_ADDED);
  added->name = arena_text(&catalog->arena, parsed->stencil->name, strlen(parsed->stencil->name));
  added->text = arena_text(&catalog->arena, text, strlen(text));
  if (!added->name || !added->text) return fail_memory();
  added->newest = "";
  snprintf(added->hash, sizeof added->hash, "%s", hash);
  find_rows_of(catalog, added, at);
  atomic_store(&added->parsed, parsed);
  atomic_store(&added->turn, ++ctx->turns);
  *is_taken = true;
  atomic_store_explicit(&ctx->added_stencils, count + 1, memory_order_release);
  return HALOTUNE_OK;
}

halotune_status halotune_stencil_add(halotune_ctx *ctx, const char *text) {
  struct parsed_stencil *parsed = NULL;
  bool is_taken = false;
  if (!ctx || !text) return fail(HALOTUNE_ARGUMENT, "halotune_stencil_add: an argument is NULL");
  const struct source source = source_of("halotune_stencil_add", text, strlen(text));
  halotune_status status = forked_check(ctx->generation);
  if (status == HALOTUNE_OK) status = parsed_stencil_make(&source, &parsed);
  if (status != HALOTUNE_OK) return status;
  pthread_mutex_lock(&ctx->lock); /* so that the order in which stencils were added stays */
  struct halotune_ctx *newest = context_newest(ctx);
  if (newest != ctx) pthread_mutex_lock(&newest->lock);
  status = add_parsed(newest, text, parsed, &is_taken);
  if (newest != ctx) pthread_mutex_unlock(&newest->lock);
  pthread_mutex_unlock(&ctx->lock);
  if (!is_taken) parsed_stencil_free(parsed);
  return status;
}
