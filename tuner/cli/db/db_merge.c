/* db_merge.c: `halotune db merge` and `import`: add trusted files to the user's database, each completely or not at
 * all, and keep other files apart. A file is trusted if the user says so, or if somebody signed it whom the user has
 * named. All files are checked before the first one is taken. One file at a time is in memory, because the files of a
 * fleet may be larger than the memory; what is printed of them is kept until all are checked. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/key_file.h"
#include "base/utf8.h"
#include "db/exchange/apart.h"
#include "db/exchange/import.h"
#include "db/exchange/merge.h"
#include "db/exchange/signers.h"
#include "db/store/check.h"
#include "tuner/cli/db/db.h"
#include "tuner/cli/db/db_brings.h"
#include "tuner/cli/options/option_value.h"

/* The first defect of a file. */
struct finding {
  char text[FAIL_TEXT_BYTES / 2];
};

static void finding_keep(void *context, const char *text) {
  struct finding *finding = context;
  if (!finding->text[0]) snprintf(finding->text, sizeof finding->text, "%s", text);
}

/* A file that is imported. */
struct file {
  const char *path;
  char origin[PATH_MAX]; /* its name alone, in printable characters */
  struct imported in;    /* its store is open only while the file is looked at */
  bool is_database;      /* it is the user's database itself, as `db merge *.db` may name it: nothing is done with it */
  bool is_trusted;
  char signer[SIGNER_NAME_BYTES]; /* the name that the user gave to who signed it; "" for none */
  char key[KEY_HEX_BYTES];        /* the public key of a signer that is trusted, or "" */
};

/* Copy the file's name without its folder, in printable characters on one line, for the database to keep. */
static void origin_name(const char *path, char *out, size_t bytes) {
  const char *slash = strrchr(path, '/');
  printable_copy(out, bytes, slash ? slash + 1 : path);
  for (; *out; out++) {
    if (*out == '\n' || *out == '\t') *out = '?';
  }
}

static void file_close(struct file *file) {
  store_close(file->in.store);
  file->in.store = NULL;
}

/* Open a file once more, which must have the content that was checked. */
static halotune_status file_open_again(struct file *file) {
  struct imported in;
  halotune_status status = import_open(file->path, &in);
  if (status != HALOTUNE_OK) return status;
  if (identity_compare(in.document, file->in.document) == 0) {
    file->in.store = in.store;
    return HALOTUNE_OK;
  }
  store_close(in.store);
  return fail(HALOTUNE_DB, "%s: it was changed after it had been checked; it was not taken", file->path);
}

/* Open a file and check all of it, before any of its rows is used. */
static halotune_status file_open(const char *path, struct file *out) {
  struct finding finding = {""};
  long found = 0;
  out->path = path;
  origin_name(path, out->origin, sizeof out->origin);
  halotune_status status = import_open(path, &out->in);
  if (status != HALOTUNE_OK) return status;
  status = store_check(out->in.store, finding_keep, &finding, &found);
  if (status != HALOTUNE_OK || found == 0) return status;
  return fail(HALOTUNE_PARSE, "%s: %s (%ld error%s in all); nothing was merged", path, finding.text, found,
              PLURAL(found));
}

/* Whom the user trusts: what is said on the command line, and in the file of signers. */
struct trust {
  bool is_given, is_sure, has_key;
  struct public_key key; /* of --signed-by */
  struct signers signers;
};

static halotune_status trust_read(const struct invocation *invocation, struct trust *out) {
  const char *key = option_value(invocation, "signed-by");
  *out = (struct trust){.is_given = option_given(invocation, "trust"),
                        .is_sure = option_given(invocation, "yes"),
                        .has_key = key != NULL};
  return key ? public_key_find(key, &out->key) : HALOTUNE_OK;
}

/* Decide about a document that somebody signed. */
static halotune_status signed_decide(struct trust *trust, struct file *file) {
  char hex[KEY_HEX_BYTES];
  const struct signer *signer;
  halotune_status status = trust->signers.list ? HALOTUNE_OK : signers_read(&trust->signers);
  if (status != HALOTUNE_OK) return status;
  key_hex(file->in.signer.bytes, hex);
  signer = signers_find(&trust->signers, &file->in.signer);
  file->is_trusted = signer || trust->has_key;
  if (signer) snprintf(file->signer, sizeof file->signer, "%s", signer->name);
  if (file->is_trusted) snprintf(file->key, sizeof file->key, "%s", hex);
  if (file->is_trusted || !(trust->is_given || trust->is_sure)) return HALOTUNE_OK;
  return fail(
      HALOTUNE_PARSE,
      "%s: it is signed with the key %s, which you have not named; if you know from its owner that it is right, "
      "'halotune trust add NAME %s' names it",
      file->path, hex, hex);
}

/* Decide whether a file is trusted. With --signed-by and --trust, files without signature are. */
static halotune_status file_decide(struct trust *trust, struct file *file) {
  const bool is_by_key =
      trust->has_key && file->in.is_signed && memcmp(&trust->key, &file->in.signer, sizeof trust->key) == 0;
  if (trust->has_key && !is_by_key && (file->in.is_signed || !trust->is_given))
    return fail(HALOTUNE_PARSE, "%s: it is not signed with the key of --signed-by; nothing was taken", file->path);
  if (file->in.is_signed) return signed_decide(trust, file);
  file->is_trusted = trust->is_given;
  if (trust->is_given || !trust->is_sure) return HALOTUNE_OK;
  return fail(HALOTUNE_PARSE,
              "%s: it is not signed. --yes alone takes documents of signers that 'halotune trust add' named; "
              "--trust --yes takes others",
              file->path);
}

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
static halotune_status file_merge(const struct invocation *invocation, struct store *store, const struct file *file) {
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
static halotune_status file_keep(const char *path, const struct file *file) {
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

/* Check all files, decide about them, and then print what the trusted ones would bring: a list where nothing is taken
 * yet. */
static halotune_status files_look(const struct invocation *invocation, const char *path, struct trust *trust,
                                  struct file *files, int count) {
  char *text = NULL;
  size_t length = 0;
  halotune_status status = HALOTUNE_OK;
  struct brings brings = {path, !trust->is_sure, option_given(invocation, "no-code"), NULL};
  FILE *shown = open_memstream(&text, &length);
  if (!shown) return fail_memory();
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
    const char *file = invocation->arguments[i + 1];
    if (file_is_same(file, path)) {
      files[i] = (struct file){.path = file, .is_database = true};
      continue;
    }
    status = file_open(file, &files[i]);
    if (status == HALOTUNE_OK) status = file_decide(trust, &files[i]);
    const char *signer = *files[i].signer ? files[i].signer : files[i].key;
    if (status == HALOTUNE_OK && files[i].is_trusted)
      status = brings_write(&brings, files[i].path, signer, &files[i].in, shown);
    file_close(&files[i]);
  }
  if (fclose(shown) != 0 && status == HALOTUNE_OK) status = fail_memory();
  if (status == HALOTUNE_OK) fwrite(text, 1, length, stdout);
  brings_end(&brings);
  free(text);
  return status;
}

static halotune_status files_take(const struct invocation *invocation, const char *path, struct file *files,
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
    status = file_open_again(&files[i]);
    if (status == HALOTUNE_OK && !files[i].is_trusted) status = file_keep(path, &files[i]);
    else if (status == HALOTUNE_OK) status = file_merge(invocation, store, &files[i]);
    file_close(&files[i]);
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
  struct file *files = calloc((size_t)count + 1, sizeof *files);
  if (!files) return fail_memory();
  if (status == HALOTUNE_OK && !named) status = store_default_path(&path);
  if (status == HALOTUNE_OK && named && !(path = strdup(named))) status = fail_memory();
  if (status == HALOTUNE_OK) status = files_look(invocation, path, &trust, files, count);
  if (status == HALOTUNE_OK) status = files_take(invocation, path, files, count);
  signers_free(&trust.signers);
  free(path);
  free(files);
  return status;
}
