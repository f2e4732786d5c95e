/* progress.c: a line that overwrites itself. */
#include "tuner/cli/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static const double least_time_ms = 1000.0 / 6;

void progress_open(struct progress *progress) {
  const char *terminal = getenv("TERM"), *no_color = getenv("NO_COLOR");
  *progress = (struct progress){.is_on = isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0,
                                .plain = no_color && *no_color};
}

void progress_show(struct progress *progress, const char *format, ...) {
  char line[128];
  va_list arguments;
  double now_ms = clock_ms();
  if (!progress->is_on || now_ms < progress->next_ms) return;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  progress_hide(progress);
  progress->width = fprintf(stderr, "%s", line);
  fflush(stderr);
  progress->is_shown = true;
  progress->next_ms = now_ms + least_time_ms;
}

void progress_hide(struct progress *progress) {
  if (!progress->is_shown) return;
  if (progress->plain) fprintf(stderr, "\r%*s\r", progress->width, "");
  else fprintf(stderr, "\r\033[K");
  fflush(stderr);
  progress->is_shown = false;
}
