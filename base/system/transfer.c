/* transfer.c: loops around read, write and poll. */
#include "base/system/transfer.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/pipe.h"
#include "base/system/wait_in_parts.h"

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

bool write_all_within(int fd, const char *bytes, size_t length, double limit_ms) {
  while (length > 0) {
    double left_ms = limit_ms;
    ssize_t wrote = write(fd, bytes, length);
    if (wrote < 0 && (errno == EINTR || (errno == EAGAIN && pipe_wait(fd, POLLOUT, &left_ms)))) continue;
    if (wrote < 0) return false;
    bytes += wrote;
    length -= (size_t)wrote;
  }
  return true;
}

bool write_all(int fd, const char *bytes, size_t length) {
  return write_all_within(fd, bytes, length, pipe_limit_ms());
}

/* The wait has so many parts. If the process is stopped during a part, that part still counts once. */
enum { PARTS = 12 };

bool ready_until(int fd, short events, double until_ms) {
  double left_ms = fmax(0, until_ms - clock_ms());
  return wait_in_parts(fd, events, &left_ms, ceil(left_ms / PARTS), NULL);
}

enum transfer_end read_until(int fd, char *bytes, size_t length, double until_ms) {
  while (length > 0) {
    if (!ready_until(fd, POLLIN, until_ms)) return TRANSFER_LATE;
    ssize_t got = read(fd, bytes, length);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return TRANSFER_BROKEN;
    bytes += got;
    length -= (size_t)got;
  }
  return TRANSFER_DONE;
}

enum transfer_end socket_write_until(int socket, const char *bytes, size_t length, double until_ms) {
  while (length > 0) {
    if (!ready_until(socket, POLLOUT, until_ms)) return TRANSFER_LATE;
    ssize_t wrote = send(socket, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (wrote < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (wrote < 0) return TRANSFER_BROKEN;
    bytes += wrote;
    length -= (size_t)wrote;
  }
  return TRANSFER_DONE;
}
