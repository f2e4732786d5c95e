/* pipe.c: waits are made of short parts, and the parts are counted. So a stop is seen soon, whichever thread got the
 * signal. A time in which the process was suspended hardly counts. */
#include "base/system/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/limit.h"
#include "base/system/wait_in_parts.h"

static const volatile sig_atomic_t *stop_flag;

void pipe_stop_by(const volatile sig_atomic_t *stop) { stop_flag = stop; }

static bool is_stopped(void) { return stop_flag && *stop_flag; }

double pipe_limit_ms(void) {
  const double usual_s = 600;
  return limit_ms_named("HALOTUNE_PIPE_TIMEOUT", usual_s);
}

int pipe_open(const char *path, int flags) { return pipe_open_at(AT_FDCWD, path, flags); }

int pipe_open_at(int folder, const char *name, int flags) {
  enum { LOOK_EVERY_MS = 20, US_PER_MS = 1000 };
  double left_ms = pipe_limit_ms();
  for (;;) {
    struct stat facts;
    const int fd = openat(folder, name, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 || errno != ENXIO || fstatat(folder, name, &facts, 0) != 0 || !S_ISFIFO(facts.st_mode)) return fd;
    errno = is_stopped() ? ECANCELED : ETIME;
    if (is_stopped() || left_ms <= 0) return -1;
    usleep(LOOK_EVERY_MS * US_PER_MS); /* no event tells that a reader has come */
    left_ms -= LOOK_EVERY_MS;
  }
}

bool pipe_wait(int fd, short events, double *left_ms) {
  const double part_ms = 100;
  if (wait_in_parts(fd, events, left_ms, part_ms, is_stopped)) return true;
  errno = is_stopped() ? ECANCELED : ETIME;
  return false;
}

halotune_status pipe_fail(const char *path, const char *silence) {
  const double ms_per_s = 1e3;
  const int code = errno;
  if (code == ECANCELED) return fail(HALOTUNE_CANCELLED, "%s: stopped while waiting for this pipe", path);
  if (code != ETIME) return fail(HALOTUNE_IO, "%s: %s", path, strerror(code));
  return fail(HALOTUNE_IO, "%s: %s for %g s; $HALOTUNE_PIPE_TIMEOUT sets the limit", path, silence,
              pipe_limit_ms() / ms_per_s);
}
