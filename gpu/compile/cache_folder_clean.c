/* cache_folder_clean.c: removes all entries of a cache folder, and the folders in it. Other processes may remove files
 * at the same time. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/held_path.h"
#include "gpu/compile/cache_folder.h"

struct cleaning {
  struct cache_facts removed;
  halotune_status status;
};

static halotune_status removal_fail(const char *path) {
  const int code = errno;
  char name[PATH_MAX];
  held_path_readable(path, name);
  return fail(HALOTUNE_IO, "%s: %s", name, strerror(code));
}

static void remove_file(void *context, const struct cache_file *file) {
  struct cleaning *cleaning = context;
  if (unlink(file->path) == 0) {
    cleaning->removed.files++;
    cleaning->removed.bytes += file->bytes;
  } else if (errno != ENOENT) {
    cleaning->status = removal_fail(file->path);
  }
}

static int remove_below(const char *path, const struct stat *facts, int type, struct FTW *place) {
  (void)facts;
  (void)type;
  (void)place;
  return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

halotune_status cache_folder_remove(const char *path) {
  enum { OPEN_FOLDERS = 8 };
  const int code = nftw(path, remove_below, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
  return code == 0 || errno == ENOENT ? HALOTUNE_OK : removal_fail(path);
}

static halotune_status remove_folders(const char *folder) {
  halotune_status status = HALOTUNE_OK;
  DIR *files = folder ? opendir(folder) : NULL;
  if (!files) return status;
  for (struct dirent *entry; (entry = readdir(files));) {
    struct stat facts;
    char *path;
    if (!cache_folder_has_sources(entry->d_name) && !cache_folder_is_scratch(entry->d_name)) continue;
    if (fstatat(dirfd(files), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(facts.st_mode)) continue;
    if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0) {
      status = fail_memory();
      break;
    }
    const halotune_status removed = cache_folder_remove(path);
    if (removed != HALOTUNE_OK) status = removed;
    free(path);
  }
  closedir(files);
  return status;
}

/* The file in a folder that is locked. Only this user can open it: another one who can read the folder could lock the
 * folder itself. NULL when memory is out. */
static char *lock_path(const char *folder) {
  char *path;
  return folder && asprintf(&path, "%s/.lock", folder) >= 0 ? path : NULL;
}

/* Whether a file still has its name. */
static bool is_named(int fd) {
  struct stat facts;
  return fstat(fd, &facts) == 0 && facts.st_nlink > 0;
}

/* Open the file that is locked, which is made where it is missing, and lock it. Returns the descriptor; -1 with errno
 * EWOULDBLOCK where the lock of another process keeps this one out, or while another one removes the file. Where files
 * cannot be locked, there is no lock, and the descriptor is returned. */
static int lock_folder(const char *folder, int kind) {
  char *path = lock_path(folder);
  const int fd = path ? open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600) : -1;
  free(path);
  if (fd < 0 || (flock(fd, kind | LOCK_NB) == 0 ? is_named(fd) : errno != EWOULDBLOCK)) return fd;
  close(fd);
  errno = EWOULDBLOCK;
  return -1;
}

int cache_folder_hold(const char *folder) {
  enum { LOOK_EVERY_MS = 5, US_PER_MS = 1000, MOST_LOOKS = 2000 };
  int fd = lock_folder(folder, LOCK_SH);
  for (int i = 0; fd < 0 && errno == EWOULDBLOCK && i < MOST_LOOKS; i++) {
    usleep(LOOK_EVERY_MS * US_PER_MS);
    fd = lock_folder(folder, LOCK_SH);
  }
  return fd;
}

halotune_status cache_folder_clean(const char *folder, struct cache_facts *removed, bool *is_held) {
  struct cleaning cleaning = {.status = HALOTUNE_OK};
  const int lock = lock_folder(folder, LOCK_EX);
  halotune_status status = HALOTUNE_OK;
  *is_held = folder && lock < 0 && errno == EWOULDBLOCK;
  if (!*is_held) cache_folder_visit(folder, remove_file, &cleaning);
  if (!*is_held) status = remove_folders(folder);
  if (lock >= 0) { /* before others can lock it */
    char *path = lock_path(folder);
    if (path) unlink(path);
    free(path);
    close(lock);
  }
  *removed = cleaning.removed;
  return cleaning.status == HALOTUNE_OK ? status : cleaning.status;
}
