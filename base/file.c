/* file.c: reads whole files. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

/* Append to `content` until the end of the file, or until it has more than `max_bytes`. */
static bool read_up_to(FILE *file, size_t max_bytes, struct text *content) {
  char chunk[16384];
  size_t got;
  while (content->length <= max_bytes && (got = fread(chunk, 1, sizeof chunk, file)) > 0) text_add(content, chunk, got);
  return !ferror(file);
}

halotune_status file_read_open(int fd, const char *path, size_t max_bytes, char **bytes, size_t *length) {
  struct text content = {0};
  halotune_status status = HALOTUNE_OK;
  struct stat facts;
  FILE *file = fdopen(fd, "rb");
  if (!file) {
    close(fd);
    return fail_memory();
  }
  if (fstat(fd, &facts) == 0 && S_ISDIR(facts.st_mode)) {
    status = fail(HALOTUNE_IO, "%s: is a directory, not a file", path);
    goto done;
  }
  if (!read_up_to(file, max_bytes, &content)) {
    status = fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
    goto done;
  }
  if (content.length > max_bytes) {
    status = fail(HALOTUNE_IO, "%s: the file is larger than the limit of %zu bytes", path, max_bytes);
    goto done;
  }
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
  fclose(file);
  return status;
}

halotune_status file_read(const char *path, size_t max_bytes, char **bytes, size_t *length) {
  *bytes = NULL;
  *length = 0;
  const int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
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
  return stat(a, &facts_a) == 0 && stat(b, &facts_b) == 0 && facts_a.st_dev == facts_b.st_dev &&
         facts_a.st_ino == facts_b.st_ino;
}
