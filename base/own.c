/* own.c: checks owners and modes. A file is checked by its descriptor, so that nobody can exchange it in between. */
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

enum { WRITE_RIGHTS = S_IWGRP | S_IWOTH };

enum own_flaw own_flaw_of(const struct stat *facts, mode_t rights) {
  if (facts->st_uid != geteuid()) return OWN_FOREIGN;
  return (facts->st_mode & rights) != 0 ? OWN_SHARED : OWN_NO_FLAW;
}

halotune_status own_folder_check(const char *path) {
  struct stat facts;
  struct text word = {0};
  if (stat(path, &facts) != 0 || !S_ISDIR(facts.st_mode)) return HALOTUNE_OK;
  const enum own_flaw flaw = own_flaw_of(&facts, WRITE_RIGHTS);
  if (flaw == OWN_FOREIGN) {
    return fail(HALOTUNE_IO,
                "%s: this cache belongs to user %u, and user %u does not use it; set XDG_CACHE_HOME to a folder of "
                "your own",
                path, (unsigned)facts.st_uid, (unsigned)geteuid());
  }
  if (flaw == OWN_NO_FLAW) return HALOTUNE_OK;
  text_shell_word(&word, path);
  const halotune_status status =
      fail(HALOTUNE_IO, "%s: others can write to this cache, so it is not used; run: chmod -R go-w %s", path,
           text_string(&word));
  text_free(&word);
  return status;
}

int own_file_open(const char *path) {
  struct stat facts;
  const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) {
    fail(errno == ENOENT ? HALOTUNE_NOT_FOUND : HALOTUNE_IO, "%s: %s", path, strerror(errno));
    return -1;
  }
  if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && own_flaw_of(&facts, WRITE_RIGHTS) == OWN_NO_FLAW) return fd;
  fail(HALOTUNE_IO, "%s: this is not a regular file that you alone can write", path);
  close(fd);
  return -1;
}

halotune_status own_file_read(const char *path, size_t max_bytes, char **bytes, size_t *length) {
  const int fd = own_file_open(path);
  *bytes = NULL;
  *length = 0;
  return fd < 0 ? HALOTUNE_IO : file_read_open(fd, path, max_bytes, bytes, length);
}
