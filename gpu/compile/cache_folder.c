/* cache_folder.c: lists the files of a cache folder, with one stat per file. Other processes may remove files at the
 * same time. */
#include "gpu/compile/cache_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files/own.h"
#include "base/files/replace.h"
#include "base/files/user_folder.h"
#include "base/memory/array.h"

enum {
  HASH_DIGITS = 32,
  IDENTITY_DIGITS = 64
}; /* lengths of keys in names of entries: base/identity/hash.h, base/identity/identity.h */
static const int64_t second_ns = 1000000000;

halotune_status cache_folder_default(const char *below, char **folder) {
  return user_folder_path("XDG_CACHE_HOME", ".cache", below, folder);
}

halotune_status cache_folder_secure(bool makes) {
  char *folder;
  halotune_status status = cache_folder_default("", &folder);
  if (status == HALOTUNE_OK && folder) status = makes ? own_folder_make(folder) : own_folder_check(folder);
  free(folder);
  return status;
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

bool cache_folder_has_sources(const char *name) {
  const size_t digits = key_length(name);
  return digits > 0 && name[digits] == '\0';
}

bool cache_folder_is_scratch(const char *name) {
  const size_t prefix = strlen(CACHE_SCRATCH_PREFIX);
  return strncmp(name, CACHE_SCRATCH_PREFIX, prefix) == 0 && strlen(name + prefix) == strlen(REPLACE_SUFFIX) - 1;
}
