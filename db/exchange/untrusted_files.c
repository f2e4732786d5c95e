/* untrusted_files.c: SQLite copies the database to a temporary name, which becomes the final one when the copy is
 * complete. */
#include "db/exchange/untrusted_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/exchange.h"
#include "base/files/own.h"
#include "base/files/replace.h"
#include "base/memory/array.h"
#include "base/system/clock.h"
#include "db/store/query.h"
#include "db/store/schema.h"

static const char suffix[] = ".db", suffix_part[] = ".new-XXXXXX";

static char *folder_of(const char *path) {
  char *folder;
  return asprintf(&folder, "%s.untrusted", path) < 0 ? NULL : folder;
}

/* The path FOLDER/NAME-IDENTITY.db. Only letters, digits, dots and dashes of the name are taken. */
static char *file_of(const char *folder, const char *name, struct identity document) {
  char hex[IDENTITY_HEX_BYTES], word[64], *file;
  size_t length = 0;
  for (; length < sizeof word - 1 && name[length]; length++) {
    const char c = name[length];
    word[length] = isalnum((unsigned char)c) || c == '-' || (c == '.' && length > 0) ? c : '_';
  }
  word[length] = '\0';
  identity_hex(document, hex);
  return asprintf(&file, "%s/%s-%s%s", folder, word, hex, suffix) < 0 ? NULL : file;
}

/* Copy all of a database into a new file, and mark it as not trusted. */
static halotune_status copy_store(struct store *from, const char *file) {
  char mark[64], *name = NULL;
  sqlite3 *connection = NULL;
  halotune_status status = query_copy_into(store_connection(from), file);
  if (status != HALOTUNE_OK) return status;
  /* Only the owner may read a database. */
  if (chmod(file, S_IRUSR | S_IWUSR) != 0) return fail(HALOTUNE_IO, "%s: %s", file, strerror(errno));
  snprintf(mark, sizeof mark, "pragma application_id = %d", SCHEMA_UNTRUSTED_ID);
  if (!(name = query_file_name(file))) return fail_memory();
  if (sqlite3_open_v2(name, &connection, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) status = query_fail(connection);
  free(name);
  if (status == HALOTUNE_OK) status = query_script(connection, mark);
  sqlite3_close(connection);
  return status;
}

/* Another user who can write to the folder could put a link there with the name of the new file. */
static const struct own_kind folder_apart = {.what = "folder",
                                             .foreign_remedy = "move it away",
                                             .rights = S_IWGRP | S_IWOTH,
                                             .others_can = "write to",
                                             .chmod = "go-w"};

/* Open the folder, if it is this user's alone.
 *   out  for the caller to close, also after a failure; NULL if there is no folder */
static halotune_status folder_open(const char *folder, DIR **out) {
  struct stat facts;
  const halotune_status status = exchange_link_check(folder);
  *out = NULL;
  if (status != HALOTUNE_OK) return status;
  if (!(*out = opendir(folder))) {
    if (errno == ENOENT || errno == ENOTDIR) return HALOTUNE_OK;
    return fail(HALOTUNE_IO, "%s: %s", folder, strerror(errno));
  }
  if (fstat(dirfd(*out), &facts) != 0) return fail(HALOTUNE_IO, "%s: %s", folder, strerror(errno));
  return own_check(&facts, folder, &folder_apart);
}

static halotune_status folder_check(const char *folder) {
  DIR *entries;
  const halotune_status status = folder_open(folder, &entries);
  if (entries) closedir(entries);
  return status;
}

/* Copy a database to a new file in the folder. Copies that are not complete have other names: a process that dies
 * leaves one, and a later one removes it. */
static halotune_status copy_to(const char *folder, const char *file, struct store *from) {
  char *part = NULL;
  if (asprintf(&part, "%s%s", file, suffix_part) < 0) return fail_memory();
  leftovers_remove(folder, ".db.new-");
  const int fd = mkostemp(part, O_CLOEXEC); /* SQLite writes into an empty file */
  halotune_status status = fd >= 0 ? copy_store(from, part) : fail(HALOTUNE_IO, "%s: %s", part, strerror(errno));
  if (status == HALOTUNE_OK && rename(part, file) != 0) status = fail(HALOTUNE_IO, "%s: it cannot be written", file);
  if (status != HALOTUNE_OK && fd >= 0) unlink(part);
  if (fd >= 0) close(fd);
  free(part);
  return status;
}

halotune_status untrusted_keep(const char *path, struct store *from, const char *name, struct identity document,
                               char **kept, bool *is_new) {
  char *folder = folder_of(path), *file = folder ? file_of(folder, name, document) : NULL;
  halotune_status status = file ? HALOTUNE_OK : fail_memory();
  *kept = NULL;
  *is_new = false;
  if (status == HALOTUNE_OK && access(file, F_OK) != 0) {
    status = folder_make(folder);
    if (status == HALOTUNE_OK) status = folder_check(folder);
    if (status == HALOTUNE_OK) status = copy_to(folder, file, from);
    *is_new = status == HALOTUNE_OK;
  }
  if (status == HALOTUNE_OK) *kept = file;
  else free(file);
  free(folder);
  return status;
}

static bool is_kept(const char *name) {
  const size_t length = strlen(name);
  return length >= sizeof suffix && strcmp(name + length - (sizeof suffix - 1), suffix) == 0;
}

/* The paths of the files that are kept in a folder. */
struct kept_files {
  char **list;
  int count, capacity;
};

static void files_free(struct kept_files *files) {
  for (int i = 0; i < files->count; i++) free(files->list[i]);
  free(files->list);
}

static int compare_paths(const void *left, const void *right) {
  return strcmp(*(char *const *)left, *(char *const *)right);
}

static const struct own_kind file_apart = {.what = "file",
                                           .foreign_remedy = "remove it",
                                           .rights = S_IWGRP | S_IWOTH,
                                           .others_can = "write to",
                                           .chmod = "go-w"};

/* Add a file to the list, unless it is not this user's alone. Takes over the path. */
static halotune_status file_add(struct kept_files *files, int folder, const char *name, char *path) {
  struct stat facts;
  halotune_status status = path && array_room(files->list, files->count, files->capacity) ? HALOTUNE_OK : fail_memory();
  const bool is_there = status == HALOTUNE_OK && fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_there) status = own_check(&facts, path, &file_apart);
  if (is_there && status == HALOTUNE_OK && !S_ISREG(facts.st_mode))
    status = fail(HALOTUNE_IO, "%s: this is not a regular file, so it is not used; remove it", path);
  if (is_there && status == HALOTUNE_OK) files->list[files->count++] = path;
  else free(path);
  return status;
}

/* List the files of an open folder. The detail of the first one that is left out is kept.
 * Returns HALOTUNE_OK, HALOTUNE_IO if one was left out, or HALOTUNE_MEMORY. */
static halotune_status files_list(DIR *entries, const char *folder, double until_thread_ms, struct kept_files *files) {
  struct fail_kept first;
  halotune_status status = HALOTUNE_OK;
  for (struct dirent *entry; status != HALOTUNE_MEMORY && (entry = readdir(entries));) {
    char *path;
    if (clock_thread_ms() > until_thread_ms) break;
    if (!is_kept(entry->d_name)) continue;
    if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0) path = NULL;
    const halotune_status added = file_add(files, dirfd(entries), entry->d_name, path);
    if (added == HALOTUNE_IO && status == HALOTUNE_OK) fail_keep(&first);
    if (added != HALOTUNE_OK) status = added;
  }
  if (files->count > 1) qsort(files->list, (size_t)files->count, sizeof *files->list, compare_paths);
  if (status == HALOTUNE_IO) fail_put_back(&first);
  return status;
}

halotune_status untrusted_each(const char *path, double until_thread_ms,
                               halotune_status (*visit)(void *context, const char *file), void *context) {
  struct kept_files files = {.list = NULL};
  struct fail_kept left_out;
  DIR *entries = NULL;
  char *folder = folder_of(path);
  halotune_status status = folder ? folder_open(folder, &entries) : fail_memory();
  if (status == HALOTUNE_OK && entries) status = files_list(entries, folder, until_thread_ms, &files);
  fail_keep(&left_out);
  for (int i = 0; i < files.count && status != HALOTUNE_MEMORY; i++) {
    const halotune_status visited = visit(context, files.list[i]);
    if (visited == HALOTUNE_OK) continue;
    status = visited;
    fail_keep(&left_out);
    break;
  }
  fail_put_back(&left_out);
  files_free(&files);
  if (entries) closedir(entries);
  free(folder);
  return status;
}
