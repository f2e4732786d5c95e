/* transfer.c: loops around read and write. */
#include "base/transfer.h"

#include <errno.h>
#include <unistd.h>

bool read_all(int fd, char *bytes, size_t length) {
  while (length > 0) {
    ssize_t got = read(fd, bytes, length);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    length -= (size_t)got;
  }
  return true;
}

bool write_all(int fd, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t wrote = write(fd, bytes, length);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return false;
    bytes += wrote;
    length -= (size_t)wrote;
  }
  return true;
}
