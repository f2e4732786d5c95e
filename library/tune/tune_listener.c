/* tune_listener.c: calls the callback of halotune_tune. */
#include "library/tune/tune_listener.h"

#include "base/system/clock.h"

bool tune_listener_cancels(struct tune_listener *listener, const char *line) {
  const double ms_per_s = 1e3;
  if (!listener || !listener->progress) return false;
  return listener->progress(listener->user, (clock_ms() - listener->start_ms) / ms_per_s, line) != 0;
}
