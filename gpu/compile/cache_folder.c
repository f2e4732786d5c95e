/* cache_folder.c: lists the files of a cache folder, with one stat per file. Other processes may remove files at the
 * same time. */
#include "gpu/compile/cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files/replace.h"
#include "base/files/user_folder.h"
#include "base/memory/array.h"

enum {
  HASH_DIGITS = 32,
  IDENTITY_DIGITS = 64
}; /* lengths of keys in names of entries: base/identity/hash.h, base/identity/identity.h */
static const int64_t second_ns = 1000000000, hour_ns = 3600000000000;

halotune_status cache_folder_default(const char *below, char **folder) {
  return user_folder_path("XDG_CACHE_HOME", ".cache", below, folder);
}

/* The length of the key at the start of a file's name; 0 if there is none. */
static size_t key_length(const char *name) {
  const size_t digits = strspn(name, "0123456789abcdef");
  return digits == HASH_DIGITS || digits == IDENTITY_DIGITS ? digits : 0;
}

/* Whether the file is an entry, or a leftover of one. */
static bool is_ours(const char *name, bool *is_leftover) {
  static const char *const suffixes[] = {CACHE_ENTRY_SUFFIX, CACHE_OBJECT_SUFFIX, CACHE_COUNT_SUFFIX,
                                         CACHE_RUNNER_SUFFIX};
  const size_t digits = key_length(name);
  if (digits == 0) return false;
  for (size_t i = 0; i < COUNT(suffixes); i++) {
    const char *rest = name + digits + strlen(suffixes[i]);
    if (strncmp(name + digits, suffixes[i], strlen(suffixes[i])) != 0) continue;
    *is_leftover = *rest != '\0';
    return !*is_leftover || (*rest == REPLACE_SUFFIX[0] && strlen(rest) == strlen(REPLACE_SUFFIX));
  }
  return false;
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

static void count_file(void *context, const struct cache_file *file) {
  struct cache_facts *facts = context;
  facts->files++;
  facts->bytes += file->bytes;
}

struct cache_facts cache_folder_facts(const char *folder) {
  struct cache_facts facts = {0};
  cache_folder_visit(folder, count_file, &facts);
  return facts;
}

struct cleaning {
  struct cache_facts removed;
  halotune_status status;
};

static void remove_file(void *context, const struct cache_file *file) {
  struct cleaning *cleaning = context;
  if (unlink(file->path) == 0) count_file(&cleaning->removed, file);
  else if (errno != ENOENT) cleaning->status = fail(HALOTUNE_IO, "%s: %s", file->path, strerror(errno));
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

bool cache_folder_is_scratch(const char *name) {
  const size_t prefix = strlen(CACHE_SCRATCH_PREFIX);
  return strncmp(name, CACHE_SCRATCH_PREFIX, prefix) == 0 && strlen(name + prefix) == strlen(REPLACE_SUFFIX) - 1;
}

static halotune_status remove_folders(const char *folder) {
  halotune_status status = HALOTUNE_OK;
  DIR *files = folder ? opendir(folder) : NULL;
  if (!files) return status;
  for (struct dirent *entry; (entry = readdir(files));) {
    struct stat facts;
    char *path;
    const size_t digits = key_length(entry->d_name);
    if ((digits == 0 || entry->d_name[digits] != '\0') && !cache_folder_is_scratch(entry->d_name)) continue;
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

/* If memory runs out, the list stays short, and a later trim removes the rest. */
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
