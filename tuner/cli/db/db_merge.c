/* db_merge.c: `halotune db merge` and `import`: add trusted files to the user's database, each completely or not at
 * all, several in a transaction, and keep other files apart. db_look.h checks all of them before the first one is
 * taken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/path.h"
#include "base/system/clock.h"
#include "base/text/utf8.h"
#include "db/exchange/merge.h"
#include "db/exchange/untrusted_files.h"
#include "db/store/check.h"
#include "db/store/filesystem.h"
#include "db/store/query.h"
#include "library/lookup/installed.h"
#include "stencil/file/grid_text.h"
#include "tuner/cli/db/db_answers.h"
#include "tuner/cli/db/db_look.h"
#include "tuner/cli/options/option_value.h"

/* The facts about a file that are printed after its rows are committed. */
struct telling {
  const char *path;
  FILE *out;
};

static void print_conflict(void *context, const struct merge_conflict *conflict) {
  const struct telling *telling = context;
  struct text grid = {0};
  char steps[32] = "";
  if (conflict->steps > 1) snprintf(steps, sizeof steps, ", %d steps", conflict->steps);
  grid_text(&conflict->grid, grid_dims(&conflict->grid), &grid);
  fprintf(telling->out, "conflict: %s %s %s%s, %s, %s, on %s: %.6g ms here, %.6g ms in %s: %s (%s)\n",
          conflict->stencil, conflict->dtype, text_string(&grid), steps, conflict->launch, conflict->cache,
          conflict->device, conflict->ours_ms, conflict->theirs_ms, telling->path,
          conflict->is_taken ? "that one is current now" : "this one stays current", conflict->why);
  text_free(&grid);
}

/* Print what to do about rows of another signer. */
static void print_remedy(const struct telling *telling, const char *signer) {
  if (*signer) fprintf(telling->out, ": after 'halotune db forget --signer %s', import this file again", signer);
  fprintf(telling->out, "\n");
}

static void print_met(void *context, const struct merge_met *met) {
  const struct telling *telling = context;
  const char *from = *met->signer ? met->signer : "a document without a signature";
  if (met->rows > 0) {
    fprintf(telling->out, "%s: %ld of its runs, winners and coefficients %s here already, from %s, and stay%s theirs",
            telling->path, met->rows, met->rows == 1 ? "is" : "are", from, met->rows == 1 ? "s" : "");
    print_remedy(telling, met->signer);
  }
  if (met->varying > 0) {
    fprintf(telling->out,
            "%s: %ld of its GPUs and templates %s here already, from %s, with other clocks, memory or text, and stay%s"
            " so",
            telling->path, met->varying, met->varying == 1 ? "is" : "are", from, met->varying == 1 ? "s" : "");
    print_remedy(telling, met->signer);
  }
}

static void print_counts(const struct telling *telling, const struct merge_counts *counts) {
  const char *path = telling->path;
  long conflicts = counts->taken + counts->kept;
  fprintf(
      telling->out,
      "%s: added %ld run%s, %ld measurement%s, %ld best configuration%s; %ld conflict%s, %ld decided for this file\n",
      path, counts->runs, PLURAL(counts->runs), counts->measurements, PLURAL(counts->measurements), counts->bests,
      PLURAL(counts->bests), conflicts, PLURAL(conflicts), counts->taken);
  if (counts->retired > 0) {
    fprintf(telling->out, "%s: it shows %ld current best configuration%s to be wrong: lookups no longer return %s\n",
            path, counts->retired, PLURAL(counts->retired), counts->retired == 1 ? "it" : "them");
  }
  if (counts->refuted > 0) {
    fprintf(telling->out, "%s: %ld of its best configurations %s known to be wrong: lookups do not return %s\n", path,
            counts->refuted, counts->refuted == 1 ? "is" : "are", counts->refuted == 1 ? "it" : "them");
  }
  if (counts->left > 0)
    fprintf(telling->out,
            "%s: %ld of its coefficients of predicted times %s not taken: those of another fit are kept\n", path,
            counts->left, counts->left == 1 ? "is" : "are");
  if (counts->foreign > 0)
    fprintf(telling->out,
            "%s: %ld of its results %s not taken: this database has their run from you or from another document, a "
            "verdict of it that is later than its end, or a right result that takes a wrong one back\n",
            path, counts->foreign, counts->foreign == 1 ? "is" : "are");
  if (counts->future > 0)
    fprintf(
        telling->out,
        "%s: %ld of its rows %s not taken: by this machine's clock, %s in the future; import the file again later\n",
        path, counts->future, counts->future == 1 ? "is" : "are",
        counts->future == 1 ? "its date is" : "their dates are");
}

#define SQL_NEWEST_TEMPLATE "select coalesce(max(id), 0) from template"

/* The user's database while files are added to it. */
struct taking {
  const struct invocation *invocation;
  struct store *store;
  struct looked *files;
};

/* Look whether the user's database has room for the templates that a file brought.
 *   before  the newest template without the file */
static halotune_status room_check(struct store *store, const char *path, int64_t before) {
  int64_t after = 0;
  char detail[FAIL_TEXT_BYTES / 2];
  halotune_status status = query_number(store_connection(store), SQL_NEWEST_TEMPLATE, &after);
  if (status == HALOTUNE_OK && after > before) status = store_check_size(store);
  if (status != HALOTUNE_DB) return status;
  snprintf(detail, sizeof detail, "%s", fail_text());
  return fail(status, "%s: with this file in the database %s; 'halotune db forget' makes room", path, detail);
}

/* Add a file to the user's database, within a transaction.
 *   out  receives the facts to print */
static halotune_status file_merge(const struct taking *taking, struct looked *file, FILE *out,
                                  struct merge_counts *counts) {
  char document[IDENTITY_HEX_BYTES];
  struct telling telling = {file->path, out};
  struct merge_options options = {.without_code = option_given(taking->invocation, "no-code"),
                                  .conflict = print_conflict,
                                  .met = print_met,
                                  .context = &telling,
                                  .find = installed_template};
  identity_hex(file->in.document, document);
  options.origin = (struct origin){.kind = file_origin_kind(taking->invocation),
                                   .name = file->origin,
                                   .signer = file->signer,
                                   .document = document,
                                   .key = file->key};
  int64_t newest = 0;
  halotune_status status = query_number(store_connection(taking->store), SQL_NEWEST_TEMPLATE, &newest);
  if (status == HALOTUNE_OK) status = store_merge(taking->store, file->in.store, &options, counts);
  if (status == HALOTUNE_OK) status = room_check(taking->store, file->path, newest);
  if (status == HALOTUNE_OK) print_counts(&telling, counts);
  return status;
}

/* Whether a file can share a transaction with others. It must be possible to open it again if the transaction
 * fails. */
static bool is_together(const struct looked *file) {
  return file->is_trusted && !file->is_database && !file->in.is_once;
}

static void print_trusted(const struct looked *file) {
  fprintf(
      stderr,
      "halotune: %s is trusted: programs that look up a kernel will run its code on your GPU with their own rights\n",
      file->path);
}

/* How long a transaction takes further files. Other writers wait 30 s for its end. */
static const double together_ms = 3000;

/* Add files in one transaction: the first one, and those after it while there is time. Their rows go to the same pages
 * of an index, which are then written once for all files.
 *   end   the file after the last one that may be added
 *   next  receives the file after the last one that was added. If a file fails, `next` receives that file, and none is
 *         added */
static halotune_status files_merge(const struct taking *taking, int first, int end, int *next) {
  sqlite3 *connection = store_connection(taking->store);
  const double until_ms = clock_ms() + together_ms;
  struct merge_counts counts;
  char *text = NULL;
  size_t length = 0;
  int i = first;
  FILE *out = open_memstream(&text, &length);
  if (!out) return fail_memory();
  halotune_status status = looked_open(&taking->files[first]); /* other writers may write between two transactions */
  if (status == HALOTUNE_OK) status = query_script(connection, "begin immediate");
  while (status == HALOTUNE_OK && i < end &&
         (i == first || (is_together(&taking->files[i]) && clock_ms() < until_ms))) {
    status = looked_open(&taking->files[i]);
    if (status == HALOTUNE_OK) status = file_merge(taking, &taking->files[i], out, &counts);
    looked_close(&taking->files[i]);
    if (status == HALOTUNE_OK) i++;
  }
  status = query_finish(connection, status);
  if (fclose(out) != 0 && status == HALOTUNE_OK) status = fail_memory();
  if (status == HALOTUNE_OK) fwrite(text, 1, length, stdout);
  for (int k = first; k < i && status == HALOTUNE_OK; k++) print_trusted(&taking->files[k]);
  free(text);
  *next = i;
  return status;
}

/* Add files as files_merge does, but a file that cannot be opened again alone. If one of several fails, those before
 * it are added one by one, and it fails again. If the commit fails, no file has failed: the one at `next` was not
 * looked at yet, and need not be one of those that share a transaction. */
static halotune_status files_merge_again(const struct taking *taking, int first, int end, int *next) {
  if (!is_together(&taking->files[first])) return files_merge(taking, first, first + 1, next);
  halotune_status status = files_merge(taking, first, end, next);
  const int failed = *next;
  if (status == HALOTUNE_OK || failed == first) return status;
  status = HALOTUNE_OK;
  for (int i = first; i <= failed && i < end && is_together(&taking->files[i]) && status == HALOTUNE_OK; i = *next)
    status = files_merge(taking, i, i + 1, next);
  return status;
}

/* Keep a file beside the user's database. */
static halotune_status file_keep(const char *path, const struct looked *file) {
  char *kept, hex[KEY_HEX_BYTES];
  bool is_new;
  const struct identity *document = file->in.is_document ? &file->in.document : NULL;
  halotune_status status = untrusted_keep(path, file->in.store, file->origin, document, &kept, &is_new);
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

/* Open a copy of the user's database in memory; an empty one if there is none yet. It is NULL if the database is too
 * large for that. The guard of the database ends, because the rows of files come into the copy. */
static halotune_status copy_open(const char *path, struct store **out) {
  halotune_status status = store_open(path, STORE_READ, out);
  if (status == HALOTUNE_NOT_FOUND) return store_open_memory(out);
  if (status == HALOTUNE_OK) status = store_hold(*out);
  if (status == HALOTUNE_OK) sqlite3_progress_handler(store_connection(*out), 0, NULL, NULL);
  if (status == HALOTUNE_OK && !store_has_file(*out)) return status;
  store_close(*out);
  *out = NULL;
  return status;
}

/* Add the trusted files to a copy of the user's database, and discard what this would print.
 *   future  receives how many rows are left out because their dates lie in the future */
static halotune_status files_try(const struct taking *taking, int count, long *future) {
  halotune_status status = HALOTUNE_OK;
  struct merge_counts counts = {.future = 0};
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  if (!out) return fail_memory();
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
    if (!taking->files[i].is_trusted || taking->files[i].is_database) continue;
    status = looked_open(&taking->files[i]);
    if (status == HALOTUNE_OK) status = query_script(store_connection(taking->store), "begin");
    if (status == HALOTUNE_OK) status = file_merge(taking, &taking->files[i], out, &counts);
    status = query_finish(store_connection(taking->store), status);
    *future += counts.future;
    looked_close(&taking->files[i]);
  }
  fclose(out);
  free(text);
  return status;
}

static void left_print(long left) {
  if (left > 0)
    printf("%ld answer%s of lookups %s not compared: the comparison took too long\n", left, PLURAL(left),
           left == 1 ? "was" : "were");
}

/* Print why answers cannot be compared, such as a damaged starter database. That stops no import. */
static halotune_status comparison_left_out(halotune_status status) {
  char printable[FAIL_TEXT_BYTES];
  if (status == HALOTUNE_OK || status == HALOTUNE_MEMORY) return status;
  printable_name(printable, sizeof printable, fail_text());
  fprintf(stderr, "halotune: the answers before and after are not compared: %s\n", printable);
  return HALOTUNE_OK;
}

/* Print which answers would change if the trusted files were taken. Their rows and those of the user's database are in
 * memory meanwhile. If a file is in conflict, those before it would be taken. */
static halotune_status changes_print(const struct invocation *invocation, const char *path, struct looked *files,
                                     int count) {
  struct store *copy = NULL;
  struct answers *before = NULL;
  char *text = NULL;
  size_t length = 0;
  long changed = 0, left = 0, future = 0;
  struct fail_kept kept;
  FILE *out = open_memstream(&text, &length);
  halotune_status tried = HALOTUNE_OK, status = out ? copy_open(path, &copy) : fail_memory();
  if (status == HALOTUNE_OK && !copy)
    printf("%s is too large for a comparison of the answers before and after\n", path);
  if (status == HALOTUNE_OK && copy) {
    const struct taking trial = {invocation, copy, files};
    status = comparison_left_out(answers_ask(copy, &before));
    if (status == HALOTUNE_OK) tried = files_try(&trial, count, &future);
    fail_keep(&kept);
    if (status == HALOTUNE_OK && tried != HALOTUNE_MEMORY && before)
      status = comparison_left_out(answers_compare(before, copy, out, &changed, &left));
  }
  if (out && fclose(out) != 0 && status == HALOTUNE_OK) status = fail_memory();
  if (status == HALOTUNE_OK && changed > 0) printf("answers of lookups that would change:\n%s", text);
  if (status == HALOTUNE_OK) left_print(left);
  if (status == HALOTUNE_OK && future > 0)
    printf("%ld row%s with a date in the future %s not among these: look again before you take them later\n", future,
           PLURAL(future), future == 1 ? "is" : "are");
  if (status == HALOTUNE_OK && tried != HALOTUNE_OK) {
    fail_put_back(&kept);
    status = tried;
  }
  free(text);
  answers_free(before);
  store_close(copy);
  return status;
}

/* Print how many answers have changed. */
static halotune_status changes_count(const struct answers *before, struct store *store) {
  long changed = 0, left = 0;
  const halotune_status status = comparison_left_out(answers_compare(before, store, NULL, &changed, &left));
  if (status == HALOTUNE_OK) left_print(left);
  if (status == HALOTUNE_OK && changed > 0)
    printf("%ld answer%s of lookups ha%s changed\n", changed, PLURAL(changed), changed == 1 ? "s" : "ve");
  return status;
}

static halotune_status files_take(const struct invocation *invocation, const char *path, struct looked *files,
                                  int count) {
  const bool sure = option_given(invocation, "yes");
  struct store *store = NULL;
  struct answers *before = NULL;
  bool any = false, adds = false;
  for (int i = 0; i < count; i++) {
    any = any || files[i].is_trusted;
    adds = adds || (files[i].is_trusted && !files[i].is_database);
  }
  halotune_status status = any && sure ? store_open(path, STORE_WRITE, &store) : HALOTUNE_OK;
  if (status == HALOTUNE_OK && store && adds) status = comparison_left_out(answers_ask(store, &before));
  const struct taking taking = {invocation, store, files};
  for (int i = 0, next; i < count && status == HALOTUNE_OK; i = next) {
    next = i + 1;
    if (files[i].is_trusted && !sure) continue;
    if (files[i].is_database) {
      printf("%s: it is the database itself; there is nothing to add\n", files[i].path);
    } else if (files[i].is_trusted) {
      status = files_merge_again(&taking, i, count, &next);
    } else {
      status = looked_open(&files[i]);
      if (status == HALOTUNE_OK) status = file_keep(path, &files[i]);
      looked_close(&files[i]);
    }
  }
  if (before && status != HALOTUNE_MEMORY) {
    struct fail_kept kept; /* of a file that was refused after others were taken */
    fail_keep(&kept);
    const halotune_status counted = changes_count(before, store);
    if (status == HALOTUNE_OK) status = counted;
    else fail_put_back(&kept);
  }
  if (status == HALOTUNE_OK && adds && !sure) status = changes_print(invocation, path, files, count);
  if (status == HALOTUNE_OK && any && !sure) fprintf(stderr, "halotune: nothing was taken yet; add --yes to do it\n");
  answers_free(before);
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
  /* Reading would wait for ever for a lock. */
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
