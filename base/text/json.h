/* json.h: builds, prints and reads JSON documents with jansson.
 *
 * No failure is lost while a document is built. A value for which there is no memory is NULL. A container into which a
 * NULL is put becomes NULL. json_write then returns false. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/text/text.h"

/* Put a value into an object (json_put) or at the end of a list (json_add), and take over its reference. If either is
 * NULL, or memory is out, both are released and *to becomes NULL. Keys are UTF-8. */
void json_put(json_t **to, const char *key, json_t *value);
void json_add(json_t **to, json_t *value);

/* Make a number with the fewest digits that read back as the same double; null for infinity and NaN, which JSON does
 * not have. */
json_t *number_json(double number);

/* Make a number with at most `digits` significant digits. Columns of thousands of measured times need no more. */
json_t *rounded_json(double number, int digits);

/* Make a string. Bytes that are not UTF-8, which a path may contain, become U+FFFD. */
json_t *text_json(const char *text);

/* Whether text_json makes the same string of two texts. */
bool text_is_same_in_json(const char *a, size_t a_length, const char *b, size_t b_length);

/* Make a list of strings. */
json_t *names_json(const char *const *names, int count);

/* Read a member of an object as a number, a whole number or a text. If the member is missing or has another type, the
 * result is NAN, 0 or "". The text lives as long as the object. */
double member_number(const json_t *object, const char *key);
int64_t member_whole(const json_t *object, const char *key);
const char *member_text(const json_t *object, const char *key);

enum json_layout {
  JSON_EACH_ON_A_LINE, /* each member and each element on its own line */
  JSON_LISTS_IN_LINE,  /* a list without objects is on one line, however long: columns of numbers */
  JSON_IN_LINE,        /* everything on one line, without blanks */
};

/* Append a document. Returns false if it is NULL or memory is out. */
bool json_write(struct text *text, const json_t *json, enum json_layout layout);

/* Append one value, for callers that write a long document piece by piece. A float gets the fewest digits that read
 * back as the same float. */
void json_write_string(struct text *text, const char *string);
void json_write_number(struct text *text, double number);
void json_write_float(struct text *text, float number);

/* About how many bytes of memory json_read takes for a document. Some texts take eighty times their length. */
size_t json_memory_bytes(const char *text, size_t length);

/* Read a document of `length` bytes. Objects must not have the same member twice. One that would take more than 4 GiB
 * of memory is not read.
 *   name  the document's name for messages: a path
 *   out   receives the document, which the caller releases with json_decref; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_PARSE with name, line and column of the error; HALOTUNE_MEMORY. */
halotune_status json_read(const char *text, size_t length, const char *name, json_t **out);

/* Read the text of a database's column with the same limit. Returns a new reference: JSON's null if json_read refuses
 * the text. */
json_t *json_of_text(const char *text);

/* A member of a flat object: it contains no objects or lists, and its strings need no escapes. The parameters of a
 * variant are such an object. The texts point into the document and are not NUL-terminated. */
struct json_member {
  const char *name, *value;
  size_t name_length, value_length;
  bool is_string;
};

/* Read the next member. It builds no tree and makes no copies, since a lookup takes a microsecond and a report reads a
 * hundred thousand measurements.
 *   at  in: the start of the document, or the position from the last call; out: the position after the member. On false
 *       it is the position that could not be read, which is the closing brace in a correct document
 * Returns false if there is no further member. */
bool json_member_next(const char **at, struct json_member *out);

/* Whether json_member_next stopped at `at` because the document ends there. */
bool json_members_end(const char *at);

#endif
