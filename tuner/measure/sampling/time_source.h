/* time_source.h: where the time comes from: the machine's clock, or a test's own. */
#ifndef MEASURE_SAMPLING_TIME_SOURCE_H
#define MEASURE_SAMPLING_TIME_SOURCE_H

#include <stddef.h>

#include "base/clock.h"

struct time_source {
  double (*now_ms)(void *state); /* never goes back; NULL: clock_ms() */
  void *state;
};

static inline double time_now_ms(const struct time_source *source) {
  return source->now_ms ? source->now_ms(source->state) : clock_ms();
}

#endif
