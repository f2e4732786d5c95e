/* path.c: looks for the last slash of a path. */
#include "base/files/path.h"

#include <stdlib.h>
#include <string.h>

const char *path_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

char *path_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  const size_t length = slash == path ? 1 : (size_t)(path_name(path) - path) - 1;
  return slash ? strndup(path, length) : strdup(".");
}
