/* clock.c: reads the monotonic clock. */
#include "base/system/clock.h"

#include <time.h>

double clock_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}
