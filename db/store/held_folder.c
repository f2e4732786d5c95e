/* held_folder.c: the links of /proc/self/fd lead to open files, whatever their names are by now. */
#include "db/store/held_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/path.h"

#define DESCRIPTORS "/proc/self/fd/"

bool held_is_path(const char *path) { return strncmp(path, DESCRIPTORS, strlen(DESCRIPTORS)) == 0; }

bool held_open(const char *path, int *fd, char out[PATH_MAX]) {
  char *folder = path_folder(path);
  *fd = folder ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
  free(folder);
  if (*fd < 0) return false;
  snprintf(out, PATH_MAX, DESCRIPTORS "%d", *fd);
  const bool has_descriptors = access(out, F_OK) == 0;
  const int length = has_descriptors ? snprintf(out, PATH_MAX, DESCRIPTORS "%d/%s", *fd, path_name(path))
                                     : snprintf(out, PATH_MAX, "%s", path);
  if (has_descriptors && length < PATH_MAX) return true;
  close(*fd);
  *fd = -1;
  return length < PATH_MAX;
}

void held_readable(const char *path, char out[PATH_MAX]) {
  char link[64], folder[PATH_MAX];
  const char *name = held_is_path(path) ? strchr(path + strlen(DESCRIPTORS), '/') : NULL;
  ssize_t length = -1;
  if (name && snprintf(link, sizeof link, "%.*s", (int)(name - path), path) < (int)sizeof link)
    length = readlink(link, folder, sizeof folder - 1);
  folder[length > 0 ? length : 0] = '\0';
  if (length <= 0 || snprintf(out, PATH_MAX, "%s%s", folder, name) >= PATH_MAX) snprintf(out, PATH_MAX, "%s", path);
}
