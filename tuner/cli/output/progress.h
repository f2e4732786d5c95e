/* progress.h: one line on a terminal that says how far a long command is. Anywhere else nothing is written. */
#ifndef CLI_OUTPUT_PROGRESS_H
#define CLI_OUTPUT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

struct progress {
  bool is_on, is_shown;
  bool plain;     /* no escape sequences: $NO_COLOR is set */
  int width;      /* columns of what is shown */
  double next_ms; /* when the line may change again */
};

/* What the line says, from left to right. */
enum { PROGRESS_PARTS = 12, PROGRESS_PART_BYTES = 128, PROGRESS_LINE_BYTES = PROGRESS_PARTS * PROGRESS_PART_BYTES };
struct progress_parts {
  struct {
    int rank;           /* where the terminal is too narrow, parts of the highest rank are left out first */
    const char *before; /* between it and the part before it */
    char text[PROGRESS_PART_BYTES];
  } list[PROGRESS_PARTS];
  int count;
};

/* Add a part; one too many is left out.
 *   before  a string that lives as long as the parts: ", " */
void progress_add(struct progress_parts *parts, int rank, const char *before, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Make the line for a terminal of so many columns. Where not even one part fits, as many of its words as do.
 *   line  receives it, with room for PROGRESS_LINE_BYTES
 * Returns its length. */
int progress_compose(const struct progress_parts *parts, int columns, char *line);

/* On where stderr is a terminal that can go back to the start of a line. */
void progress_open(struct progress *progress);

/* Write the line anew, at most six times a second, as wide as the terminal is now. */
void progress_show(struct progress *progress, const struct progress_parts *parts);

/* Take the line away, before other output and at the end. */
void progress_hide(struct progress *progress);

#endif
