/* json_text.h: JSON as text, a value at a time; numbers in the fewest digits that read back the same. */
#ifndef DB_EXCHANGE_JSON_TEXT_H
#define DB_EXCHANGE_JSON_TEXT_H

#include <jansson.h>

#include "base/text.h"

/* Append a string in quotes. What is not UTF-8 becomes U+FFFD. */
void json_text_string(struct text *text, const char *string);

/* Append a number; null where it is not finite. */
void json_text_number(struct text *text, double number);

/* The same for a 32-bit float, which needs fewer digits. */
void json_text_float(struct text *text, float number);

/* Append a value without blanks, members in their order. */
void json_text_value(struct text *text, json_t *value);

#endif
