/* cache_folder.c: a scan of the folder with one stat a file. Other processes may remove files meanwhile. */
#include "gpu/cache_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/replace.h"

enum { KEY_DIGITS = 32 };
static const int64_t second_ns = 1000000000, hour_ns = 3600000000000;

/* Whether the file is an entry or what is left of one. */
static bool is_ours(const char *name, bool *is_leftover) {
  if (strspn(name, "0123456789abcdef") != KEY_DIGITS) return false;
  name += KEY_DIGITS;
  if (strncmp(name, CACHE_ENTRY_SUFFIX, strlen(CACHE_ENTRY_SUFFIX)) != 0) return false;
  name += strlen(CACHE_ENTRY_SUFFIX);
  *is_leftover = *name != '\0';
  return !*is_leftover || (*name == REPLACE_SUFFIX[0] && strlen(name) == strlen(REPLACE_SUFFIX));
}

void cache_folder_visit(const char *folder, void (*visit)(void *context, const struct cache_file *file),
                        void *context) {
  DIR *files = folder ? opendir(folder) : NULL;
  if (!files) return;
  for (struct dirent *entry; (entry = readdir(files));) {
    struct cache_file file;
    struct stat facts;
    char *path;
    if (!is_ours(entry->d_name, &file.is_leftover)) continue;
    if (fstatat(dirfd(files), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(facts.st_mode)) continue;
    if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0) break;
    file.path = path;
    file.bytes = (uint64_t)facts.st_size;
    file.used_ns = (int64_t)facts.st_mtim.tv_sec * second_ns + facts.st_mtim.tv_nsec;
    visit(context, &file);
    free(path);
  }
  closedir(files);
}

/* --- trim --------------------------------------------------------------------------------------------------------- */

struct old_file {
  char *path;
  uint64_t bytes;
  int64_t used_ns;
};

struct listing {
  struct old_file *files;
  int count, capacity;
  uint64_t bytes;
  int64_t now_ns;
};

/* Where memory is out the listing stays short, and a later trim does the rest. */
static void list_file(void *context, const struct cache_file *file) {
  struct listing *listing = context;
  if (file->is_leftover) {
    if (listing->now_ns - file->used_ns > hour_ns) unlink(file->path);
    return;
  }
  listing->bytes += file->bytes;
  struct old_file *files = array_grow(listing->files, listing->count, &listing->capacity, sizeof *files);
  if (!files) return;
  listing->files = files;
  struct old_file *last = &files[listing->count];
  *last = (struct old_file){.bytes = file->bytes, .used_ns = file->used_ns};
  last->path = strdup(file->path);
  if (last->path) listing->count++;
}

static int compare_age(const void *a, const void *b) {
  const struct old_file *left = a, *right = b;
  return (left->used_ns > right->used_ns) - (left->used_ns < right->used_ns);
}

void cache_folder_trim(const char *folder, uint64_t max_bytes) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  struct listing listing = {.now_ns = (int64_t)now.tv_sec * second_ns + now.tv_nsec};
  cache_folder_visit(folder, list_file, &listing);
  if (listing.bytes > max_bytes) {
    qsort(listing.files, (size_t)listing.count, sizeof *listing.files, compare_age);
    uint64_t aim = max_bytes / 10 * 9;
    for (int i = 0; i < listing.count && listing.bytes > aim; i++) {
      unlink(listing.files[i].path);
      listing.bytes -= listing.files[i].bytes;
    }
  }
  for (int i = 0; i < listing.count; i++) free(listing.files[i].path);
  free(listing.files);
}
