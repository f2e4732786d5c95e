/* wait_in_parts.c: a loop around poll. */
#include "base/system/wait_in_parts.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>

#include "base/system/clock.h"

bool wait_in_parts(int fd, short events, double *left_ms, double part_ms, bool (*is_stopped)(void)) {
  struct pollfd waiting = {.fd = fd, .events = events};
  double next_ms = 0;
  for (;;) {
    const double start_ms = clock_ms();
    const int ready = poll(&waiting, 1, (int)next_ms);
    *left_ms -= fmin(next_ms, clock_ms() - start_ms);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
    if (*left_ms <= 0 || (is_stopped && is_stopped())) return false;
    next_ms = fmin(fmin(part_ms, INT_MAX), ceil(*left_ms));
  }
}
