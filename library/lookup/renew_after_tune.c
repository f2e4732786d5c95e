/* renew_after_tune.c: makes a new ctx that has read the databases again, after halotune_tune (library/tune/tune.c).
 * Nothing else makes a ctx read them again. Readers take no lock: they follow one pointer. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/exchange.h"
#include "base/files/own.h"
#include "library/lookup/lookup.h"

struct halotune_ctx *context_of_config(struct halotune_ctx *root, const halotune_config *config) {
  const void *made_by = config->reserved[CONFIG_CTX];
  if (made_by == root) return root;
  struct halotune_ctx *at = atomic_load_explicit(&root->newest, memory_order_acquire);
  while (at && at != made_by) at = at->before;
  return at;
}

/* Refuse a database that was opened through another path than before, or that another user can have put there: he can
 * make its folder anew once it was moved away. What was opened is looked at. */
static halotune_status check_again(const struct known_database *then, const struct known_database *now) {
  const bool is_known = then->file.device != 0; /* else its path may have had links */
  if (is_known && strcmp(then->path, now->path) != 0)
    return fail(HALOTUNE_DB, "%s: a link has taken the place of a part of this path", then->path);
  if (exchange_is_trusted(now->file.owner, then->file.owner) &&
      exchange_is_trusted(now->file.folder_owner, then->file.folder_owner))
    return HALOTUNE_OK;
  return fail(HALOTUNE_DB, "%s: a file or folder of another user has taken its place", now->path);
}

/*   tuned  the first database of `after`, if it is not one of `before` */
static halotune_status check_all_again(const struct catalog *before, const struct known_database *tuned,
                                       const struct catalog *after) {
  const int added = after->database_count - before->database_count;
  halotune_status status = added > 0 ? check_again(tuned, &after->databases[0]) : HALOTUNE_OK;
  for (int i = 0; i < before->database_count && status == HALOTUNE_OK; i++)
    status = check_again(&before->databases[i], &after->databases[added + i]);
  return status;
}

void context_note_database(char *path, struct known_database *out) {
  struct stat file, folder;
  *out = (struct known_database){.path = path, .file = {.owner = geteuid(), .folder_owner = geteuid()}};
  if (lstat(path, &file) == 0) out->file.owner = file.st_uid;
  if (!own_folder_of(path, &folder)) return;
  out->file.device = folder.st_dev;
  out->file.folder_owner = folder.st_uid;
}

/* Open the databases of `from`. If `tuned` is none of them, open it before them. */
static halotune_status open_again(const struct halotune_ctx *from, const struct known_database *tuned,
                                  struct halotune_ctx **out) {
  const int count = from->catalog.database_count;
  const char **paths = malloc(((size_t)count + 1) * sizeof *paths);
  int used = 0;
  *out = NULL;
  if (!paths) return fail_memory();
  bool is_listed = false;
  for (int i = 0; i < count; i++) is_listed = is_listed || strcmp(from->catalog.databases[i].path, tuned->path) == 0;
  if (!is_listed) paths[used++] = tuned->path;
  for (int i = 0; i < count; i++) paths[used++] = from->catalog.databases[i].path;
  halotune_status status = halotune_open(paths, used, out);
  if (status == HALOTUNE_OK) status = check_all_again(&from->catalog, tuned, &(*out)->catalog);
  if (status != HALOTUNE_OK) {
    halotune_close(*out);
    *out = NULL;
  }
  free(paths);
  return status;
}

/* The stencil that was added first after this turn; NULL for none. */
static const struct known_stencil *next_added(const struct halotune_ctx *ctx, unsigned after) {
  const struct known_stencil *added = &ctx->catalog.stencils[ctx->catalog.stencil_count], *next = NULL;
  for (int i = 0; i < atomic_load(&ctx->added_stencils); i++) {
    const unsigned turn = atomic_load(&added[i].turn);
    if (turn > after && (!next || turn < atomic_load(&next->turn))) next = &added[i];
  }
  return next;
}

static halotune_status renew_catalog(struct halotune_ctx *root, const struct known_database *tuned) {
  struct halotune_ctx *later;
  halotune_status status = open_again(context_newest(root), tuned, &later);
  if (status != HALOTUNE_OK || !later) return status;
  pthread_mutex_lock(&root->lock);
  struct halotune_ctx *now = context_newest(root);
  const struct known_stencil *next = next_added(now, 0);
  for (; next && status == HALOTUNE_OK; next = next_added(now, atomic_load(&next->turn)))
    status = halotune_stencil_add(later, next->text);
  if (status == HALOTUNE_OK) {
    later->before = now == root ? NULL : now;
    atomic_store_explicit(&root->newest, later, memory_order_release);
  }
  pthread_mutex_unlock(&root->lock);
  if (status != HALOTUNE_OK) context_release(later);
  return status;
}

halotune_status context_renew(struct halotune_ctx *root, const struct known_database *tuned) {
  pthread_mutex_lock(&root->renewing); /* a ctx that began to read earlier must not replace one that read later */
  const halotune_status status = renew_catalog(root, tuned);
  pthread_mutex_unlock(&root->renewing);
  if (status == HALOTUNE_OK || status == HALOTUNE_MEMORY) return status;
  return fail(status, "%s; the ctx keeps its earlier answers", fail_text());
}
