/* output_file.c: writes the file that --output names: a regular file in one step, devices and pipes by opening them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/pipe.h"
#include "base/system/transfer.h"
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

/* Whether a link in a folder that all may write to, such as /tmp, belongs to a user other than root and this one. Such
 * a link could lead the program to files of this user. The kernel (fs.protected_symlinks) refuses fewer links: it
 * follows links in folders without the sticky bit, and links of the folder's owner. */
static bool is_foreign_link(const char *path, const struct stat *link) {
  struct stat folder;
  char *copy = strdup(path), *slash = copy ? strrchr(copy, '/') : NULL;
  if (slash) slash[slash == copy] = '\0';
  const bool known = copy && stat(slash ? copy : ".", &folder) == 0;
  free(copy);
  if (!known) return true;
  return (folder.st_mode & S_IWOTH) && link->st_uid != geteuid() && link->st_uid != 0;
}

/* Whether a link is one of /proc/self/fd, such as that behind /dev/stdout. Its text need not be a path. */
static bool is_descriptor(const struct stat *link) {
  struct stat proc;
  return stat("/proc/self", &proc) == 0 && proc.st_dev == link->st_dev;
}

/* Where a link points, from malloc; NULL with fail_text() if it must not be followed or cannot be read. */
static char *follow_link(const char *path, const struct stat *link) {
  const bool is_foreign = is_foreign_link(path, link);
  char *target = is_foreign ? NULL : link_target(path);
  if (is_foreign)
    fail(HALOTUNE_IO, "%s: this link in a folder of all users belongs to user %u; it is not followed", path,
         (unsigned)link->st_uid);
  else if (!target) fail(HALOTUNE_IO, "%s: the link cannot be read", path);
  return target;
}

/* Find the first link in a path, among its folders or at its end. Those of /proc/self/fd are not looked for.
 *   prefix  receives the path of the link, from malloc; NULL if there is none, or memory is out
 * Returns false if memory is out. */
static bool find_link(const char *path, char **prefix, struct stat *link) {
  *prefix = strdup(path);
  if (!*prefix) return false;
  for (const char *end = path; *end;) {
    end += strspn(end, "/");
    end += strcspn(end, "/");
    memcpy(*prefix, path, (size_t)(end - path));
    (*prefix)[end - path] = '\0';
    if (lstat(*prefix, link) != 0) break;
    if (S_ISLNK(link->st_mode) && !is_descriptor(link)) return true;
  }
  free(*prefix);
  *prefix = NULL;
  return true;
}

/* Open an existing file, and write at its end. */
static halotune_status write_into(const char *path, file_writer *write, void *context) {
  const int fd = pipe_open(path, O_WRONLY | O_APPEND);
  if (fd < 0) return pipe_fail(path, "nobody has read this pipe");
  const halotune_status status = write(context, fd);
  if (close(fd) != 0 && status == HALOTUNE_OK) return fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  return status;
}

/* Write to the file at the end of a path's links. */
static halotune_status write_target(const char *path, enum output_readers readers, file_writer *write, void *context) {
  struct stat facts;
  const bool exists = lstat(path, &facts) == 0;
  if (exists && S_ISDIR(facts.st_mode)) return fail(HALOTUNE_IO, "%s: is a directory, not a file", path);
  if (exists && !S_ISREG(facts.st_mode)) return write_into(path, write, context);
  return file_replace_in_pieces(path, readers == OUTPUT_FOR_ALL, write, context);
}

halotune_status output_target(const char *path, char **out) {
  enum { MOST_LINKS = 40 }; /* the same number as in the kernel */
  struct stat link;
  char *target = strdup(path), *prefix = NULL;
  halotune_status status = target ? HALOTUNE_OK : fail_memory();
  for (int links = 0; status == HALOTUNE_OK; links++) {
    if (!find_link(target, &prefix, &link)) status = fail_memory();
    if (!prefix) break;
    char *followed = follow_link(prefix, &link), *next = NULL;
    if (!followed) status = HALOTUNE_IO;
    else if (links == MOST_LINKS) status = fail(HALOTUNE_IO, "%s: %s", path, strerror(ELOOP));
    else if (asprintf(&next, "%s%s", followed, target + strlen(prefix)) < 0) status = fail_memory(), next = NULL;
    free(followed);
    free(prefix);
    free(target);
    target = next;
  }
  if (status != HALOTUNE_OK) {
    free(target);
    target = NULL;
  }
  *out = target;
  return status;
}

halotune_status output_pieces(const char *path, enum output_readers readers, file_writer *write, void *context) {
  char *target;
  halotune_status status = output_target(path, &target);
  if (status == HALOTUNE_OK) status = write_target(target, readers, write, context);
  free(target);
  return status;
}

halotune_status output_stream(const char *path, FILE **out) {
  const int always = O_WRONLY | O_CREAT | O_NOCTTY | O_CLOEXEC | O_NONBLOCK; /* opening a pipe must not wait */
  struct stat facts;
  char *target;
  *out = NULL;
  halotune_status status = output_target(path, &target);
  if (status != HALOTUNE_OK) return status;
  const bool is_link = lstat(target, &facts) == 0 && S_ISLNK(facts.st_mode); /* a link of /proc/self/fd */
  const int fd = open(target, always | (is_link ? O_APPEND : O_TRUNC | O_NOFOLLOW), 0666);
  const int code = errno;
  free(target);
  if (fd < 0) return fail(HALOTUNE_IO, "%s: %s", path, code == ENXIO ? "no program reads this pipe" : strerror(code));
  if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) == 0) *out = fdopen(fd, "w");
  if (*out) return HALOTUNE_OK;
  status = fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  close(fd);
  return status;
}

/* A text to write. */
struct content {
  const char *path, *text;
  size_t length;
};

/* Whether a path is /dev/stdout, or another link to a descriptor that the program was started with. */
static bool is_inherited(const char *path) {
  struct stat facts;
  char *target;
  const bool is_link = output_target(path, &target) == HALOTUNE_OK && lstat(target, &facts) == 0 &&
                       S_ISLNK(facts.st_mode) && is_descriptor(&facts);
  free(target);
  return is_link;
}

halotune_status output_bytes(const char *path, int fd, const char *bytes, size_t length) {
  const double limit_ms = is_inherited(path) ? INFINITY : pipe_limit_ms();
  return write_all_within(fd, bytes, length, limit_ms) ? HALOTUNE_OK : pipe_fail(path, "nobody has read this pipe");
}

static halotune_status write_content(void *context, int fd) {
  const struct content *content = context;
  return output_bytes(content->path, fd, content->text, content->length);
}

halotune_status output_file(const char *path, enum output_readers readers, const char *text, size_t length) {
  struct content content = {path, text, length};
  return output_pieces(path, readers, write_content, &content);
}
