/* terminal.c: replaces stdout and stderr by streams that write legible lines and fold them, and writes colours. */
#include "tuner/cli/output/terminal.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/system/transfer.h"
#include "base/text/text.h"
#include "tuner/cli/output/fold.h"

/* A stream, and the one in its place. */
struct screen {
  int descriptor;
  FILE *stream; /* the stream in its place; NULL before terminal_open */
  bool is_terminal;
  bool keeps_lines;              /* lines are no longer folded */
  bool is_command;               /* the current output moves the cursor, and is not folded */
  bool is_within_line;           /* the last write ended within a line, as a line of progress does */
  char held[LEGIBLE_HELD_BYTES]; /* the end of the last write, which the next one continues */
  size_t held_bytes;
  /* the beginning of a line whose rest did not fit into the stream's buffer; the next write brings the rest */
  struct text cut;
  int error; /* errno of the last write that failed; 0: none failed */
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

/* Write all bytes, and wait for the reader if necessary. */
static bool screen_send(const struct screen *screen, const struct text *text) {
  return write_all_within(screen->descriptor, text_string(text), text->length, INFINITY);
}

static bool has_colors(const struct screen *screen) {
  const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
  if (screen->keeps_lines) return false; /* a comment of an imported source may have colours */
  if (color_choice != COLOR_AUTO) return color_choice == COLOR_ALWAYS;
  return screen->is_terminal && !(no_color && *no_color) && terminal && strcmp(terminal, "dumb") != 0;
}

/* Append the legible text of this write, and of the bytes that the last write left over. */
static void legible_part(struct screen *screen, const char *bytes, size_t size, bool is_last, struct text *out) {
  struct text part = {0};
  text_add(&part, screen->held, screen->held_bytes);
  text_add(&part, bytes, size);
  const size_t used = legible_add(text_string(&part), part.length, has_colors(screen), is_last, out);
  screen->held_bytes = part.length - used;
  memcpy(screen->held, text_string(&part) + used, screen->held_bytes);
  if (!text_ok(&part)) out->out_of_memory = true;
  text_free(&part);
}

/* Append whole lines folded. The rest is added as it is, because its end may come much later.
 *   is_full  the stream's buffer was full, so that the rest of the last line comes with the next write */
static void folded_part(struct screen *screen, const char *bytes, size_t size, bool is_full, struct text *out) {
  const int columns = columns_of(screen->descriptor);
  struct text joined = screen->cut;
  screen->cut = (struct text){0};
  text_add(&joined, bytes, size);
  if (!text_ok(&joined)) out->out_of_memory = true;
  bytes = text_string(&joined), size = joined.length;
  for (size_t at = 0; at < size;) {
    const char *end = memchr(bytes + at, '\n', size - at);
    const size_t length = end ? (size_t)(end - bytes) - at : size - at;
    const bool is_folded = !screen->keeps_lines && !screen->is_within_line;
    if (end && is_folded) fold_line(bytes + at, length, columns, out);
    else if (is_full && is_folded) text_add(&screen->cut, bytes + at, length);
    else text_add(out, bytes + at, length);
    if (end) text_add(out, "\n", 1);
    else if (is_full && is_folded) break;
    screen->is_within_line = !end && !ends_at_start(bytes + at, length);
    at += length + (end != NULL);
  }
  text_free(&joined);
}

/* The stream's write. */
static ssize_t screen_write(void *cookie, const char *bytes, size_t size) {
  struct screen *screen = cookie;
  struct text legible = {0}, folded = {0};
  ssize_t written = 0;
  const bool is_exact = screen->is_command || (screen->keeps_lines && !screen->is_terminal);
  if (!is_exact) legible_part(screen, bytes, size, false, &legible);
  const char *from = is_exact ? bytes : text_string(&legible);
  const size_t count = is_exact ? size : legible.length;
  if (screen->is_terminal) folded_part(screen, from, count, size >= BUFSIZ, &folded);
  else text_add(&folded, from, count);
  if (!text_ok(&legible) || !text_ok(&folded)) errno = ENOMEM;
  else if (screen_send(screen, &folded)) written = (ssize_t)size;
  if (written == 0) screen->error = errno;
  text_free(&legible);
  text_free(&folded);
  return written;
}

static FILE *screen_open(struct screen *screen) {
  screen->is_terminal = isatty(screen->descriptor);
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
    struct text rest = {0};
    struct screen *screen = &screens[i];
    if (screen->stream) fflush(screen->stream);
    text_add(&rest, text_string(&screen->cut), screen->cut.length);
    text_free(&screen->cut);
    legible_part(screen, "", 0, true, &rest); /* at most a few bytes: a failure to write them changes nothing */
    if (rest.length > 0) (void)screen_send(screen, &rest);
    text_free(&rest);
  }
  if (screens[0].error != 0) errno = screens[0].error;
}

void terminal_keep_lines(void) {
  fflush(stdout);
  screens[0].keeps_lines = true;
}

void terminal_command(const char *text) {
  fflush(stderr);
  screens[1].is_command = true;
  fputs(text, stderr);
  fflush(stderr);
  screens[1].is_command = false;
}

void terminal_color(enum terminal_color when) { color_choice = when; }

const char *ink(FILE *stream, enum ink ink) { return has_colors(&screens[stream == stderr]) ? ink_sequences[ink] : ""; }

bool terminal_is_brief(void) { return !shows_all && isatty(STDOUT_FILENO); }

void terminal_show_all(void) { shows_all = true; }
