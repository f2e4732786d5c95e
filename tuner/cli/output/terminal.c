/* terminal.c: replaces stdout and stderr by streams that fold lines, and writes colours. */
#include "tuner/cli/output/terminal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/text.h"
#include "tuner/cli/output/fold.h"

/* A stream that is a terminal. */
struct screen {
  int descriptor;
  FILE *stream;        /* the one that folds; NULL if the descriptor is no terminal */
  bool keeps_lines;    /* nothing is folded any more */
  bool is_within_line; /* the last write ended within a line, as a line of progress does */
};
static struct screen screens[] = {{.descriptor = STDOUT_FILENO}, {.descriptor = STDERR_FILENO}};

static enum terminal_color color_choice;
static bool shows_all;
const char *const terminal_color_names[] = {"auto", "always", "never"};

static int columns_of(int descriptor) {
  enum { USUAL = 80 };
  struct winsize size;
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char *named = getenv("COLUMNS");
  long columns = named ? strtol(named, NULL, 10) : 0;
  return columns > 0 && columns < USHRT_MAX ? (int)columns : USUAL;
}

int terminal_columns(void) { return columns_of(STDERR_FILENO); }

int terminal_width(void) { return isatty(STDOUT_FILENO) ? columns_of(STDOUT_FILENO) : INT_MAX; }

void terminal_last_column(int left, const char *text) {
  const bool fits = (size_t)left + 2 + strlen(text) <= (size_t)terminal_width();
  printf(fits ? "  %s\n" : "\n    %s\n", text);
}

/* Whether the rest of a line leaves the cursor in the first column: progress goes back there and clears the line. */
static bool ends_at_start(const char *rest, size_t length) {
  const char *back = memrchr(rest, '\r', length);
  if (!back) return false;
  const size_t after = length - (size_t)(back + 1 - rest);
  return after == 0 || (back[1] == '\033' && after <= strlen("\033[J"));
}

static bool write_all(int descriptor, const char *bytes, size_t length) {
  while (length > 0) {
    const ssize_t written = write(descriptor, bytes, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written, length -= (size_t)written;
  }
  return true;
}

/* The stream's write: whole lines are folded; the rest is written as it is, because it may stay what it is for long. */
static ssize_t screen_write(void *cookie, const char *bytes, size_t size) {
  struct screen *screen = cookie;
  struct text text = {0};
  const int columns = columns_of(screen->descriptor);
  size_t at = 0;
  while (at < size) {
    const char *end = memchr(bytes + at, '\n', size - at);
    const size_t length = end ? (size_t)(end - bytes) - at : size - at;
    if (end && !screen->keeps_lines && !screen->is_within_line) fold_line(bytes + at, length, columns, &text);
    else text_add(&text, bytes + at, length);
    if (end) text_add(&text, "\n", 1);
    screen->is_within_line = !end && !ends_at_start(bytes + at, length);
    at += length + (end != NULL);
  }
  const bool ok = text_ok(&text) ? write_all(screen->descriptor, text_string(&text), text.length)
                                 : write_all(screen->descriptor, bytes, size);
  text_free(&text);
  return ok ? (ssize_t)size : 0;
}

static FILE *screen_open(struct screen *screen) {
  if (!isatty(screen->descriptor)) return NULL;
  screen->stream = fopencookie(screen, "w", (cookie_io_functions_t){.write = screen_write});
  if (screen->stream) setvbuf(screen->stream, NULL, _IOLBF, BUFSIZ);
  return screen->stream;
}

void terminal_open(void) {
  FILE *out = screen_open(&screens[0]), *err = screen_open(&screens[1]);
  if (out) stdout = out;
  if (err) stderr = err;
}

void terminal_close(void) {
  for (size_t i = 0; i < sizeof screens / sizeof *screens; i++) {
    if (screens[i].stream) fflush(screens[i].stream);
  }
}

void terminal_keep_lines(void) {
  fflush(stdout);
  screens[0].keeps_lines = true;
}

void terminal_color(enum terminal_color when) { color_choice = when; }

static bool has_colors(const struct screen *screen) {
  const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
  if (color_choice != COLOR_AUTO) return color_choice == COLOR_ALWAYS;
  return isatty(screen->descriptor) && !(no_color && *no_color) && terminal && strcmp(terminal, "dumb") != 0;
}

const char *ink(FILE *stream, enum ink ink) {
  static const char *const sequences[] = {
      [INK_NONE] = "\033[0m", [INK_WINNER] = "\033[32m", [INK_FAILURE] = "\033[31m", [INK_WARNING] = "\033[33m"};
  return has_colors(&screens[stream == stderr]) ? sequences[ink] : "";
}

bool terminal_is_brief(void) { return !shows_all && isatty(STDOUT_FILENO); }

void terminal_show_all(void) { shows_all = true; }
