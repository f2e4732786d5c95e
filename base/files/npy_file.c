/* npy_file.c: opens a file in NumPy's format, and reads parts of it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/locked_files.h"
#include "base/files/npy.h"

/* Read up to `bytes`. Returns how many there were, or -1 with errno. */
static ssize_t read_at(int fd, void *out, size_t bytes, off_t from) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = pread(fd, (char *)out + done, bytes - done, from + (off_t)done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += (size_t)got;
  }
  return (ssize_t)done;
}

/* Put the file's name in front of the detail. */
static halotune_status fail_named(const char *path, halotune_status status) {
  char *detail = strdup(fail_text());
  status = detail ? fail(status, "%s: %s", path, detail) : fail_memory();
  free(detail);
  return status;
}

static halotune_status read_header(struct npy_file *file) {
  char prefix[NPY_PREFIX_BYTES], *bytes = NULL;
  size_t header_bytes = 0;
  ssize_t got = read_at(file->fd, prefix, sizeof prefix, 0);
  if (got < 0) return fail(HALOTUNE_IO, "%s: %s", file->path, strerror(errno));
  halotune_status status = npy_header_bytes(prefix, (size_t)got, &header_bytes);
  if (status != HALOTUNE_OK) return fail_named(file->path, status);
  if (!(bytes = malloc(header_bytes))) return fail_memory();
  if ((got = read_at(file->fd, bytes, header_bytes, 0)) < 0) {
    status = fail(HALOTUNE_IO, "%s: %s", file->path, strerror(errno));
  } else if ((status = npy_parse(bytes, (size_t)got, &file->header)) != HALOTUNE_OK) {
    status = fail_named(file->path, status);
  }
  free(bytes);
  return status;
}

halotune_status npy_open(const char *path, struct npy_file *out) {
  struct stat facts;
  *out = (struct npy_file){.path = path, .fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
  if (out->fd < 0 || fstat(out->fd, &facts) != 0)
    return fail(errno == ENOENT ? HALOTUNE_NOT_FOUND : HALOTUNE_IO, "%s: %s", path, strerror(errno));
  if (S_ISDIR(facts.st_mode)) return fail(HALOTUNE_IO, "%s: is a directory, not a file", path);
  if (!S_ISREG(facts.st_mode)) return fail(HALOTUNE_IO, "%s: is not a regular file; save the array in one", path);
  out->bytes = facts.st_size;
  return read_header(out);
}

halotune_status npy_read(const struct npy_file *file, long long first, size_t bytes, void *out) {
  const ssize_t got = read_at(file->fd, out, bytes, (off_t)((long long)file->header.header_bytes + first));
  if (got < 0) return fail(HALOTUNE_IO, "%s: %s", file->path, strerror(errno));
  if ((size_t)got < bytes) return fail(HALOTUNE_IO, "%s: became shorter while it was read", file->path);
  return HALOTUNE_OK;
}

void npy_close(struct npy_file *file) {
  if (file->fd >= 0) locked_files_close(file->fd);
  *file = (struct npy_file){.fd = -1};
}
