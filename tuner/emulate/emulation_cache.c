/* emulation_cache.c: finds the cache folder, and seals files. A seal is 16 bytes of magic and a hash of all bytes
 * before them. */
#include "tuner/emulate/emulation_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/exchange.h"
#include "base/files/own.h"
#include "base/files/temporary_name.h"
#include "base/files/user_folder.h"
#include "base/system/process.h"
#include "base/system/transfer.h"
#include "gpu/compile/cache_folder.h"

struct seal {
  char magic[16];
  struct hash hash;
};

static const char magic[sizeof((struct seal *)NULL)->magic] = "halotune host 1";

enum { MAX_FILE_BYTES = 1 << 28 };

void emulation_cache_warn(const struct emulation_options *options, const char *text) {
  if (options->warn) options->warn(text);
  else fprintf(stderr, "halotune: %s\n", text);
}

/* The program's temporary folder, made when it is first needed. */
static struct {
  pthread_mutex_t lock;
  char path[4096];
  struct process_guard guard; /* removes the folder */
} temporary = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void remove_temporary(void) {
  enum { REMOVED_MS = 60000 };
  process_guard_end(&temporary.guard, REMOVED_MS);
}

/* Make a folder of this user in another one, which is opened before it is checked.
 *   name  receives its name in place of the six letters at its end */
static halotune_status make_in(const char *parent, char *name) {
  enum { TRIES = 16 };
  int folder = -1, made = -1;
  halotune_status status = exchange_open_folder(parent, EXCHANGE_WAY, &folder);
  if (status != HALOTUNE_OK) return status;
  errno = folder < 0 ? ENOENT : EEXIST;
  for (int i = 0; i < TRIES && folder >= 0 && made != 0 && errno == EEXIST; i++) {
    if (!temporary_name(name)) break;
    made = mkdirat(folder, name, 0700);
  }
  if (made != 0) status = fail(HALOTUNE_IO, "%s: %s", parent, strerror(errno));
  if (folder >= 0) close(folder);
  return status;
}

static halotune_status make_temporary(const struct emulation_options *options) {
  const char *parent = temporary_folder();
  char warning[FAIL_TEXT_BYTES + sizeof temporary.path], reason[FAIL_TEXT_BYTES];
  snprintf(reason, sizeof reason, "%s", fail_text());
  int length = snprintf(temporary.path, sizeof temporary.path, "%s/halotune-XXXXXX", parent);
  halotune_status status = length < (int)sizeof temporary.path ? exchange_check(temporary.path)
                                                               : fail(HALOTUNE_IO, "%s: the name is too long", parent);
  if (status == HALOTUNE_OK) status = make_in(parent, temporary.path + strlen(parent) + 1);
  if (status != HALOTUNE_OK) {
    char refused[FAIL_TEXT_BYTES];
    snprintf(refused, sizeof refused, "%s", fail_text());
    temporary.path[0] = '\0';
    return fail(status, "no folder for compiled kernels: %s; %s", reason, refused);
  }
  status = process_guard_start("cd / && rm -rf \"$1\"", temporary.path, &temporary.guard);
  if (status != HALOTUNE_OK) {
    rmdir(temporary.path);
    temporary.path[0] = '\0';
    return status;
  }
  atexit(remove_temporary);
  snprintf(warning, sizeof warning, "%s; compiled kernels are not kept", reason);
  emulation_cache_warn(options, warning);
  return HALOTUNE_OK;
}

static halotune_status take_temporary(const struct emulation_options *options, char **folder) {
  pthread_mutex_lock(&temporary.lock);
  halotune_status status = temporary.path[0] ? HALOTUNE_OK : make_temporary(options);
  pthread_mutex_unlock(&temporary.lock);
  if (status != HALOTUNE_OK) return status;
  *folder = strdup(temporary.path);
  return *folder ? HALOTUNE_OK : fail_memory();
}

static halotune_status make_writable(const char *folder) {
  const halotune_status status = own_folder_make(folder);
  if (status == HALOTUNE_OK && access(folder, W_OK | X_OK) != 0)
    return fail(HALOTUNE_IO, "%s: %s", folder, strerror(errno));
  return status;
}

halotune_status emulation_cache_open(const struct emulation_options *options, char **folder) {
  *folder = NULL;
  if (options->folder) {
    *folder = strdup(options->folder);
    const halotune_status made = *folder ? make_writable(*folder) : fail_memory();
    if (made != HALOTUNE_OK) free(*folder);
    if (made != HALOTUNE_OK) *folder = NULL;
    return made;
  }
  halotune_status status = cache_folder_default("/host", folder);
  if (status != HALOTUNE_OK) return status;
  if (!*folder) status = fail(HALOTUNE_IO, "neither $XDG_CACHE_HOME nor $HOME is set");
  else status = cache_folder_secure(true);
  if (status == HALOTUNE_OK) status = make_writable(*folder);
  if (status != HALOTUNE_IO) return status;
  free(*folder);
  *folder = NULL;
  return take_temporary(options, folder);
}

struct hash emulation_cache_format(void) {
  return hash_bytes(magic, sizeof magic);
}

halotune_status emulation_cache_seal(const char *path) {
  struct seal seal;
  char *bytes;
  size_t length;
  halotune_status status = own_file_read(path, MAX_FILE_BYTES, &bytes, &length);
  if (status != HALOTUNE_OK) return status;
  memcpy(seal.magic, magic, sizeof magic);
  seal.hash = hash_bytes(bytes, length);
  free(bytes);
  int fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
  bool wrote = fd >= 0 && write_all(fd, (const char *)&seal, sizeof seal);
  if (!wrote || close(fd) != 0) { /* close can also report a full disk */
    status = fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
    if (fd >= 0 && !wrote) close(fd);
  }
  return status;
}

static bool is_whole(const char *bytes, size_t length) {
  struct seal seal;
  if (length < sizeof seal) return false;
  memcpy(&seal, bytes + length - sizeof seal, sizeof seal);
  return memcmp(seal.magic, magic, sizeof magic) == 0 &&
         hash_compare(seal.hash, hash_bytes(bytes, length - sizeof seal)) == 0;
}

enum emulation_cache_answer emulation_cache_find(const char *path) {
  char *bytes;
  size_t length;
  if (own_file_read(path, MAX_FILE_BYTES, &bytes, &length) != HALOTUNE_OK) return EMULATION_CACHE_MISS;
  bool whole = is_whole(bytes, length);
  free(bytes);
  if (!whole) {
    fail(HALOTUNE_IO, "%s: a damaged file of the host backend's cache", path);
    return EMULATION_CACHE_DAMAGED;
  }
  utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
  return EMULATION_CACHE_HIT;
}
