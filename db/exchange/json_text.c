/* json_text.c: values as JSON. */
#include "db/exchange/json_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void json_text_string(struct text *text, const char *string) {
  text_add(text, "\"", 1);
  for (size_t left = strlen(string), step; left > 0; string += step, left -= step) {
    unsigned char c = (unsigned char)*string;
    size_t printable = printable_bytes(string, left);
    step = 1;
    if (c == '"' || c == '\\') text_printf(text, "\\%c", c);
    else if (c == '\n') text_add(text, "\\n", 2);
    else if (c == '\t') text_add(text, "\\t", 2);
    else if (c < 0x20 || c == 0x7F) text_printf(text, "\\u%04x", c);
    else if (printable > 0) text_add(text, string, step = printable);
    else text_add(text, "\xEF\xBF\xBD", 3);
  }
  text_add(text, "\"", 1);
}

void json_text_number(struct text *text, double number) {
  if (isfinite(number)) text_number(text, number);
  else text_add(text, "null", 4);
}

void json_text_float(struct text *text, float number) {
  enum { FLOAT_DIGITS = 9 };
  char digits[32] = "null";
  for (int precision = 6; precision <= FLOAT_DIGITS && isfinite(number); precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, (double)number);
    if ((float)strtod(digits, NULL) == number) break;
  }
  text_add(text, digits, strlen(digits));
}

void json_text_value(struct text *text, json_t *value) {
  const char *key, *link = "";
  json_t *item;
  size_t i;
  switch (json_typeof(value)) {
  case JSON_OBJECT:
    text_add(text, "{", 1);
    json_object_foreach(value, key, item) {
      text_printf(text, "%s", link);
      json_text_string(text, key);
      text_add(text, ":", 1);
      json_text_value(text, item);
      link = ",";
    }
    text_add(text, "}", 1);
    break;
  case JSON_ARRAY:
    text_add(text, "[", 1);
    json_array_foreach(value, i, item) {
      text_printf(text, "%s", link);
      json_text_value(text, item);
      link = ",";
    }
    text_add(text, "]", 1);
    break;
  case JSON_STRING: json_text_string(text, json_string_value(value)); break;
  case JSON_INTEGER: text_printf(text, "%lld", (long long)json_integer_value(value)); break;
  case JSON_REAL: json_text_number(text, json_real_value(value)); break;
  case JSON_TRUE: text_add(text, "true", 4); break;
  case JSON_FALSE: text_add(text, "false", 5); break;
  case JSON_NULL: text_add(text, "null", 4); break;
  }
}
