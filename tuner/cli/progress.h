/* progress.h: one line on a terminal that says how far a long command is. Anywhere else nothing is written. */
#ifndef TUNER_CLI_PROGRESS_H
#define TUNER_CLI_PROGRESS_H

#include <stdbool.h>

struct progress {
  bool is_on, is_shown;
  bool plain;     /* no escape sequences: $NO_COLOR is set */
  int width;      /* columns of what is shown */
  double next_ms; /* when the line may change again */
};

/* On where stderr is a terminal that can go back to the start of a line. */
void progress_open(struct progress *progress);

/* Write the line anew, at most six times a second. */
void progress_show(struct progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Take the line away, before other output and at the end. */
void progress_hide(struct progress *progress);

#endif
