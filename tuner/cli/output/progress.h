/* progress.h: one line on a terminal that shows the progress of a long command. If stderr is not a terminal, nothing is
 * written. */
#ifndef CLI_OUTPUT_PROGRESS_H
#define CLI_OUTPUT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

struct progress {
  bool is_on, is_shown;
  bool plain;     /* no escape sequences: $NO_COLOR is set */
  int width;      /* columns of the line that is shown */
  double next_ms; /* when the line may change again */
};

/* The parts of the line, from left to right. */
enum { PROGRESS_PARTS = 12, PROGRESS_PART_BYTES = 128, PROGRESS_LINE_BYTES = PROGRESS_PARTS * PROGRESS_PART_BYTES };
struct progress_parts {
  struct {
    int rank;           /* if the terminal is too narrow, parts of the highest rank are left out first */
    const char *before; /* text between this part and the one before it */
    char text[PROGRESS_PART_BYTES];
  } list[PROGRESS_PARTS];
  int count;
};

/* Add a part. Parts beyond PROGRESS_PARTS are left out.
 *   before  stands between this part and the one before it; lives as long as the parts */
void progress_add(struct progress_parts *parts, int rank, const char *before, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Write the line for a terminal with this number of columns. If not even one part fits, write as many of its words as
 * fit.
 *   line  has room for PROGRESS_LINE_BYTES
 * Returns the line's length. */
int progress_compose(const struct progress_parts *parts, int columns, char *line);

/* Start a line. It is shown only if stderr is a terminal that can go back to the start of a line. */
void progress_open(struct progress *progress);

/* Write the line again, at most six times a second. */
void progress_show(struct progress *progress, const struct progress_parts *parts);

/* Let the next progress_show write at once, because the step that begins now may take long. */
void progress_hurry(struct progress *progress);

/* Remove the line. Call this before other output and at the end. */
void progress_hide(struct progress *progress);

#endif
