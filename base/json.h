/* json.h: JSON documents, over jansson: built, printed, read.
 *
 * While a document is built no failure is lost: a value for which memory ran out is NULL, a value that a NULL is put into
 * becomes NULL, and json_write tells. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "base/fail.h"
#include "base/text.h"

/* Put a value into an object (json_put) or behind the last one of a list (json_add), and take over its reference. Where
 * either is NULL, or memory is out, both are released and *to becomes NULL. Keys are UTF-8. */
void json_put(json_t **to, const char *key, json_t *value);
void json_add(json_t **to, json_t *value);

/* A number in as many digits as read back the same; null where it is infinite or not a number, which JSON cannot say. */
json_t *number_json(double number);

/* The same of a 32-bit float, which needs fewer digits. */
json_t *float_json(float number);

/* The same in at most `digits` significant digits: a column of thousands of measured times needs no more. */
json_t *rounded_json(double number, int digits);

/* A string. Bytes that are not UTF-8, as a file's path may have, become U+FFFD. */
json_t *text_json(const char *text);

enum json_layout {
  JSON_EACH_ON_A_LINE, /* every member and every element */
  JSON_LISTS_IN_LINE,  /* a list without objects takes one line, however long: columns of numbers */
  JSON_IN_LINE,        /* everything in one line, without blanks */
};

/* Append a document. Returns false where it is NULL or memory is out. */
bool json_write(struct text *text, const json_t *json, enum json_layout layout);

/* Append one value, for who writes a long document piece by piece: as text_json, number_json and float_json have it. */
void json_write_string(struct text *text, const char *string);
void json_write_number(struct text *text, double number);
void json_write_float(struct text *text, float number);

/* Read a document of `length` bytes. An object may have no member twice.
 *   name  of the document, for messages: a path
 *   out   receives the document, the caller's to json_decref; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_PARSE with name, line and column of what is wrong; HALOTUNE_MEMORY. */
halotune_status json_read(const char *text, size_t length, const char *name, json_t **out);

/* A member of an object that holds neither objects nor lists, and whose strings need no escapes: the parameters of a
 * variant. Texts are not NUL-terminated; they point into the document. */
struct json_member {
  const char *name, *value;
  size_t name_length, value_length;
  bool is_string;
};

/* Read the next member. This makes no tree and no copies: a lookup in a microsecond, and a report of a hundred thousand
 * measurements, have no time for them.
 *   at  in: the start of the document, or what the call before left; out: the place behind the member, or on false the
 *       place that could not be read, which is the closing brace where all is well
 * Returns false where there is no further member. */
bool json_member_next(const char **at, struct json_member *out);

/* Whether json_member_next stopped at `at` because the document ends there. */
bool json_members_end(const char *at);

#endif
