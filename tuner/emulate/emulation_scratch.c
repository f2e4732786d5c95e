/* emulation_scratch.c: folders CACHE/compile-XXXXXX, each with a file `lock` that its process keeps locked. */
#include "tuner/emulate/emulation_scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/compile/cache_folder.h"

/* Open and lock a file of a folder. Returns the descriptor; -1 with errno EWOULDBLOCK if its process lives. */
static int take_lock(const char *folder, const char *name, int flags) {
  char *path;
  if (asprintf(&path, "%s/%s", folder, name) < 0) return -1;
  int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0600);
  free(path);
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  const int reason = errno;
  close(fd);
  errno = reason;
  return -1;
}

/* Make the lock of a folder. The file gets its name after it is locked, so nobody finds an unlocked one. */
static int make_lock(const char *folder) {
  char *before = NULL, *after = NULL;
  int lock = take_lock(folder, "lock-new", O_CREAT | O_EXCL);
  const bool ok = lock >= 0 && asprintf(&before, "%s/lock-new", folder) >= 0 &&
                  asprintf(&after, "%s/lock", folder) >= 0 && rename(before, after) == 0;
  if (lock >= 0 && !ok) {
    close(lock);
    lock = -1;
  }
  free(after);
  free(before);
  return lock;
}

/* Lock a folder itself, as its process does until its file `lock` is locked. Returns the descriptor; -1 if another
 * process has locked it, or if it is not a folder. */
static int take_folder(const char *folder) {
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  close(fd);
  return -1;
}

/* Whether the process of a folder is dead. It may have died before it made the file `lock`.
 *   lock  receives a lock of the folder, which keeps out others who clean; -1 for none */
static bool is_abandoned(const char *folder, int *lock) {
  *lock = take_lock(folder, "lock", 0);
  if (*lock >= 0 || errno != ENOENT) return *lock >= 0;
  *lock = take_folder(folder);
  if (*lock < 0) return false;
  const int file = take_lock(folder, "lock", 0); /* its process may just have made it */
  const bool is_alive = file < 0 && errno != ENOENT;
  if (file >= 0) close(file);
  return !is_alive;
}

static void remove_abandoned(const char *cache) {
  DIR *entries = opendir(cache);
  for (struct dirent *entry; entries && (entry = readdir(entries));) {
    char *folder;
    int lock;
    if (!cache_folder_is_scratch(entry->d_name) || asprintf(&folder, "%s/%s", cache, entry->d_name) < 0) continue;
    if (is_abandoned(folder, &lock)) (void)cache_folder_remove(folder); /* the next run tries again */
    if (lock >= 0) close(lock);
    free(folder);
  }
  if (entries) closedir(entries);
}

/* Make a folder and its lock.
 *   is_taken  receives whether a process that cleans found the folder before it was locked; that process removes it */
static halotune_status make_folder(const char *cache, struct emulation_scratch *out, bool *is_taken) {
  *is_taken = false;
  if (asprintf(&out->folder, "%s/" CACHE_SCRATCH_PREFIX "XXXXXX", cache) < 0) {
    out->folder = NULL;
    return fail_memory();
  }
  if (!mkdtemp(out->folder)) {
    const halotune_status status = fail(HALOTUNE_IO, "%s: %s", cache, strerror(errno));
    free(out->folder);
    out->folder = NULL;
    return status;
  }
  const int folder = take_folder(out->folder);
  out->lock = folder >= 0 ? make_lock(out->folder) : -1;
  const int reason = errno;
  *is_taken = out->lock < 0 && (folder < 0 || access(out->folder, F_OK) != 0);
  if (folder >= 0) close(folder);
  return out->lock >= 0 ? HALOTUNE_OK : fail(HALOTUNE_IO, "%s: %s", out->folder, strerror(reason));
}

halotune_status emulation_scratch_open(const char *cache, struct emulation_scratch *out) {
  enum { MOST_TRIES = 16 };
  bool is_taken;
  *out = (struct emulation_scratch){.lock = -1};
  remove_abandoned(cache);
  halotune_status status = make_folder(cache, out, &is_taken);
  for (int i = 1; i < MOST_TRIES && is_taken; i++) {
    emulation_scratch_close(out);
    status = make_folder(cache, out, &is_taken);
  }
  return status;
}

void emulation_scratch_close(struct emulation_scratch *scratch) {
  if (scratch->folder) (void)cache_folder_remove(scratch->folder);
  if (scratch->folder && scratch->lock >= 0) close(scratch->lock);
  free(scratch->folder);
  *scratch = (struct emulation_scratch){.lock = -1};
}
