/* replace.c: writes a temporary file and renames it. */
#include "base/files/replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files/path.h"
#include "base/files/temporary_name.h"
#include "base/system/transfer.h"

/* Wait until the names in a file's folder are on the disk. Filesystems that cannot do this are ignored.
 *   name  of the file, from the open folder on */
static void folder_sync(int folder, const char *name) {
  char *parent = path_folder(name);
  int fd = parent ? openat(folder, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (fd >= 0) fsync(fd);
  if (fd >= 0) close(fd);
  free(parent);
}

/* Create a file that is not there yet, with other letters in place of the X at the end of its name. */
static int temporary_open(int folder, char *name) {
  enum { MOST_TRIES = 100 };
  for (int i = 0; i < MOST_TRIES; i++) {
    if (!temporary_name(name)) return -1;
    const int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

halotune_status replace_fail(const char *path) {
  if (errno != EISDIR) return fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  return fail(HALOTUNE_IO, "%s: a folder is in the place of this file; remove the folder or move it away", path);
}

/*   path  of the file, for messages */
static halotune_status write_and_rename(int folder, const char *name, const char *path, file_writer *write,
                                        void *context, mode_t mode, bool is_durable) {
  char *temporary;
  if (asprintf(&temporary, "%s" REPLACE_SUFFIX, name) < 0) return fail_memory();
  const int fd = temporary_open(folder, temporary);
  halotune_status status = fd >= 0 ? write(context, fd) : fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  /* Without fsync, a power failure after the rename can leave an empty file in place of the old one. */
  if (status == HALOTUNE_OK && (fchmod(fd, mode) != 0 || (is_durable && fsync(fd) != 0)))
    status = fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  /* close can also report a full disk. */
  if (fd >= 0 && close(fd) != 0 && status == HALOTUNE_OK) status = fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  if (status == HALOTUNE_OK && renameat(folder, temporary, folder, name) != 0) status = replace_fail(path);
  if (status != HALOTUNE_OK && fd >= 0) unlinkat(folder, temporary, 0);
  if (status == HALOTUNE_OK && is_durable) folder_sync(folder, name);
  free(temporary);
  return status;
}

/* The content of a file in memory. */
struct content {
  const char *path;
  const void *bytes;
  size_t length;
};

static halotune_status write_content(void *context, int fd) {
  const struct content *content = context;
  if (write_all(fd, content->bytes, content->length)) return HALOTUNE_OK;
  return fail(HALOTUNE_IO, "%s: %s", content->path, strerror(errno));
}

static mode_t mode_for_all(void) {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

halotune_status file_replace_cached(const char *path, const void *bytes, size_t length) {
  struct content content = {path, bytes, length};
  return write_and_rename(AT_FDCWD, path, path, write_content, &content, 0600, false);
}

halotune_status file_replace_at(int folder, const char *name, const char *path, bool for_all, file_writer *write,
                                void *context) {
  return write_and_rename(folder, name, path, write, context, for_all ? mode_for_all() : 0600, true);
}

/* What stands behind the last place of `mark` in a name; NULL: the mark is not in it. */
static const char *behind_last(const char *name, const char *mark) {
  const char *behind = NULL;
  for (const char *at = name; (at = strstr(at, mark)); at += strlen(mark)) behind = at + strlen(mark);
  return behind;
}

/* Whether a text is what mkostemp made of XXXXXX, or a process's number, or the same with SQLite's journal. */
static bool is_chance(const char *text) {
  const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
  return length > 0 && (text[length] == '\0' || strcmp(text + length, "-journal") == 0);
}

/* Whether so many hexadecimal digits stand before a place in a name. */
static bool is_behind_hash(const char *name, const char *at, size_t digits) {
  if ((size_t)(at - name) < digits) return false;
  return strspn(at - digits, "0123456789abcdef") >= digits;
}

void leftovers_remove(const char *folder, const char *mark, size_t hash_digits) {
  enum { HOUR_S = 3600 };
  DIR *files = opendir(folder);
  if (!files) return;
  for (struct dirent *entry; (entry = readdir(files));) {
    struct stat facts;
    const char *end = behind_last(entry->d_name, mark);
    if (!end || !is_chance(end) || !is_behind_hash(entry->d_name, end - strlen(mark), hash_digits)) continue;
    if (fstatat(dirfd(files), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(facts.st_mode)) continue;
    if (time(NULL) - facts.st_mtim.tv_sec > HOUR_S) unlinkat(dirfd(files), entry->d_name, 0);
  }
  closedir(files);
}
