/* user_folder.c: finds the folder by environment variables. */
#include "base/files/user_folder.h"

#include <stdio.h>
#include <stdlib.h>

halotune_status user_file_path(const char *name, char **path) {
  const char *data_home = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
  int length = 0;
  *path = NULL;
  /* The XDG specification says to ignore relative paths. They lead to the working directory. */
  if (data_home && *data_home == '/') length = asprintf(path, "%s/halotune/%s", data_home, name);
  else if (home && *home == '/') length = asprintf(path, "%s/.local/share/halotune/%s", home, name);
  else return fail(HALOTUNE_NOT_FOUND, "there is no folder for the user's data: set $HOME");
  if (length >= 0) return HALOTUNE_OK;
  *path = NULL;
  return fail_memory();
}

const char *temporary_folder(void) {
  const char *named = getenv("TMPDIR");
  return named && *named == '/' ? named : "/tmp";
}
