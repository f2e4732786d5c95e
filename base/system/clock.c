/* clock.c: reads the clocks of the system. */
#include "base/system/clock.h"

#include <time.h>

static double read_ms(clockid_t clock) {
  struct timespec now = {0};
  clock_gettime(clock, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

double clock_ms(void) { return read_ms(CLOCK_MONOTONIC); }

double clock_thread_ms(void) { return read_ms(CLOCK_THREAD_CPUTIME_ID); }
