/* untrusted_files.c: writes the bytes of a database to a file in an open folder, so that nobody can exchange the folder
 * or the file between a check and its use. */
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
#include "base/system/transfer.h"
#include "db/store/query.h"
#include "db/store/schema.h"

static const char suffix[] = ".db";

static char *folder_of(const char *path) {
  char *folder;
  return asprintf(&folder, "%s.untrusted", path) < 0 ? NULL : folder;
}

/* The path FOLDER/NAME-IDENTITY.db. Only letters, digits, dots and dashes of the name are taken. */
static char *file_of(const char *folder, const char *name, struct identity identity) {
  char hex[IDENTITY_HEX_BYTES], word[64], *file;
  size_t length = 0;
  for (; length < sizeof word - 1 && name[length]; length++) {
    const char c = name[length];
    word[length] = isalnum((unsigned char)c) || c == '-' || (c == '.' && length > 0) ? c : '_';
  }
  word[length] = '\0';
  identity_hex(identity, hex);
  return asprintf(&file, "%s/%s-%s%s", folder, word, hex, suffix) < 0 ? NULL : file;
}

/* A database as the bytes of its file. */
struct copy {
  const char *path; /* for messages */
  unsigned char *bytes;
  size_t length;
};

static halotune_status copy_write(void *context, int fd) {
  const struct copy *copy = context;
  if (write_all(fd, (const char *)copy->bytes, copy->length)) return HALOTUNE_OK;
  return fail(HALOTUNE_IO, "%s: %s", copy->path, strerror(errno));
}

/* Write a number of four bytes into a database's header. */
static void header_put(unsigned char *bytes, size_t at, unsigned number) {
  for (size_t i = 0; i < 4; i++) bytes[at + i] = (unsigned char)(number >> (24 - 8 * i));
}

/* Mark the bytes of a database as not trusted. They have no WAL beside them. How often the database was written does
 * not count: the two numbers of it differ, so that SQLite takes the number of pages from the file's length. The places
 * are those of SQLite's file format (sqlite.org/fileformat2.html, "The Database Header"). */
static void bytes_mark(unsigned char *bytes) {
  enum { FILE_FORMAT_WRITE = 18, FILE_FORMAT_READ = 19, WITH_ROLLBACK_JOURNAL = 1 };
  enum { CHANGE_COUNTER = 24, APPLICATION_ID = 68, VERSION_VALID_FOR = 92 };
  bytes[FILE_FORMAT_WRITE] = bytes[FILE_FORMAT_READ] = WITH_ROLLBACK_JOURNAL;
  header_put(bytes, CHANGE_COUNTER, 1);
  header_put(bytes, VERSION_VALID_FOR, 0);
  header_put(bytes, APPLICATION_ID, SCHEMA_UNTRUSTED_ID);
}

/* Another user who can write to the folder could put a link there with the name of the new file. */
static const struct own_kind folder_apart = {.what = "folder",
                                             .foreign_remedy = "move it away",
                                             .rights = S_IWGRP | S_IWOTH,
                                             .others_can = "write to",
                                             .chmod = "go-w"};

/* Open the folder, if it is this user's alone.
 *   makes  make it if it is not there
 *   out    for the caller to close, also after a failure; NULL if there is no folder */
static halotune_status folder_open(const char *folder, bool makes, DIR **out) {
  struct stat facts;
  int fd;
  const halotune_status status =
      makes ? exchange_make_folder(folder, EXCHANGE_LINKS, &fd) : exchange_open_folder(folder, EXCHANGE_LINKS, &fd);
  *out = NULL;
  if (status != HALOTUNE_OK || fd < 0) return status;
  if (!(*out = fdopendir(fd))) {
    close(fd);
    return fail(HALOTUNE_IO, "%s: %s", folder, strerror(errno));
  }
  if (fstat(fd, &facts) != 0) return fail(HALOTUNE_IO, "%s: %s", folder, strerror(errno));
  return own_check(&facts, folder, &folder_apart);
}

static const struct own_kind file_apart = {.what = "file",
                                           .foreign_remedy = "remove it",
                                           .rights = S_IWGRP | S_IWOTH,
                                           .others_can = "write to",
                                           .chmod = "go-w"};

/* Refuse a file that is not this user's alone.
 *   is_there  receives whether there is such a file */
static halotune_status file_check(int folder, const char *name, const char *path, bool *is_there) {
  struct stat facts;
  *is_there = fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) == 0;
  if (!*is_there) return HALOTUNE_OK;
  if (!S_ISREG(facts.st_mode)) /* all may write to a link, as its mode says */
    return fail(HALOTUNE_IO, "%s: this is not a regular file, so it is not used; remove it", path);
  return own_check(&facts, path, &file_apart);
}

/* Write a database to a file of an open folder. Files that are not complete have other names: a process that dies
 * leaves one, and a later one removes it. */
static halotune_status copy_to(int folder, const char *name, struct copy *copy) {
  char opened[64];
  snprintf(opened, sizeof opened, "/proc/self/fd/%d", folder);
  leftovers_remove(opened, ".db.", IDENTITY_HEX_BYTES - 1);     /* other files there may be the user's */
  leftovers_remove(opened, ".db.new-", IDENTITY_HEX_BYTES - 1); /* of Halotunes that named them so */
  return file_replace_at(folder, name, copy->path, false, copy_write, copy);
}

/* Copy a database as the bytes of the file that is kept. sqlite3_free ends `bytes`. */
static halotune_status copy_make(struct store *from, struct copy *out) {
  sqlite3_int64 length = 0;
  *out = (struct copy){.bytes = sqlite3_serialize(store_connection(from), "main", &length, 0)};
  if (!out->bytes) return fail_memory();
  out->length = (size_t)length;
  bytes_mark(out->bytes);
  return HALOTUNE_OK;
}

halotune_status untrusted_keep(const char *path, struct store *from, const char *name, const struct identity *document,
                               char **kept, bool *is_new) {
  char *folder = folder_of(path), *file = NULL;
  struct copy copy = {.bytes = NULL};
  DIR *entries = NULL;
  bool is_there = false;
  halotune_status status = folder ? copy_make(from, &copy) : fail_memory();
  *kept = NULL;
  *is_new = false;
  if (status == HALOTUNE_OK) {
    file = file_of(folder, name, document ? *document : identity_of("kept database", copy.bytes, copy.length));
    status = file ? folder_open(folder, true, &entries) : fail_memory();
  }
  copy.path = file;
  const char *own_name = file ? file + strlen(folder) + 1 : NULL;
  if (status == HALOTUNE_OK) status = file_check(dirfd(entries), own_name, file, &is_there);
  if (status == HALOTUNE_OK && !is_there) {
    status = copy_to(dirfd(entries), own_name, &copy);
    *is_new = status == HALOTUNE_OK;
  }
  if (entries) closedir(entries);
  if (status == HALOTUNE_OK) *kept = file;
  else free(file);
  sqlite3_free(copy.bytes);
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

/* Add a file to the list, unless it is not this user's alone. Takes over the path. */
static halotune_status file_add(struct kept_files *files, int folder, const char *name, char *path) {
  bool is_there = false;
  halotune_status status = path && array_room(files->list, files->count, files->capacity) ? HALOTUNE_OK : fail_memory();
  if (status == HALOTUNE_OK) status = file_check(folder, name, path, &is_there);
  if (status == HALOTUNE_OK && is_there) files->list[files->count++] = path;
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
  halotune_status status = folder ? folder_open(folder, false, &entries) : fail_memory();
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
