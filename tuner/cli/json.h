/* json.h: JSON documents, built so that a failure on the way is not lost: whatever ran out of memory is NULL, and NULL
 * spreads to what it is put into, up to print_json. */
#ifndef TUNER_CLI_JSON_H
#define TUNER_CLI_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "base/fail.h"

/* Put a value into an object or behind a list; takes over the reference. Where either is NULL, or memory is out, both are
 * released and *to becomes NULL. Keys are words of this program and names out of files, which need no escapes. */
void json_put(json_t **to, const char *key, json_t *value);
void json_add(json_t **to, json_t *value);

/* A number in as many digits as read back the same; null where it is infinite or not a number, which JSON cannot say. */
json_t *number_json(double number);

/* A string. What is not UTF-8, as a file's path may be, becomes U+FFFD. */
json_t *text_json(const char *text);

/* Print a document on stdout, and release it. Returns HALOTUNE_OK; HALOTUNE_MEMORY where it is NULL. That stdout cannot be
 * written is main's to report. */
halotune_status print_json(json_t *json);

#endif
