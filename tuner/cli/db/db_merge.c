/* db_merge.c: `halotune db merge` and `import`: add files to the user's database. Each file is added completely or not
 * at all. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "db/exchange/import.h"
#include "db/exchange/merge.h"
#include "db/store/check.h"
#include "tuner/cli/db/db.h"
#include "tuner/cli/options/option_value.h"

/* The first defect of a file. */
struct finding {
  char text[FAIL_TEXT_BYTES / 2];
};

static void finding_keep(void *context, const char *text) {
  struct finding *finding = context;
  if (!finding->text[0]) snprintf(finding->text, sizeof finding->text, "%s", text);
}

/* Open a file and check all of it, before any of its rows is used. */
static halotune_status file_open(const char *path, struct store **out) {
  struct finding finding = {""};
  long found = 0;
  halotune_status status = import_open(path, out);
  if (status != HALOTUNE_OK) return status;
  status = store_check(*out, finding_keep, &finding, &found);
  if (status == HALOTUNE_OK && found > 0) {
    status = fail(HALOTUNE_PARSE, "%s: %s (%ld error%s in all); nothing was merged", path, finding.text, found,
                  PLURAL(found));
  }
  if (status == HALOTUNE_OK) return status;
  store_close(*out);
  *out = NULL;
  return status;
}

struct telling {
  const char *path;
};

static void print_conflict(void *context, const struct merge_conflict *conflict) {
  const struct telling *telling = context;
  const long *n = conflict->grid.n;
  printf("conflict: %s %s %ldx%ldx%ld, %s, %s, on %s: %.6g ms here, %.6g ms in %s: %s (%s)\n", conflict->stencil,
         conflict->dtype, n[0], n[1], n[2], conflict->launch, conflict->cache, conflict->device, conflict->ours_ms,
         conflict->theirs_ms, telling->path, conflict->is_taken ? "that one is current now" : "this one stays current",
         conflict->why);
}

static void print_counts(const char *path, const struct merge_counts *counts, bool trust) {
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
  if (trust) {
    fprintf(
        stderr,
        "halotune: %s is trusted: programs that look up a kernel will run its code on your GPU with their own rights\n",
        path);
  } else if (counts->bests > 0) {
    fprintf(
        stderr,
        "halotune: %s is not trusted: its code is stored and shown, but lookups do not return it; use --trust if your GPU may run it\n",
        path);
  }
}

/* Copy the file's name without its folder, in printable characters on one line, for the database to keep. */
static void origin_name(const char *path, char *out, size_t bytes) {
  const char *slash = strrchr(path, '/');
  printable_copy(out, bytes, slash ? slash + 1 : path);
  for (; *out; out++) {
    if (*out == '\n' || *out == '\t') *out = '?';
  }
}

static halotune_status file_merge(struct store *store, struct store *from, const char *path, bool trust) {
  char origin[PATH_MAX];
  struct telling telling = {path};
  struct merge_counts counts;
  struct merge_options options = {origin, trust, print_conflict, &telling};
  origin_name(path, origin, sizeof origin);
  halotune_status status = store_merge(store, from, &options, &counts);
  if (status == HALOTUNE_OK) print_counts(path, &counts, trust);
  return status;
}

halotune_status db_merge(const struct invocation *invocation) {
  int count = invocation->argument_count - 1;
  char *const *paths = invocation->arguments + 1;
  bool trust = option_given(invocation, "trust");
  struct store *store = NULL;
  halotune_status status = HALOTUNE_OK;
  struct store **files = calloc((size_t)count + 1, sizeof(struct store *));
  if (!files) return fail_memory();
  /* All files are checked before the first one is merged, and before a database is made for them. */
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) status = file_open(paths[i], &files[i]);
  if (status == HALOTUNE_OK) status = store_open(option_value(invocation, "db"), STORE_WRITE, &store);
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) status = file_merge(store, files[i], paths[i], trust);
  store_close(store);
  for (int i = 0; i < count; i++) store_close(files[i]);
  free(files);
  return status;
}
