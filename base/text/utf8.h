/* utf8.h: characters of UTF-8 text, and which of them may be printed on a terminal. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a byte begins a character: bytes 10xxxxxx continue the character that an earlier byte began. */
static inline bool begins_character(char byte) { return ((unsigned char)byte & 0xC0U) != 0x80U; }

/* The number of bytes of the character at the start of a text, at least 1. A byte that is not UTF-8 counts as one
 * character. */
size_t character_bytes(const char *text);

/* The number of bytes of the printable character at the start of a text of `length` bytes, where length is at least 1.
 * Returns 0 for a control character and for bytes that are not UTF-8. */
size_t printable_bytes(const char *text, size_t length);

/* Like printable_bytes, but 1 for each byte of ASCII, control characters too. */
static inline size_t valid_bytes(const char *text, size_t length) {
  return (unsigned char)text[0] < 0x80 ? 1 : printable_bytes(text, length);
}

/* Like printable_bytes, but also 0 for a character that is invisible, or that changes the order of others. */
size_t visible_bytes(const char *text, size_t length);

/* How many columns of a terminal the first character of a text takes: 0 for a character that combines with the one
 * before it, 2 for a wide character such as those of Chinese.
 *   bytes  of the character */
int character_columns(const char *text, size_t bytes);

/* Copy a text, cut to `bytes` including its NUL. Everything except printable UTF-8, line ends and tabs becomes '?', and
 * so does a character that is invisible, or that changes the order of others: with it, a text could look like another
 * one. */
void printable_copy(char *out, size_t bytes, const char *text);

/* Like printable_copy, for a name: line ends and tabs become '?', too. */
void printable_name(char *out, size_t bytes, const char *text);

/* Like printable_copy, for a message: a line end stays only in front of an indented line, such as a line of a file that
 * the message shows. A name with a line end and a blank in it can still begin a line: where a message has names from
 * outside, printable_name has to copy them first. */
void printable_message(char *out, size_t bytes, const char *text);

/* Whether a text is one line in printable UTF-8, without characters that printable_name replaces. */
bool is_printable_line(const char *text);

#endif
