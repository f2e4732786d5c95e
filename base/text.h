/* text.h: a text that grows as it is written. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The end of a noun behind its number: "1 run", "2 runs". */
#define PLURAL(count) ((count) == 1 ? "" : "s")

/* Start with {0}, end with text_free. `bytes` is NUL-terminated once something was written, NULL before.
 * A text that ran out of memory stays as it was and ignores what follows, so that a writer asks text_ok() once, at the
 * end. */
struct text {
  char *bytes;
  size_t length, capacity;
  bool out_of_memory;
};

void text_add(struct text *text, const char *bytes, size_t length);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Append a number in the fewest digits that read back as the same double: 0.1, 2, 1e-08. */
void text_number(struct text *text, double number);

/* Append a word as a shell reads it back: in single quotes where it has other characters than plain ones. */
void text_shell_word(struct text *text, const char *word);

/* Whether everything that was written is there. */
bool text_ok(const struct text *text);

/* The text as a string, "" when nothing was written. Valid until the next write. */
const char *text_string(const struct text *text);

void text_free(struct text *text);

#endif
