/* make.c: makes each name in the folder that was opened and checked. */
#include "base/files/make.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/exchange.h"
#include "base/files/place.h"

halotune_status folder_make(const char *path) {
  int folder;
  const halotune_status status = exchange_make_folder(path, EXCHANGE_NAMED, &folder);
  if (folder >= 0) close(folder);
  return status;
}

static bool is_folder(const struct place *place) {
  struct stat facts;
  return fstatat(place->folder, place->name, &facts, 0) == 0 && S_ISDIR(facts.st_mode);
}

halotune_status folder_make_for_all(const char *path) {
  const mode_t all = S_IRWXU | S_IRWXG | S_IRWXO;
  struct place place;
  char *name = strdup(path);
  if (!name) return fail_memory();
  for (size_t end = strlen(name); end > 1 && name[end - 1] == '/'; end--) name[end - 1] = '\0';
  halotune_status status = exchange_open_place(name, &place);
  if (place.is_missing)
    status = fail(HALOTUNE_IO, "%s: the folder cannot be created: the folder above it does not exist", path);
  if (status == HALOTUNE_OK && mkdirat(place.folder, place.name, all) != 0) {
    const int code = errno;
    if (code != EEXIST || !is_folder(&place))
      status = fail(HALOTUNE_IO, "%s: the folder cannot be created: %s", path, strerror(code));
  }
  place_close(&place);
  free(name);
  return status;
}

halotune_status file_make(const char *path) {
  struct place place;
  halotune_status status = exchange_open_place(path, &place);
  const int file =
      status == HALOTUNE_OK ? openat(place.folder, place.name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
  if (status == HALOTUNE_OK && file < 0 && errno != EEXIST) status = fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  if (file >= 0) close(file);
  place_close(&place);
  return status;
}
