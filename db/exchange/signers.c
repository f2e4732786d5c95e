/* signers.c: reads the whole file, and replaces the whole file. Its folder is opened once, so that nobody can exchange
 * it between its check and its use. */
#include "db/exchange/signers.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/exchange.h"
#include "base/files/file.h"
#include "base/files/own.h"
#include "base/files/replace.h"
#include "base/files/user_folder.h"
#include "base/memory/array.h"
#include "base/system/transfer.h"
#include "base/text/text.h"

static const char file_name[] = "trusted-signers";

/* The rights that are refused on the file, and on its folder, in which others could exchange it. */
static const struct own_kind list_of_signers = {.what = "list of signers",
                                                .foreign_remedy = "move it away",
                                                .rights = S_IWGRP | S_IWOTH,
                                                .others_can = "write to",
                                                .chmod = "go-w"};
static const struct own_kind folder_of_signers = {.what = "folder of signers",
                                                  .foreign_remedy = "set XDG_DATA_HOME to a folder of your own",
                                                  .rights = S_IWGRP | S_IWOTH,
                                                  .others_can = "write to",
                                                  .chmod = "go-w"};

static const struct own_kind lock_of_signers = {.what = "lock of signers",
                                                .foreign_remedy = "remove it",
                                                .rights = S_IRWXG | S_IRWXO,
                                                .others_can = "open",
                                                .chmod = "go-rwx"};

/* Read a name: letters, digits, and after the first also ._@- */
static bool is_name(const char *name) {
  size_t length = 0;
  for (; name[length]; length++) {
    const unsigned char c = (unsigned char)name[length];
    if (c >= 0x80 || (!isalnum(c) && (length == 0 || !strchr("._@-", c)))) return false;
  }
  return length > 0 && length < SIGNER_NAME_BYTES;
}

static halotune_status list_add(struct signers *signers, const char *name, const struct public_key *key) {
  if (!array_room(signers->list, signers->count, signers->room)) return fail_memory();
  struct signer *signer = &signers->list[signers->count++];
  snprintf(signer->name, sizeof signer->name, "%s", name);
  signer->key = *key;
  return HALOTUNE_OK;
}

/* Read lines "NAME KEY", without their ends. The text is cut into pieces. */
static halotune_status lines_read(char *text, const char *path, struct signers *out) {
  halotune_status status = HALOTUNE_OK;
  int number = 0;
  for (char *line = text, *next; *line && status == HALOTUNE_OK; line = next) {
    struct public_key key;
    char *end = strchrnul(line, '\n');
    next = *end ? end + 1 : end;
    *end = '\0';
    number++;
    char *blank = strchr(line, ' ');
    if (blank) *blank = '\0';
    if (blank && is_name(line) && public_key_read(blank + 1, &key)) status = list_add(out, line, &key);
    else status = fail(HALOTUNE_PARSE, "%s:%d: expected a name, a blank and a public key of 64 digits", path, number);
  }
  return status;
}

/* Refuse an open file or folder that is not this user's alone, and close it then. */
static halotune_status check_open(const char *path, const struct own_kind *kind, int *fd) {
  struct stat facts;
  const halotune_status status =
      fstat(*fd, &facts) == 0 ? own_check(&facts, path, kind) : fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  if (status == HALOTUNE_OK) return status;
  close(*fd);
  *fd = -1;
  return status;
}

/* Open a file in the open folder.
 *   path   of the file, for messages
 *   flags  0, or O_RDWR | O_CREAT
 *   fd     -1: there is no such file */
static halotune_status own_open(int folder, const char *name, const char *path, int flags, const struct own_kind *kind,
                                int *fd) {
  *fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
  if (*fd < 0 && errno == ENOENT) return HALOTUNE_OK;
  if (*fd < 0 && errno == ELOOP) return fail(HALOTUNE_IO, "%s: a symbolic link is not followed here", path);
  if (*fd < 0) return fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  return check_open(path, kind, fd);
}

static halotune_status text_read(int fd, const char *path, struct signers *out) {
  enum { MOST_BYTES = 1 << 20 };
  char *text = malloc(MOST_BYTES + 1);
  struct stat facts;
  size_t length = 0;
  ssize_t got;
  halotune_status status = text ? HALOTUNE_OK : fail_memory();
  if (text && fstat(fd, &facts) == 0 && !S_ISREG(facts.st_mode))
    status = fail(HALOTUNE_IO, "%s: this is not a regular file", path);
  while (status == HALOTUNE_OK && (got = read(fd, text + length, MOST_BYTES - length)) != 0) {
    if (got < 0 && errno != EINTR) status = fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
    if (got > 0) length += (size_t)got;
  }
  if (status == HALOTUNE_OK && length == MOST_BYTES)
    status = fail(HALOTUNE_IO, "%s: the file is larger than 1 MiB", path);
  if (status == HALOTUNE_OK) {
    text[length] = '\0';
    status = strlen(text) == length ? lines_read(text, path, out)
                                    : fail(HALOTUNE_PARSE, "%s: the file holds a byte that is 0", path);
  }
  free(text);
  return status;
}

/* The path of the file, and its folder. */
struct places {
  char *file, *folder;
  int opened; /* the folder; -1: it is not there, or not opened yet */
};

static halotune_status places_find(struct places *out) {
  out->folder = NULL;
  out->opened = -1;
  halotune_status status = user_file_path(file_name, &out->file);
  if (status != HALOTUNE_OK) return status;
  out->folder = strndup(out->file, strlen(out->file) - sizeof file_name);
  return out->folder ? HALOTUNE_OK : fail_memory();
}

/* Open the folder.
 *   makes  make it if it is not there */
static halotune_status folder_open(struct places *places, bool makes) {
  const halotune_status status = makes ? exchange_make_folder(places->folder, EXCHANGE_WAY, &places->opened)
                                       : exchange_open_folder(places->folder, EXCHANGE_WAY, &places->opened);
  if (status != HALOTUNE_OK || places->opened < 0) return status;
  return check_open(places->folder, &folder_of_signers, &places->opened);
}

static void places_free(struct places *places) {
  if (places->opened >= 0) close(places->opened);
  free(places->folder);
  free(places->file);
}

static halotune_status file_open_and_read(const struct places *places, struct signers *out) {
  int fd;
  halotune_status status = own_open(places->opened, file_name, places->file, 0, &list_of_signers, &fd);
  if (status != HALOTUNE_OK || fd < 0) return status;
  status = text_read(fd, places->file, out);
  close(fd);
  return status;
}

halotune_status signers_read(struct signers *out) {
  struct places places;
  *out = (struct signers){0};
  halotune_status status = places_find(&places);
  if (status == HALOTUNE_NOT_FOUND) return HALOTUNE_OK;
  if (status == HALOTUNE_OK) status = folder_open(&places, false);
  if (status == HALOTUNE_OK && places.opened >= 0) status = file_open_and_read(&places, out);
  places_free(&places);
  if (status != HALOTUNE_OK) signers_free(out);
  return status;
}

const struct signer *signers_find(const struct signers *signers, const struct public_key *key) {
  for (int i = 0; i < signers->count; i++) {
    if (memcmp(&signers->list[i].key, key, sizeof *key) == 0) return &signers->list[i];
  }
  return NULL;
}

static const struct signer *find_name(const struct signers *signers, const char *name) {
  for (int i = 0; i < signers->count; i++) {
    if (strcmp(signers->list[i].name, name) == 0) return &signers->list[i];
  }
  return NULL;
}

struct list_content {
  const char *path;
  struct text text;
};

static halotune_status content_write(void *context, int fd) {
  const struct list_content *content = context;
  if (write_all(fd, text_string(&content->text), content->text.length)) return HALOTUNE_OK;
  return fail(HALOTUNE_IO, "%s: %s", content->path, strerror(errno));
}

static halotune_status list_write(const struct places *places, const struct signers *signers) {
  struct list_content content = {.path = places->file};
  text_add(&content.text, "", 0);
  for (int i = 0; i < signers->count; i++) {
    char hex[KEY_HEX_BYTES];
    key_hex(signers->list[i].key.bytes, hex);
    text_printf(&content.text, "%s %s\n", signers->list[i].name, hex);
  }
  halotune_status status =
      text_ok(&content.text) ? file_replace_at(places->opened, file_name, places->file, false, content_write, &content)
                             : fail_memory();
  text_free(&content.text);
  return status;
}

/* What a change does to the list. */
typedef halotune_status list_change(struct signers *signers, const char *name, const struct public_key *key);

static halotune_status change_locked(const struct places *places, list_change *change, const char *name,
                                     const struct public_key *key) {
  struct signers signers = {0};
  halotune_status status = file_open_and_read(places, &signers);
  if (status == HALOTUNE_OK) status = change(&signers, name, key);
  if (status == HALOTUNE_OK) status = list_write(places, &signers);
  signers_free(&signers);
  return status;
}

/* Lock the list, so that no change is lost if two processes change it at the same time. Other users cannot hold this
 * lock: they could open the folder or the list, if these have another mode, but not a file of mode 0600.
 *   lock  for the caller to close */
static halotune_status list_lock(const struct places *places, int *lock) {
  static const char name[] = "trusted-signers.lock";
  char *path = NULL;
  *lock = -1;
  if (asprintf(&path, "%s/%s", places->folder, name) < 0) return fail_memory();
  /* NFS locks only files that are open for writing. */
  halotune_status status = own_open(places->opened, name, path, O_RDWR | O_CREAT, &lock_of_signers, lock);
  if (status == HALOTUNE_OK && *lock < 0) status = fail(HALOTUNE_IO, "%s: it was removed", places->folder);
  /* Without locks in the file system, the list is changed all the same: it is a user's own, and rarely changes. */
  if (status == HALOTUNE_OK && flock(*lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    status = fail(HALOTUNE_IO, "%s: another 'halotune trust' changes it now; try again", places->file);
  free(path);
  return status;
}

static halotune_status change_file(list_change *how, const char *name, const struct public_key *key) {
  struct places places;
  int lock = -1;
  halotune_status status = places_find(&places);
  if (status == HALOTUNE_OK) status = folder_open(&places, true);
  if (status == HALOTUNE_OK) status = list_lock(&places, &lock);
  if (status == HALOTUNE_OK) status = change_locked(&places, how, name, key);
  if (lock >= 0) close(lock);
  places_free(&places);
  return status;
}

static halotune_status add_signer(struct signers *signers, const char *name, const struct public_key *key) {
  const struct signer *named = find_name(signers, name), *keyed = signers_find(signers, key);
  if (named && named == keyed) return HALOTUNE_OK;
  if (named)
    return fail(HALOTUNE_ARGUMENT, "there is a signer '%s' with another key; 'halotune trust remove %s' removes it",
                name, name);
  if (keyed) return fail(HALOTUNE_ARGUMENT, "the signer '%s' already has this key", keyed->name);
  return list_add(signers, name, key);
}

static halotune_status drop_signer(struct signers *signers, const char *name, const struct public_key *key) {
  (void)key;
  const struct signer *named = find_name(signers, name);
  if (!named) return fail(HALOTUNE_NOT_FOUND, "there is no signer '%s'; 'halotune trust list' shows all signers", name);
  signers->count--;
  for (int i = (int)(named - signers->list); i < signers->count; i++) signers->list[i] = signers->list[i + 1];
  return HALOTUNE_OK;
}

halotune_status signers_add(const char *name, const struct public_key *key) {
  if (is_name(name)) return change_file(add_signer, name, key);
  return fail(HALOTUNE_ARGUMENT,
              "a signer's name has 1 to %d letters, digits and, after the first, the characters ._@-; not '%s'",
              SIGNER_NAME_BYTES - 1, name);
}

halotune_status signers_remove(const char *name) { return change_file(drop_signer, name, NULL); }

void signers_free(struct signers *signers) {
  free(signers->list);
  *signers = (struct signers){0};
}
