/* store_path.c: the paths of the user's database, and of the one that comes with Halotune. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/data_file.h"
#include "base/files/data_folders.h"
#include "base/files/exchange.h"
#include "base/files/user_folder.h"
#include "base/memory/array.h"
#include "db/store/store.h"

halotune_status store_default_path(char **path) {
  const char *named = getenv("HALOTUNE_DB");
  if (named && *named) return (*path = strdup(named)) ? HALOTUNE_OK : fail_memory();
  halotune_status status = user_file_path("halotune.db", path);
  if (status != HALOTUNE_NOT_FOUND) return status;
  return fail(HALOTUNE_IO, "there is no default path for the database: set $HOME or $HALOTUNE_DB, or name a file");
}

halotune_status store_real_path(const char *path, char **out) {
  const halotune_status status = exchange_real_path(path, out);
  return status == HALOTUNE_IO ? fail(HALOTUNE_DB, "%s; name another file", fail_text()) : status;
}

bool store_starter_is_usable(const char *path) { return path && access(path, R_OK) == 0 && data_is_safe(path); }

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

halotune_status store_starter_path(char **path) {
  static bool (*const is_wanted[])(const char *path) = {store_starter_is_usable, is_there};
  struct data_folders folders;
  data_folders_find(&folders);
  *path = NULL;
  for (size_t pass = 0; pass < COUNT(is_wanted); pass++) {
    for (int i = 0; i < folders.count; i++) {
      free(*path);
      if (asprintf(path, "%s/starter.db", folders.list[i]) < 0) {
        *path = NULL;
        return fail_memory();
      }
      if (is_wanted[pass](*path)) return HALOTUNE_OK;
    }
  }
  return HALOTUNE_OK;
}

/* The owner of the file is looked at again: the path can lead to another file by now. */
static halotune_status check_owner(const struct store *store) {
  const struct store_file file = store_file_of(store);
  if (file.inode != 0 && data_owner_is_trusted(file.owner)) return HALOTUNE_OK;
  return fail(HALOTUNE_DB, "%s: it belongs to user %u, and is not used", store_path(store), (unsigned)file.owner);
}

halotune_status store_open_starter(struct store **out) {
  char *path = NULL;
  *out = NULL;
  halotune_status status = store_starter_path(&path);
  if (status == HALOTUNE_OK && store_starter_is_usable(path)) {
    status = store_open(path, STORE_READ, out);
    if (status == HALOTUNE_OK) status = check_owner(*out);
    if (status != HALOTUNE_OK) {
      store_close(*out);
      *out = NULL;
    }
  }
  free(path);
  return status;
}
