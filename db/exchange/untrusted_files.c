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

static halotune_status folder_check(const char *folder) {
  struct stat facts;
  const halotune_status status = exchange_link_check(folder);
  if (status != HALOTUNE_OK) return status;
  if (stat(folder, &facts) != 0) return fail(HALOTUNE_IO, "%s: %s", folder, strerror(errno));
  return own_check(&facts, folder, &folder_apart);
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

static int is_kept(const struct dirent *entry) {
  const size_t length = strlen(entry->d_name);
  return length >= sizeof suffix && strcmp(entry->d_name + length - (sizeof suffix - 1), suffix) == 0;
}

halotune_status untrusted_each(const char *path, halotune_status (*visit)(void *context, const char *file),
                               void *context) {
  struct dirent **entries = NULL;
  char *folder = folder_of(path);
  halotune_status status = folder ? HALOTUNE_OK : fail_memory();
  int count = folder ? scandir(folder, &entries, is_kept, alphasort) : 0;
  for (int i = 0; i < count; i++) {
    char *file = NULL;
    if (status == HALOTUNE_OK && asprintf(&file, "%s/%s", folder, entries[i]->d_name) < 0) {
      file = NULL;
      status = fail_memory();
    }
    if (status == HALOTUNE_OK) status = visit(context, file);
    free(file);
    free(entries[i]);
  }
  free(entries);
  free(folder);
  return status;
}
