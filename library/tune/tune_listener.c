/* tune_listener.c: calls the callback of halotune_tune. */
#include "library/tune/tune_listener.h"

#include "base/system/clock.h"

bool tune_listener_cancels(struct tune_listener *listener, const char *line) {
  const double ms_per_s = 1e3;
  const double now_ms = clock_ms();
  if (!listener || !listener->progress || now_ms < listener->due_ms) return false;
  listener->due_ms = now_ms + TUNE_TICK_MS;
  return listener->progress(listener->user, (now_ms - listener->start_ms) / ms_per_s, line) != 0;
}
