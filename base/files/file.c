/* file.c: reads whole files. */
#include "base/files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/locked_files.h"
#include "base/files/same_file.h"
#include "base/system/pipe.h"
#include "base/text/text.h"

/* Append to `content` until the end of the file, or until it has more than `max_bytes`. A pipe has a limit of time, and
 * the same again for each MiB: else one byte now and then would hold a command for ever. */
static halotune_status read_up_to(int fd, bool is_regular, const char *path, size_t max_bytes, struct text *content) {
  const double limit_ms = pipe_limit_ms(), bytes_of_a_limit = 1 << 20;
  double left_ms = limit_ms;
  char chunk[16384];
  while (content->length <= max_bytes) {
    if (!is_regular && !pipe_wait(fd, POLLIN, &left_ms))
      return pipe_fail(path, content->length == 0 ? "nothing came through this pipe"
                                                  : "less than 1 MiB came through this pipe");
    const ssize_t got = read(fd, chunk, sizeof chunk);
    if (got == 0) return HALOTUNE_OK;
    /* The kernel's log is a regular file that has nothing to read now and then. */
    const bool is_later = got < 0 && (errno == EINTR || (errno == EAGAIN && !is_regular));
    if (got < 0 && !is_later) return fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
    if (got > 0) text_add(content, chunk, (size_t)got);
    if (got > 0) left_ms += limit_ms * (double)got / bytes_of_a_limit;
    if (!text_ok(content)) return fail_memory(); /* a file without an end would be read for ever */
  }
  return fail(HALOTUNE_IO, "%s: the file is larger than the limit of %zu bytes", path, max_bytes);
}

halotune_status file_read_open(int fd, const char *path, size_t max_bytes, char **bytes, size_t *length) {
  struct text content = {0};
  struct stat facts;
  halotune_status status;
  const bool is_known = fstat(fd, &facts) == 0;
  if (is_known && S_ISDIR(facts.st_mode)) {
    status = fail(HALOTUNE_IO, "%s: is a directory, not a file", path);
    goto done;
  }
  status = read_up_to(fd, is_known && S_ISREG(facts.st_mode), path, max_bytes, &content);
  if (status != HALOTUNE_OK) goto done;
  text_add(&content, "", 0); /* makes `bytes` a string even for an empty file */
  if (!text_ok(&content)) {
    status = fail_memory();
    goto done;
  }
  *bytes = content.bytes;
  *length = content.length;
  content = (struct text){0};
done:
  text_free(&content);
  locked_files_close(fd);
  return status;
}

halotune_status file_read(const char *path, size_t max_bytes, char **bytes, size_t *length) {
  *bytes = NULL;
  *length = 0;
  const int fd = pipe_open(path, O_RDONLY);
  if (fd < 0) return fail(errno == ENOENT ? HALOTUNE_NOT_FOUND : HALOTUNE_IO, "%s: %s", path, strerror(errno));
  return file_read_open(fd, path, max_bytes, bytes, length);
}

halotune_status file_read_found(const char *path, size_t max_bytes, char **bytes, size_t *length) {
  struct stat facts;
  *bytes = NULL;
  *length = 0;
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return fail(errno == ENOENT ? HALOTUNE_NOT_FOUND : HALOTUNE_IO, "%s: %s", path, strerror(errno));
  if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode)) return file_read_open(fd, path, max_bytes, bytes, length);
  close(fd);
  return fail(HALOTUNE_IO, "%s: this is not a regular file", path);
}

bool file_is_regular(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

bool file_is_same(const char *a, const char *b) {
  struct stat facts_a, facts_b;
  return stat(a, &facts_a) == 0 && stat(b, &facts_b) == 0 && same_file(&facts_a, &facts_b);
}
