/* user_folder.c: finds the folder by environment variables. */
#include "base/files/user_folder.h"

#include <stdio.h>
#include <stdlib.h>

halotune_status user_folder_path(const char *variable, const char *below_home, const char *end, char **path) {
  const char *named = getenv(variable), *home = getenv("HOME");
  int length = 0;
  *path = NULL;
  /* The XDG specification says to ignore relative paths. They lead to the working directory. */
  if (named && *named == '/') length = asprintf(path, "%s/halotune%s", named, end);
  else if (home && *home == '/') length = asprintf(path, "%s/%s/halotune%s", home, below_home, end);
  if (length >= 0) return HALOTUNE_OK;
  *path = NULL;
  return fail_memory();
}

halotune_status user_file_path(const char *name, char **path) {
  char *folder;
  *path = NULL;
  halotune_status status = user_folder_path("XDG_DATA_HOME", ".local/share", "", &folder);
  if (status != HALOTUNE_OK) return status;
  if (!folder) return fail(HALOTUNE_NOT_FOUND, "there is no folder for the user's data: set $HOME");
  if (asprintf(path, "%s/%s", folder, name) < 0) {
    *path = NULL;
    status = fail_memory();
  }
  free(folder);
  return status;
}

const char *temporary_folder(void) {
  const char *named = getenv("TMPDIR");
  return named && *named == '/' ? named : "/tmp";
}
