/* terminal.h: prepares standard output and standard error: lines that fit the terminal, and colours.
 *
 * On a terminal, lines are folded between words (fold.h), and a few words have colours. Everywhere, control characters
 * of names that databases hold become '?' (legible.h). */
#ifndef CLI_OUTPUT_TERMINAL_H
#define CLI_OUTPUT_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

#include "tuner/cli/output/legible.h"

/* Let stdout and stderr write legible lines, and fold those for a terminal. Call it before anything is written. */
void terminal_open(void);

/* Write the rest of the output. Call it before the program ends. If stdout could not be written, errno says why. */
void terminal_close(void);

/* Stop folding and colouring stdout, because the output that follows is for programs, such as JSON or CUDA source. If
 * stdout is not a terminal, no byte is changed. */
void terminal_keep_lines(void);

/* Write a text to stderr as it is, with sequences that move the cursor. It must not have text of a database. */
void terminal_command(const char *text);

/* The columns of the terminal of stderr. If that is unknown, $COLUMNS, else 80. */
int terminal_columns(void);

/* The columns of a line of stdout: those of the terminal; INT_MAX if stdout is not a terminal. */
int terminal_width(void);

/* Print the last column of a row, such as a variant: after the row if it fits there, else below it.
 *   left  columns of the row, which ends without a space */
void terminal_last_column(int left, const char *text);

/* When words have colours: --color. */
enum terminal_color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
extern const char *const terminal_color_names[]; /* "auto", "always", "never" */
enum { TERMINAL_COLORS = 3 };
void terminal_color(enum terminal_color when);

/* The sequence that begins a colour, or ends it (INK_NONE); "" where words have no colours. By default they have some
 * on a terminal, unless $NO_COLOR is set. */
const char *ink(FILE *stream, enum ink ink);

/* Whether stdout is a terminal, so that a person reads it. A variant then shows only those parameters that differ from
 * their defaults, unless terminal_show_all was called. */
bool terminal_is_brief(void);
void terminal_show_all(void);

#endif
