/* own.c: checks owners and modes. A file is checked by its descriptor, so that nobody can exchange it in between. */
#include "base/files/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/path.h"
#include "base/files/replace.h"
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
  text_shell_word(&word, path);
  const halotune_status status =
      fail(HALOTUNE_IO, "%s: others can %s this %s, so it is not used; run: chmod %s %s%s%s", path, kind->others_can,
           kind->what, kind->chmod, text_string(&word), kind->more ? ", and " : "", kind->more ? kind->more : "");
  text_free(&word);
  return status;
}

halotune_status own_link_check(const char *path) {
  struct stat facts;
  if (lstat(path, &facts) != 0 || !S_ISLNK(facts.st_mode)) return HALOTUNE_OK;
  if (facts.st_uid == geteuid() || facts.st_uid == 0) return HALOTUNE_OK;
  return fail(HALOTUNE_IO, "%s: this link belongs to user %u, and is not followed; remove it, or use another folder",
              path, (unsigned)facts.st_uid);
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

static bool all_may_write_beside(const char *path) {
  struct stat facts;
  return own_folder_of(path, &facts) && (facts.st_mode & S_IWOTH);
}

/* Refuse a part of a path, in a folder of all users, that another user can exchange between a check and the use of what
 * lies below it: whoever owns a folder can rename what lies in it, and so can all users where the folder around it is
 * not sticky. */
static halotune_status exchange_check(const char *part) {
  struct stat facts, around;
  if (!own_folder_of(part, &around) || !(around.st_mode & S_IWOTH)) return HALOTUNE_OK;
  if (!(around.st_mode & S_ISVTX))
    return fail(HALOTUNE_IO,
                "%s: all users can exchange this folder, because they can write to the one around it; use "
                "another folder, or run: chmod +t on the one around it",
                part);
  if (lstat(part, &facts) != 0 || S_ISLNK(facts.st_mode)) return HALOTUNE_OK;
  if (facts.st_uid == geteuid() || facts.st_uid == 0) return HALOTUNE_OK;
  return fail(HALOTUNE_IO, "%s: this folder belongs to user %u, who can exchange what lies in it; use another folder",
              part, (unsigned)facts.st_uid);
}

/* Check a path for links of other users: the path itself, the folder above it, and each part of it in a folder of all
 * users, of which no other user may be able to exchange one. A link elsewhere was made by somebody who looks after the
 * machine. */
static halotune_status links_check(const char *path) {
  char *part = strdup(path);
  halotune_status status = part ? HALOTUNE_OK : fail_memory();
  for (int above = 0; status == HALOTUNE_OK; above++) {
    part[bare_length(part)] = '\0'; /* lstat follows a link whose path ends with a slash */
    if (above <= 1 || all_may_write_beside(part)) status = own_link_check(part);
    if (status == HALOTUNE_OK) status = exchange_check(part);
    char *slash = strrchr(part, '/');
    if (!slash || slash == part) break;
    *slash = '\0';
  }
  free(part);
  return status;
}

halotune_status own_folder_check(const char *path) {
  struct stat facts;
  const halotune_status status = links_check(path);
  if (status != HALOTUNE_OK || stat(path, &facts) != 0 || !S_ISDIR(facts.st_mode)) return status;
  return own_check(&facts, path, &cache);
}

halotune_status own_folder_make(const char *path) {
  halotune_status status = links_check(path); /* nothing is made below a link of another user */
  if (status == HALOTUNE_OK) status = folder_make(path);
  return status == HALOTUNE_OK ? own_folder_check(path) : status;
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
