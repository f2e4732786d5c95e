/* text.h: a text that grows while it is written. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The plural ending of a noun after its number: "1 run", "2 runs". */
#define PLURAL(count) ((count) == 1 ? "" : "s")

/* Start with {0}, end with text_free. `bytes` is NUL-terminated once something was written, and NULL before. After a
 * text runs out of memory, or text_printf fails otherwise, it does not change any more. So a writer checks text_ok()
 * only once, at the end. */
struct text {
  char *bytes;
  size_t length, capacity;
  bool out_of_memory;
};

void text_add(struct text *text, const char *bytes, size_t length);

/* Make the text longer by bytes that the caller then writes. Returns where they begin; NULL if memory is out. */
char *text_extend(struct text *text, size_t length);

void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Append a number with the fewest digits that read back as the same double: 0.1, 2, 1e-08. */
void text_number(struct text *text, double number);

/* Append a word for a shell, in single quotes if it has special characters. */
void text_shell_word(struct text *text, const char *word);

/* The same for a path. One that begins with a hyphen gets ./ in front: a program would take it for an option. */
void text_shell_path(struct text *text, const char *path);

/* Whether the text contains everything that was written to it. */
bool text_ok(const struct text *text);

/* The text as a string; "" if nothing was written. Valid until the next write. */
const char *text_string(const struct text *text);

void text_free(struct text *text);

#endif
