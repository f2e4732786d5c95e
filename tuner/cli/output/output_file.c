/* output_file.c: writes the file that --output names: a regular file in one step, devices and pipes by opening them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/replace.h"
#include "base/transfer.h"
#include "tuner/cli/output/output.h"

/* Read one link. Returns the path to which it points, from malloc; NULL if it is no link or memory is out. */
static char *link_target(const char *path) {
  char text[PATH_MAX], *target = NULL;
  const ssize_t length = readlink(path, text, sizeof text);
  if (length <= 0 || length >= (ssize_t)sizeof text) return NULL;
  text[length] = '\0';
  const char *slash = *text == '/' ? NULL : strrchr(path, '/'); /* a relative target starts at the link's folder */
  const int folder = slash ? (int)(slash - path) + 1 : 0;
  return asprintf(&target, "%.*s%s", folder, path, text) < 0 ? NULL : target;
}

/* Whether a link is one of /proc/self/fd, such as that behind /dev/stdout. Its text need not be a path. */
static bool is_descriptor(const struct stat *link) {
  struct stat proc;
  return stat("/proc/self", &proc) == 0 && proc.st_dev == link->st_dev;
}

/* Open something that is there, and write at its end. */
static halotune_status write_into(const char *path, const char *text, size_t length) {
  const int fd = open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  const bool wrote = write_all(fd, text, length);
  const int reason = errno;
  if (close(fd) != 0 && wrote) return fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  return wrote ? HALOTUNE_OK : fail(HALOTUNE_IO, "%s: %s", path, strerror(reason));
}

/* Write to what a path names once its links are followed. */
static halotune_status write_target(const char *path, enum output_readers readers, const char *text, size_t length) {
  struct stat facts;
  const bool exists = lstat(path, &facts) == 0;
  if (exists && S_ISDIR(facts.st_mode)) return fail(HALOTUNE_IO, "%s: is a directory, not a file", path);
  if (exists && !S_ISREG(facts.st_mode)) return write_into(path, text, length);
  return readers == OUTPUT_FOR_ALL ? file_replace_for_all(path, text, length) : file_replace(path, text, length);
}

halotune_status output_file(const char *path, enum output_readers readers, const char *text, size_t length) {
  enum { MOST_LINKS = 40 }; /* as in the kernel */
  struct stat facts;
  char *target = strdup(path);
  halotune_status status = target ? HALOTUNE_OK : fail_memory();
  for (int links = 0; status == HALOTUNE_OK; links++) {
    if (lstat(target, &facts) != 0 || !S_ISLNK(facts.st_mode) || is_descriptor(&facts)) break;
    char *next = link_target(target);
    if (!next) status = fail(HALOTUNE_IO, "%s: the link cannot be read", target);
    else if (links == MOST_LINKS) status = fail(HALOTUNE_IO, "%s: %s", path, strerror(ELOOP));
    free(target);
    target = next;
  }
  if (status == HALOTUNE_OK) status = write_target(target, readers, text, length);
  free(target);
  return status;
}
