/* store_path.c: where the user's database lies, and the one that comes with Halotune. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/data_folders.h"
#include "db/store/store.h"

halotune_status store_default_path(char **path) {
  const char *named = getenv("HALOTUNE_DB"), *data_home = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
  int length = 0;
  *path = NULL;
  if (named && *named) length = asprintf(path, "%s", named);
  else if (data_home && *data_home == '/') /* others are to be ignored */
    length = asprintf(path, "%s/halotune/halotune.db", data_home);
  else if (home && *home) length = asprintf(path, "%s/.local/share/halotune/halotune.db", home);
  else return fail(HALOTUNE_IO, "there is no default path for the database: set $HOME or $HALOTUNE_DB, or name a file");
  if (length >= 0) return HALOTUNE_OK;
  *path = NULL;
  return fail_memory();
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
