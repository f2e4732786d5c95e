/* path.c: looks for the last slash of a path, and for programs on PATH. */
#include "base/files/path.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *path_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

char *path_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return strdup(".");
  return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static bool is_program(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && access(path, X_OK) == 0;
}

/* Join a folder and a name, and keep the path if a program is there. */
static char *program_in(const char *folder, int length, const char *name) {
  char *path;
  if (asprintf(&path, "%.*s/%s", length, folder, name) < 0) return NULL;
  if (is_program(path)) return path;
  free(path);
  return NULL;
}

char *path_of_program(const char *name) {
  char *found = NULL;
  if (*name == '/') return is_program(name) ? strdup(name) : NULL;
  if (strchr(name, '/')) {
    char *here = getcwd(NULL, 0);
    if (here) found = program_in(here, (int)strlen(here), name);
    free(here);
    return found;
  }
  const char *at = getenv("PATH");
  if (!at) at = "/usr/bin:/bin";
  while (*at && !found) {
    const int length = (int)strcspn(at, ":");
    if (*at == '/') found = program_in(at, length, name);
    at += length + (at[length] == ':');
  }
  return found;
}
