/* replace.c: writes a temporary file and renames it. */
#include "base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/transfer.h"

/* Wait until a folder's names are on the disk. Filesystems that cannot do this are ignored. */
static void folder_sync(const char *path) {
  char *folder = strdup(path);
  char *slash = folder ? strrchr(folder, '/') : NULL;
  if (slash) slash[slash == folder] = '\0'; /* the folder of "/x" is "/" */
  int fd = folder ? open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (fd >= 0) fsync(fd);
  if (fd >= 0) close(fd);
  free(folder);
}

static halotune_status write_and_rename(const char *path, const void *bytes, size_t length, mode_t mode,
                                        bool is_durable) {
  char *temporary;
  if (asprintf(&temporary, "%s" REPLACE_SUFFIX, path) < 0) return fail_memory();
  halotune_status status = HALOTUNE_OK;
  int fd = mkostemp(temporary, O_CLOEXEC);
  /* Without fsync, a power failure after the rename can leave an empty file in place of the old one. */
  const bool wrote =
      fd >= 0 && write_all(fd, bytes, length) && fchmod(fd, mode) == 0 && (!is_durable || fsync(fd) == 0);
  /* close can also report a full disk. */
  if (!wrote || close(fd) != 0 || rename(temporary, path) != 0) {
    status = fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
    if (fd >= 0 && !wrote) close(fd);
    if (fd >= 0) unlink(temporary);
  } else if (is_durable) {
    folder_sync(path);
  }
  free(temporary);
  return status;
}

halotune_status file_replace(const char *path, const void *bytes, size_t length) {
  return write_and_rename(path, bytes, length, 0600, true);
}

halotune_status file_replace_cached(const char *path, const void *bytes, size_t length) {
  return write_and_rename(path, bytes, length, 0600, false);
}

halotune_status file_replace_for_all(const char *path, const void *bytes, size_t length) {
  const mode_t mask = umask(0);
  umask(mask);
  return write_and_rename(path, bytes, length, 0666 & ~mask, true);
}

static bool make_one(const char *path) {
  struct stat facts;
  if (mkdir(path, 0700) == 0) return true;
  int reason = errno;
  if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)) return true;
  errno = reason;
  return false;
}

halotune_status folder_make(const char *path) {
  char *partial = strdup(path);
  if (!partial) return fail_memory();
  halotune_status status = HALOTUNE_OK;
  for (char *end = partial; *end && status == HALOTUNE_OK; end++) {
    if (*end != '/' || end == partial) continue;
    *end = '\0';
    if (!make_one(partial)) status = fail(HALOTUNE_IO, "%s: %s", partial, strerror(errno));
    *end = '/';
  }
  if (status == HALOTUNE_OK && !make_one(partial)) status = fail(HALOTUNE_IO, "%s: %s", partial, strerror(errno));
  free(partial);
  return status;
}
