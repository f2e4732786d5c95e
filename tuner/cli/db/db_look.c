/* db_look.c: checks several files at a time. One thread handles a file from its opening to the text of what it would
 * add. */
#include "tuner/cli/db/db_look.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/file.h"
#include "base/files/path.h"
#include "base/system/parallel.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "db/store/check.h"
#include "db/store/refuted.h"
#include "tuner/cli/db/db_brings.h"
#include "tuner/cli/options/option_value.h"

/* Copy the file's name without its folder, in printable characters on one line, for the database to keep. */
static void origin_name(const char *path, char *out, size_t bytes) { printable_name(out, bytes, path_name(path)); }

void looked_close(struct looked *file) {
  store_close(file->in.store);
  file->in.store = NULL;
}

/* Check all of an open file, before any of its rows is used. */
static halotune_status file_check(const char *path, struct store *store) {
  struct text first = {0};
  long found = 0;
  halotune_status status = store_check_first(store, &first, &found);
  if (status == HALOTUNE_DB) status = fail(status, "%s: %s", path, fail_text());
  else if (status == HALOTUNE_OK && found > 0)
    status = fail(HALOTUNE_PARSE, "%s: %.*s (%ld error%s in all); nothing was merged", path, FAIL_TEXT_BYTES / 2,
                  text_string(&first), found, PLURAL(found));
  text_free(&first);
  return status;
}

halotune_status looked_open(struct looked *file) {
  bool is_checked = true;
  if (file->in.store) return HALOTUNE_OK;
  const halotune_status status = import_open_again(file->path, &file->in, &is_checked);
  return status == HALOTUNE_OK && !is_checked ? file_check(file->path, file->in.store) : status;
}

static halotune_status file_open(const char *path, struct looked *out) {
  out->path = path;
  origin_name(path, out->origin, sizeof out->origin);
  const halotune_status status = import_open(path, &out->in);
  return status == HALOTUNE_OK ? file_check(path, out->in.store) : status;
}

halotune_status trust_read(const struct invocation *invocation, struct trust *out) {
  const char *key = option_value(invocation, "signed-by");
  *out = (struct trust){.is_given = option_given(invocation, "trust"),
                        .is_sure = option_given(invocation, "yes"),
                        .has_key = key != NULL};
  return key ? public_key_find(key, &out->key) : HALOTUNE_OK;
}

/* Decide about a document that somebody signed. */
static halotune_status signed_decide(struct trust *trust, struct looked *file) {
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

/* Decide whether a file is trusted. With --signed-by and --trust together, files without a signature are trusted. */
static halotune_status file_decide(struct trust *trust, struct looked *file) {
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

/* The state that the threads share. */
struct looking {
  const struct invocation *invocation;
  const char *path;
  struct trust *trust;
  struct looked *files;
  struct found {
    char *shown; /* the text to print about the file */
    size_t length;
    halotune_status status;
    char detail[FAIL_TEXT_BYTES];
  } * found; /* one for each file */
  struct brings *brings;
  pthread_mutex_t lock;      /* protects signers and the user's database, which are read when they are first needed */
  _Atomic long first_failed; /* the first file that has failed so far; `count` where none has */
};

const char *file_origin_kind(const struct invocation *invocation) {
  return option_given(invocation, "shipped") ? "shipped" : "imported";
}

static halotune_status file_look(struct looking *looking, const char *path, struct looked *file, FILE *shown) {
  if (file_is_same(path, looking->path)) {
    *file = (struct looked){.path = path, .is_database = true};
    return HALOTUNE_OK;
  }
  halotune_status status = file_open(path, file);
  if (status == HALOTUNE_OK) {
    pthread_mutex_lock(&looking->lock);
    status = file_decide(looking->trust, file);
    if (status == HALOTUNE_OK && file->is_trusted && !looking->brings->known) status = brings_begin(looking->brings);
    pthread_mutex_unlock(&looking->lock);
  }
  const char *signer = *file->signer ? file->signer : file->key;
  char giver[16 + KEY_HEX_BYTES];
  snprintf(giver, sizeof giver, GIVER_FORMAT, file_origin_kind(looking->invocation), file->key);
  if (status == HALOTUNE_OK && file->is_trusted)
    status = brings_write(looking->brings, path, signer, giver, &file->in, shown);
  if (!file->in.is_once) looked_close(file);
  return status;
}

static void look_at_part(void *context, int thread, long first, long end) {
  struct looking *looking = context;
  (void)thread;
  for (long i = first; i < end && i < looking->first_failed; i++) {
    struct found *found = &looking->found[i];
    FILE *shown = open_memstream(&found->shown, &found->length);
    found->status = shown ? HALOTUNE_OK : fail_memory();
    if (shown) found->status = file_look(looking, looking->invocation->arguments[i + 1], &looking->files[i], shown);
    if (shown && fclose(shown) != 0 && found->status == HALOTUNE_OK) found->status = fail_memory();
    if (found->status == HALOTUNE_OK) continue;
    snprintf(found->detail, sizeof found->detail, "%s", fail_text());
    pthread_mutex_lock(&looking->lock);
    if (i < looking->first_failed) looking->first_failed = i;
    pthread_mutex_unlock(&looking->lock);
  }
}

halotune_status files_look(const struct invocation *invocation, const char *path, struct trust *trust,
                           struct looked *files, int count) {
  struct brings brings = {path, !trust->is_sure, option_given(invocation, "no-code"), NULL};
  struct looking looking = {
      .invocation = invocation, .path = path, .trust = trust, .files = files, .brings = &brings, .first_failed = count};
  const int cores = parallel_threads(0), threads = cores < LOOK_AT_ONCE ? cores : LOOK_AT_ONCE;
  looking.found = calloc((size_t)count + 1, sizeof *looking.found);
  halotune_status status = looking.found ? HALOTUNE_OK : fail_memory();
  /* Switch off SQLite's count of memory, for which threads wait for one another. This has no effect if SQLite is
   * already in use. */
  (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  if (status == HALOTUNE_OK) {
    pthread_mutex_init(&looking.lock, NULL);
    parallel_for(count, 1, threads, look_at_part, &looking);
    pthread_mutex_destroy(&looking.lock);
    for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
      status = looking.found[i].status;
      if (status != HALOTUNE_OK) fail(status, "%s", looking.found[i].detail);
    }
    for (int i = 0; i < count; i++) {
      if (status == HALOTUNE_OK) fwrite(looking.found[i].shown, 1, looking.found[i].length, stdout);
      free(looking.found[i].shown);
    }
  }
  brings_end(&brings);
  free(looking.found);
  return status;
}
