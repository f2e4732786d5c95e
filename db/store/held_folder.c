/* held_folder.c: the links of /proc/thread-self/fd lead to open files, whatever their names are by now. */
#include "db/store/held_folder.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/exchange.h"
#include "base/files/place.h"

#define DESCRIPTORS "/proc/thread-self/fd/"

bool held_is_path(const char *name) { return strncmp(name, DESCRIPTORS, strlen(DESCRIPTORS)) == 0; }

/* Whether a path leads to an open folder. Where the proc file system is not mounted, or is that of other processes, it
 * does not. */
static bool leads_to(const char *path, int folder) {
  struct stat there, here;
  return stat(path, &there) == 0 && fstat(folder, &here) == 0 && there.st_dev == here.st_dev &&
         there.st_ino == here.st_ino;
}

halotune_status held_open(const char *path, struct held_file *out) {
  struct place place;
  char link[64];
  *out = (struct held_file){.path = path, .folder = -1};
  halotune_status status = exchange_find_place(path, &place);
  snprintf(link, sizeof link, DESCRIPTORS "%d", place.folder);
  int length;
  if (status == HALOTUNE_OK && !place.is_missing && leads_to(link, place.folder)) {
    length = snprintf(out->name, sizeof out->name, "%s/%s", link, place.name);
    out->folder = place.folder;
    place.folder = -1; /* moved */
  } else {
    length = snprintf(out->name, sizeof out->name, "%s", place.is_missing || !place.path ? path : place.path);
  }
  place_close(&place);
  if (status == HALOTUNE_OK && length >= (int)sizeof out->name) status = fail(HALOTUNE_DB, "%s: too long a path", path);
  return status == HALOTUNE_IO ? fail(HALOTUNE_DB, "%s; name another file", fail_text()) : status;
}

void held_close(struct held_file *held) {
  if (held->folder >= 0) close(held->folder);
  held->folder = -1;
}

void held_readable(const char *name, char out[PATH_MAX]) {
  char link[64], folder[PATH_MAX];
  const char *file = held_is_path(name) ? strchr(name + strlen(DESCRIPTORS), '/') : NULL;
  ssize_t length = -1;
  if (file && snprintf(link, sizeof link, "%.*s", (int)(file - name), name) < (int)sizeof link)
    length = readlink(link, folder, sizeof folder - 1);
  folder[length > 0 ? length : 0] = '\0';
  if (length <= 0 || snprintf(out, PATH_MAX, "%s%s", folder, file) >= PATH_MAX) snprintf(out, PATH_MAX, "%s", name);
}
