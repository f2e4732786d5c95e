/* held_path.c: the links of /proc/self/fd lead to open files, whatever their names are by now. */
#include "base/files/held_path.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/same_file.h"
#include "base/memory/array.h"

static const char of_thread[] = "/proc/thread-self/fd/", of_process[] = "/proc/self/fd/";

/* Whether a path leads to an open folder. */
static bool leads_to(const char *path, int folder) {
  struct stat there, here;
  return stat(path, &there) == 0 && fstat(folder, &here) == 0 && same_file(&there, &here);
}

bool held_path_of_thread(int folder, char out[HELD_PATH_BYTES]) {
  snprintf(out, HELD_PATH_BYTES, "%s%d", of_thread, folder);
  return leads_to(out, folder);
}

bool held_path_of_process(int folder, char out[HELD_PATH_BYTES]) {
  snprintf(out, HELD_PATH_BYTES, "%s%d", of_process, folder);
  return leads_to(out, folder);
}

/* The end of the part of a name that names descriptors; NULL: it has no such part. */
static const char *behind_descriptors(const char *name) {
  static const char *const beginnings[] = {of_thread, of_process};
  for (size_t i = 0; i < COUNT(beginnings); i++) {
    if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) return name + strlen(beginnings[i]);
  }
  return NULL;
}

bool held_path_is(const char *name) { return behind_descriptors(name); }

void held_path_readable(const char *name, char out[PATH_MAX]) {
  char link[HELD_PATH_BYTES], folder[PATH_MAX];
  const char *descriptor = behind_descriptors(name), *file = descriptor ? strchr(descriptor, '/') : NULL;
  ssize_t length = -1;
  if (file && snprintf(link, sizeof link, "%.*s", (int)(file - name), name) < (int)sizeof link)
    length = readlink(link, folder, sizeof folder - 1);
  folder[length > 0 ? length : 0] = '\0';
  if (length <= 0 || snprintf(out, PATH_MAX, "%s%s", folder, file) >= PATH_MAX) snprintf(out, PATH_MAX, "%s", name);
}
