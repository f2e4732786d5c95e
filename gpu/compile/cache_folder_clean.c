/* cache_folder_clean.c: removes all entries of a cache folder, and the folders in it. Other processes may remove files
 * at the same time. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/compile/cache_folder.h"

struct cleaning {
  struct cache_facts removed;
  halotune_status status;
};

static void remove_file(void *context, const struct cache_file *file) {
  struct cleaning *cleaning = context;
  if (unlink(file->path) == 0) {
    cleaning->removed.files++;
    cleaning->removed.bytes += file->bytes;
  } else if (errno != ENOENT) {
    cleaning->status = fail(HALOTUNE_IO, "%s: %s", file->path, strerror(errno));
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
  return code == 0 || errno == ENOENT ? HALOTUNE_OK : fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
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

halotune_status cache_folder_clean(const char *folder, struct cache_facts *removed) {
  struct cleaning cleaning = {.status = HALOTUNE_OK};
  cache_folder_visit(folder, remove_file, &cleaning);
  *removed = cleaning.removed;
  halotune_status status = remove_folders(folder);
  return cleaning.status == HALOTUNE_OK ? status : cleaning.status;
}
