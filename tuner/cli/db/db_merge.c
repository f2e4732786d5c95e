/* db_merge.c: `halotune db merge` and `import`: add trusted files to the user's database, each completely or not at
 * all, and keep other files apart. db_look.h checks all of them before the first one is taken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "db/exchange/apart.h"
#include "db/exchange/merge.h"
#include "db/store/filesystem.h"
#include "tuner/cli/db/db_look.h"
#include "tuner/cli/options/option_value.h"

struct telling {
  const char *path;
};

static void print_conflict(void *context, const struct merge_conflict *conflict) {
  const struct telling *telling = context;
  const long *n = conflict->grid.n;
  char steps[32] = "";
  if (conflict->steps > 1) snprintf(steps, sizeof steps, ", %d steps", conflict->steps);
  printf("conflict: %s %s %ldx%ldx%ld%s, %s, %s, on %s: %.6g ms here, %.6g ms in %s: %s (%s)\n", conflict->stencil,
         conflict->dtype, n[0], n[1], n[2], steps, conflict->launch, conflict->cache, conflict->device,
         conflict->ours_ms, conflict->theirs_ms, telling->path,
         conflict->is_taken ? "that one is current now" : "this one stays current", conflict->why);
}

static void print_counts(const char *path, const struct merge_counts *counts) {
  long conflicts = counts->taken + counts->kept;
  printf(
      "%s: added %ld run%s, %ld measurement%s, %ld best configuration%s; %ld conflict%s, %ld decided for this file\n",
      path, counts->runs, PLURAL(counts->runs), counts->measurements, PLURAL(counts->measurements), counts->bests,
      PLURAL(counts->bests), conflicts, PLURAL(conflicts), counts->taken);
  if (counts->retired > 0) {
    printf("%s: it shows %ld current best configuration%s to be wrong: lookups no longer return %s\n", path,
           counts->retired, PLURAL(counts->retired), counts->retired == 1 ? "it" : "them");
  }
  if (counts->refuted > 0) {
    printf("%s: %ld of its best configurations %s known to be wrong: lookups do not return %s\n", path, counts->refuted,
           counts->refuted == 1 ? "is" : "are", counts->refuted == 1 ? "it" : "them");
  }
  if (counts->left > 0)
    printf("%s: %ld of its coefficients of predicted times %s not taken: those of another fit are kept\n", path,
           counts->left, counts->left == 1 ? "is" : "are");
}

/* Add a file to the user's database. */
static halotune_status file_merge(const struct invocation *invocation, struct store *store, const struct looked *file) {
  char document[IDENTITY_HEX_BYTES];
  struct telling telling = {file->path};
  struct merge_counts counts;
  struct merge_options options = {
      .without_code = option_given(invocation, "no-code"), .conflict = print_conflict, .context = &telling};
  identity_hex(file->in.document, document);
  options.origin = (struct origin){.kind = option_given(invocation, "shipped") ? "shipped" : "imported",
                                   .name = file->origin,
                                   .signer = file->signer,
                                   .document = document,
                                   .key = file->key};
  halotune_status status = store_merge(store, file->in.store, &options, &counts);
  if (status != HALOTUNE_OK) return status;
  print_counts(file->path, &counts);
  fprintf(
      stderr,
      "halotune: %s is trusted: programs that look up a kernel will run its code on your GPU with their own rights\n",
      file->path);
  return HALOTUNE_OK;
}

/* Keep a file beside the user's database. */
static halotune_status file_keep(const char *path, const struct looked *file) {
  char *kept, hex[KEY_HEX_BYTES];
  bool is_new;
  halotune_status status = apart_keep(path, file->in.store, file->origin, file->in.document, &kept, &is_new);
  if (status != HALOTUNE_OK) return status;
  printf("%s: kept as %s%s\n", file->path, kept, is_new ? "" : ", as before");
  key_hex(file->in.signer.bytes, hex);
  if (file->in.is_signed)
    fprintf(
        stderr,
        "halotune: %s is not trusted: no lookup, search or report uses any of it, since you have not named the key that "
        "signed it, %s; 'halotune trust add NAME KEY' does so\n",
        file->path, hex);
  else
    fprintf(
        stderr,
        "halotune: %s is not trusted: no lookup, search or report uses any of it; 'halotune db import --trust' shows "
        "what it would bring, and with --yes takes it\n",
        file->path);
  free(kept);
  return HALOTUNE_OK;
}

static halotune_status files_take(const struct invocation *invocation, const char *path, struct looked *files,
                                  int count) {
  const bool sure = option_given(invocation, "yes");
  struct store *store = NULL;
  bool any = false;
  for (int i = 0; i < count; i++) any = any || files[i].is_trusted;
  halotune_status status = any && sure ? store_open(path, STORE_WRITE, &store) : HALOTUNE_OK;
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
    if (files[i].is_trusted && !sure) continue;
    if (files[i].is_database) {
      printf("%s: it is the database itself; there is nothing to add\n", files[i].path);
      continue;
    }
    status = looked_open(&files[i]);
    if (status == HALOTUNE_OK && !files[i].is_trusted) status = file_keep(path, &files[i]);
    else if (status == HALOTUNE_OK) status = file_merge(invocation, store, &files[i]);
    looked_close(&files[i]);
  }
  if (status == HALOTUNE_OK && any && !sure) fprintf(stderr, "halotune: nothing was taken yet; add --yes to do it\n");
  store_close(store);
  return status;
}

halotune_status db_merge(const struct invocation *invocation) {
  const int count = invocation->argument_count - 1;
  const char *named = option_value(invocation, "db");
  char *path = NULL;
  struct trust trust;
  halotune_status status = trust_read(invocation, &trust);
  struct looked *files = calloc((size_t)count + 1, sizeof *files);
  if (!files) return fail_memory();
  if (status == HALOTUNE_OK && !named) status = store_default_path(&path);
  if (status == HALOTUNE_OK && named && !(path = strdup(named))) status = fail_memory();
  /* Reading would wait for a lock that never comes. */
  if (status == HALOTUNE_OK && trust.is_sure && file_is_regular(path) && file_is_shared(path))
    status = file_locks_check(path);
  if (status == HALOTUNE_OK) status = files_look(invocation, path, &trust, files, count);
  if (status == HALOTUNE_OK) status = files_take(invocation, path, files, count);
  for (int i = 0; i < count; i++) looked_close(&files[i]);
  signers_free(&trust.signers);
  free(path);
  free(files);
  return status;
}
