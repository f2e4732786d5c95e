/* option_value.h: the values of options: texts, numbers, times, words of a list, element types, grids. All commands
 * read their options with these functions.
 *
 * Each reader returns HALOTUNE_OK, or HALOTUNE_ARGUMENT with a message that names the option and what it takes. */
#ifndef CLI_OPTIONS_OPTION_VALUE_H
#define CLI_OPTIONS_OPTION_VALUE_H

#include "stencil/file/stencil.h"
#include "tuner/cli/options/command.h"

/* The value of an option; "" for a switch; NULL if the option is not given, or the command has no such option. */
const char *option_value(const struct invocation *invocation, const char *name);

/* Whether the option was given. */
bool option_given(const struct invocation *invocation, const char *name);

/* Give an option another value. An option that the command does not have is ignored. */
void option_put(struct invocation *invocation, const char *name, const char *value);

/* Read a whole number in [low, high]; `otherwise` if the option is not given. */
halotune_status option_whole(const struct invocation *invocation, const char *name, long low, long high, long otherwise,
                             long *out);

/* Read a time such as 90, 90s, 1.5m or 2h, in seconds. Returns false for another text. */
bool seconds_read(const char *text, double *out);

/* Read an option's time with seconds_read; `otherwise` if the option is not given. */
halotune_status option_seconds(const struct invocation *invocation, const char *name, double otherwise, double *out);

/* Like option_seconds, in milliseconds, rounded up; INT_MAX for a longer time than an int can hold. */
halotune_status option_milliseconds(const struct invocation *invocation, const char *name, int otherwise_ms, int *out);

/* Read a date that is compared with those of a database, as texts; NULL if the option is not given. */
halotune_status option_date(const struct invocation *invocation, const char *name, const char **out);

/* Read --tolerance: a share from 0 to 1, such as 0.02 or 2%; `otherwise` if the option is not given. */
halotune_status option_tolerance(const struct invocation *invocation, double otherwise, double *out);

/* Read a word; `out` receives its position in `words`, or `otherwise` if the option is not given. */
halotune_status option_word(const struct invocation *invocation, const char *name, const char *const *words, int count,
                            int otherwise, int *out);

/* Like option_word, for a word that is not the value of an option.
 *   what  begins the message: "--launch", "list" */
halotune_status word_find(const char *what, const char *word, const char *const *words, int count, int *out);

/* Read the element type that --dtype names. The stencil must have it. Without the option, it is the first type of the
 * stencil's file. */
halotune_status option_dtype(const struct invocation *invocation, const struct stencil *stencil, enum dtype *out);

/* Read which element types --dtype names: one, or each with "all". The stencil need not have them.
 *   otherwise  without the option: whether each is named */
halotune_status option_dtypes(const struct invocation *invocation, bool otherwise, bool named[DTYPE_COUNT]);

/* Read the grid that --grid names, with one number for each dimension of the stencil. Without the option, it is the
 * first grid of the stencil's file. */
halotune_status option_grid(const struct invocation *invocation, const struct stencil *stencil, struct grid *out);

/* Read "512,512,64" or "512x512x64": points along x, y and z; fewer numbers for fewer dimensions. Axes without a number
 * have 1 point.
 * Returns the number of numbers; 0 for a text that is not a grid, or for an axis of more than GRID_MOST_AXIS_POINTS. */
int grid_read(const char *text, struct grid *out);

/* Get the next item of a list such as "a=1,b=2". A comma at the end adds no item.
 *   rest    in: the list, or NULL for an empty one; out: the rest after the item
 *   length  receives the length of the item
 * Returns the item, which is not NUL-terminated; NULL at the end. */
const char *list_next(const char **rest, size_t *length);

#endif
