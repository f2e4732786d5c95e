/* tune_listener.h: the callback that follows a tune. */
#ifndef LIBRARY_TUNE_TUNE_LISTENER_H
#define LIBRARY_TUNE_TUNE_LISTENER_H

#include <stdbool.h>

#include "base/fail.h"

/* The least time between two calls of the callback. */
enum { TUNE_TICK_MS = 100 };

struct tune_listener {
  halotune_tune_progress *progress; /* NULL: nobody listens */
  void *user;
  double start_ms; /* of clock_ms(): `progress` is told the time since */
  double due_ms;   /* of clock_ms(): no call before this time; 0 at first */
};

/* Tell the callback how the tune goes, if it is due. Returns whether it cancels; false without a listener. */
bool tune_listener_cancels(struct tune_listener *listener, const char *line);

#endif
