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
#include <time.h>
#include <unistd.h>

#include "gpu/compile/cache_folder.h"

enum { HOUR_S = 3600 };

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

/* Make the lock of a folder. It gets its name when it is locked, so that nobody finds one that is not. */
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

/* Whether the process of a folder is dead. One that has made the folder but no lock yet gets an hour.
 *   lock  receives the folder's lock, which keeps out others who clean; -1 for none */
static bool is_abandoned(const char *folder, int *lock) {
  struct stat facts;
  *lock = take_lock(folder, "lock", 0);
  if (*lock >= 0 || errno != ENOENT) return *lock >= 0;
  return stat(folder, &facts) == 0 && time(NULL) - facts.st_mtim.tv_sec > HOUR_S;
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

halotune_status emulation_scratch_open(const char *cache, struct emulation_scratch *out) {
  *out = (struct emulation_scratch){.lock = -1};
  remove_abandoned(cache);
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
  out->lock = make_lock(out->folder);
  return out->lock >= 0 ? HALOTUNE_OK : fail(HALOTUNE_IO, "%s: %s", out->folder, strerror(errno));
}

void emulation_scratch_close(struct emulation_scratch *scratch) {
  if (scratch->folder) (void)cache_folder_remove(scratch->folder);
  if (scratch->folder && scratch->lock >= 0) close(scratch->lock);
  free(scratch->folder);
  *scratch = (struct emulation_scratch){.lock = -1};
}
