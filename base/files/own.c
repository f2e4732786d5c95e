/* own.c: checks owners and modes. Files and folders are checked by their descriptors, so that nobody can exchange them
 * in between. */
#include "base/files/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/exchange.h"
#include "base/files/file.h"
#include "base/files/held_path.h"
#include "base/files/path.h"
#include "base/system/process.h"
#include "base/text/text.h"

enum { WRITE_RIGHTS = S_IWGRP | S_IWOTH };

static const struct own_kind cache = {.what = "cache",
                                      .foreign_remedy = "set XDG_CACHE_HOME to a folder of your own",
                                      .rights = WRITE_RIGHTS,
                                      .others_can = "write to",
                                      .chmod = "-R go-w"};

static const struct own_kind file_in_cache = {
    .what = "file", .foreign_remedy = "remove it", .rights = WRITE_RIGHTS, .others_can = "write to", .chmod = "go-w"};

halotune_status own_check(const struct stat *facts, const char *path, const struct own_kind *kind) {
  if (facts->st_uid != geteuid())
    return fail(HALOTUNE_IO, "%s: this %s belongs to user %u, and user %u does not use it; %s", path, kind->what,
                (unsigned)facts->st_uid, (unsigned)geteuid(), kind->foreign_remedy);
  if ((facts->st_mode & kind->rights) == 0) return HALOTUNE_OK;
  struct text word = {0};
  text_shell_path(&word, path);
  const halotune_status status =
      fail(HALOTUNE_IO, "%s: others can %s this %s, so it is not used; run: chmod %s %s%s%s", path, kind->others_can,
           kind->what, kind->chmod, text_string(&word), kind->more ? ", and " : "", kind->more ? kind->more : "");
  text_free(&word);
  return status;
}

/* The length of a path without slashes at its end. */
static size_t bare_length(const char *path) {
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') length--;
  return length;
}

bool own_folder_of(const char *path, struct stat *facts) {
  char *bare = strndup(path, bare_length(path)), *folder = bare ? path_folder(bare) : NULL;
  const bool is_there = folder && stat(folder, facts) == 0;
  free(folder);
  free(bare);
  return is_there;
}

/* Check an open folder, and close it if it is refused. */
static halotune_status folder_check_open(const char *path, int *fd) {
  struct stat facts;
  const halotune_status status =
      fstat(*fd, &facts) == 0 ? own_check(&facts, path, &cache) : fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  if (status == HALOTUNE_OK) return status;
  close(*fd);
  *fd = -1;
  return status;
}

/*   fd  -1 unless HALOTUNE_OK is returned */
static halotune_status folder_open(const char *path, int *fd) {
  const halotune_status status = exchange_open_folder(path, EXCHANGE_WAY, fd);
  if (status == HALOTUNE_OK && *fd < 0) return HALOTUNE_NOT_FOUND;
  return status == HALOTUNE_OK ? folder_check_open(path, fd) : status;
}

halotune_status own_folder_check(const char *path) {
  int fd = -1;
  const halotune_status status = folder_open(path, &fd);
  if (fd >= 0) close(fd);
  return status;
}

halotune_status own_folder_hold(const char *path, int *fd, char **through) {
  char held[HELD_PATH_BYTES];
  *through = NULL;
  halotune_status status = folder_open(path, fd);
  if (status != HALOTUNE_OK) return status;
  *fd = process_high_descriptor(*fd);
  if (*fd < 0) return fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  *through = strdup(held_path_of_process(*fd, held) ? held : path);
  if (*through) return HALOTUNE_OK;
  close(*fd);
  *fd = -1;
  return fail_memory();
}

halotune_status own_folder_make(const char *path) {
  int fd;
  halotune_status status = exchange_make_folder(path, EXCHANGE_WAY, &fd);
  if (status == HALOTUNE_OK) status = folder_check_open(path, &fd);
  if (fd >= 0) close(fd);
  return status;
}

int own_file_open(const char *path) {
  struct stat facts;
  const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) {
    fail(errno == ENOENT ? HALOTUNE_NOT_FOUND : HALOTUNE_IO, "%s: %s", path, strerror(errno));
    return -1;
  }
  if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) fail(HALOTUNE_IO, "%s: this is not a regular file", path);
  else if (own_check(&facts, path, &file_in_cache) == HALOTUNE_OK) return fd;
  close(fd);
  return -1;
}

halotune_status own_file_read(const char *path, size_t max_bytes, char **bytes, size_t *length) {
  const int fd = own_file_open(path);
  *bytes = NULL;
  *length = 0;
  return fd < 0 ? HALOTUNE_IO : file_read_open(fd, path, max_bytes, bytes, length);
}
