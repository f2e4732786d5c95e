/* json.h: JSON documents, built so that a failure on the way is not lost: whatever ran out of memory is NULL, and NULL
 * spreads to what it is put into, up to json_write. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "base/text.h"

/* Put a value into an object or behind a list; takes over the reference. Where either is NULL, or memory is out, both
 * are released and *to becomes NULL. Keys are words of this program and names out of files, which need no escapes. */
void json_put(json_t **to, const char *key, json_t *value);
void json_add(json_t **to, json_t *value);

/* A number in as many digits as read back the same; null where it is infinite or not a number, which JSON cannot say.
 */
json_t *number_json(double number);

/* The same in at most `digits` significant digits: a column of thousands of measured times needs no more. */
json_t *rounded_json(double number, int digits);

/* A string. What is not UTF-8, as a file's path may be, becomes U+FFFD. */
json_t *text_json(const char *text);

enum json_layout {
  JSON_EACH_ON_A_LINE, /* every member and every element */
  JSON_LISTS_IN_LINE,  /* a list of no objects takes one line, however long: columns of numbers */
};

/* Append a document. False where it is NULL or memory is out. */
bool json_write(struct text *text, json_t *json, enum json_layout layout);

#endif
