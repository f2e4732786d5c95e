/* store_path.c: where the user's database lies, and the one that comes with Halotune. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/data_folders.h"
#include "base/user_folder.h"
#include "db/store/store.h"

halotune_status store_default_path(char **path) {
  const char *named = getenv("HALOTUNE_DB");
  if (named && *named) return (*path = strdup(named)) ? HALOTUNE_OK : fail_memory();
  halotune_status status = user_file_path("halotune.db", path);
  if (status != HALOTUNE_NOT_FOUND) return status;
  return fail(HALOTUNE_IO, "there is no default path for the database: set $HOME or $HALOTUNE_DB, or name a file");
}

halotune_status store_starter_path(char **path) {
  struct data_folders folders;
  data_folders_find(&folders);
  *path = NULL;
  for (int i = 0; i < folders.count; i++) {
    free(*path);
    if (asprintf(path, "%s/starter.db", folders.list[i]) < 0) {
      *path = NULL;
      return fail_memory();
    }
    if (access(*path, F_OK) == 0) break;
  }
  return HALOTUNE_OK;
}
