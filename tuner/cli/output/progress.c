/* progress.c: writes a line that overwrites itself. */
#include "tuner/cli/output/progress.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/text/text.h"
#include "tuner/cli/output/terminal.h"

static const double least_time_ms = 1000.0 / 6;

void progress_add(struct progress_parts *parts, int rank, const char *before, const char *format, ...) {
  va_list arguments;
  if (parts->count == PROGRESS_PARTS) return;
  parts->list[parts->count].rank = rank;
  parts->list[parts->count].before = before;
  va_start(arguments, format);
  vsnprintf(parts->list[parts->count].text, PROGRESS_PART_BYTES, format, arguments);
  va_end(arguments);
  parts->count++;
}

/* Join the parts whose rank is at most `rank`. */
static int parts_join(const struct progress_parts *parts, int rank, char *line) {
  int length = 0;
  line[0] = '\0';
  for (int i = 0; i < parts->count; i++) {
    if (parts->list[i].rank > rank) continue;
    length += snprintf(line + length, (size_t)(PROGRESS_LINE_BYTES - length), "%s%s",
                       length > 0 ? parts->list[i].before : "", parts->list[i].text);
    if (length >= PROGRESS_LINE_BYTES) return PROGRESS_LINE_BYTES - 1;
  }
  return length;
}

/* The highest rank of a part that is below this rank. */
static int rank_below(const struct progress_parts *parts, int rank) {
  int highest = INT_MIN;
  for (int i = 0; i < parts->count; i++) {
    if (parts->list[i].rank < rank && parts->list[i].rank > highest) highest = parts->list[i].rank;
  }
  return highest;
}

int progress_compose(const struct progress_parts *parts, int columns, char *line) {
  int rank = rank_below(parts, INT_MAX), length = parts_join(parts, rank, line);
  while (length > columns) {
    const int lower = rank_below(parts, rank);
    if (lower == INT_MIN) break;
    rank = lower;
    length = parts_join(parts, rank, line);
  }
  if (length <= columns) return length;
  length = columns > 0 ? columns : 0;
  while (length > 0 && line[length] != ' ') length--; /* never cut a number */
  line[length] = '\0';
  return length;
}

void progress_open(struct progress *progress) {
  const char *terminal = getenv("TERM"), *no_color = getenv("NO_COLOR");
  *progress = (struct progress){.is_on = isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0,
                                .plain = no_color && *no_color};
}

void progress_show(struct progress *progress, const struct progress_parts *parts) {
  char line[PROGRESS_LINE_BYTES];
  double now_ms = clock_ms();
  if (!progress->is_on || now_ms < progress->next_ms) return;
  progress_hide(progress);
  /* The last column stays empty, because some terminals go to the next row as soon as it is written. */
  progress->width = progress_compose(parts, terminal_columns() - 1, line);
  fputs(line, stderr);
  fflush(stderr);
  progress->is_shown = true;
  progress->next_ms = now_ms + least_time_ms;
}

void progress_hurry(struct progress *progress) { progress->next_ms = 0; }

void progress_hide(struct progress *progress) {
  struct text text = {0};
  if (!progress->is_shown) return;
  const int columns = terminal_columns(), rows_above = progress->width > 0 ? (progress->width - 1) / columns : 0;
  if (progress->plain) {
    text_printf(&text, "\r%*s\r", progress->width < columns ? progress->width : columns - 1, "");
  } else {
    if (rows_above > 0) /* the terminal became narrower and broke the line into rows */
      text_printf(&text, "\033[%dA\r\033[J", rows_above);
    else text_printf(&text, "\r\033[K"); /* not \033[J, because tmux then saves cleared lines in its history */
  }
  terminal_command(text_string(&text));
  text_free(&text);
  progress->is_shown = false;
}
