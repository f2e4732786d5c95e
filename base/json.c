/* json.c: JSON documents and their numbers and texts. */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void json_put(json_t **to, const char *key, json_t *value) {
  if (*to && json_object_set_new(*to, key, value) == 0) return; /* it takes the value even where it fails */
  if (!*to) json_decref(value);
  json_decref(*to);
  *to = NULL;
}

void json_add(json_t **to, json_t *value) {
  if (*to && json_array_append_new(*to, value) == 0) return;
  if (!*to) json_decref(value);
  json_decref(*to);
  *to = NULL;
}

json_t *number_json(double number) { return isfinite(number) ? json_real(number) : json_null(); }

/* Every double that is a decimal of few digits is the one nearest to it, so that it is written in those digits again.
 */
json_t *rounded_json(double number, int digits) {
  if (!isfinite(number) || number == 0) return number_json(number);
  double scale = pow(10, digits - 1 - floor(log10(fabs(number))));
  if (!isfinite(scale) || scale == 0) return number_json(number);
  double whole = round(number * scale);
  return number_json(scale >= 1 ? whole / scale : whole * round(1 / scale));
}

json_t *text_json(const char *text) {
  static const char replacement[] = "\xEF\xBF\xBD";
  struct text good = {0};
  for (size_t length = strlen(text), step; length > 0; text += step, length -= step) {
    bool ascii = (unsigned char)*text < 0x80; /* control characters are escaped */
    size_t valid = ascii ? 1 : printable_bytes(text, length);
    step = valid > 0 ? valid : 1;
    text_add(&good, valid > 0 ? text : replacement, valid > 0 ? valid : strlen(replacement));
  }
  json_t *json = text_ok(&good) ? json_string(text_string(&good)) : NULL;
  text_free(&good);
  return json;
}

/* jansson knows one number of digits for all numbers; ours are the fewest that read back the same. */
static void add_leaf(struct text *text, const json_t *json) {
  char *leaf = NULL;
  if (json_is_real(json)) text_number(text, json_real_value(json));
  else if (json_is_integer(json)) text_printf(text, "%lld", (long long)json_integer_value(json));
  else if (json_is_null(json)) text_add(text, "null", strlen("null"));
  else if (!(leaf = json_dumps(json, JSON_ENCODE_ANY))) text->out_of_memory = true;
  else text_add(text, leaf, strlen(leaf));
  free(leaf);
}

static void begin_member(struct text *text, bool first, int level) {
  enum { INDENT = 2 };
  text_printf(text, "%s\n%*s", first ? "" : ",", INDENT * level, "");
}

/* Whether no object lies in a list, however deep. */
static bool is_plain(const json_t *list) {
  size_t i;
  json_t *value;
  json_array_foreach(list, i, value) {
    if (json_is_object(value) || (json_is_array(value) && !is_plain(value))) return false;
  }
  return true;
}

static void add_line(struct text *text, const json_t *list) {
  size_t i;
  json_t *value;
  text_add(text, "[", 1);
  json_array_foreach(list, i, value) {
    if (i > 0) text_add(text, ",", 1);
    if (json_is_array(value)) add_line(text, value);
    else add_leaf(text, value);
  }
  text_add(text, "]", 1);
}

/* Documents are a few levels deep. */
static void add_value(struct text *text, json_t *json, enum json_layout layout, int level) {
  bool object = json_is_object(json), first = true;
  const char *key;
  json_t *value;
  size_t i;
  if (!object && !json_is_array(json)) {
    add_leaf(text, json);
    return;
  }
  if (!object && layout == JSON_LISTS_IN_LINE && is_plain(json)) {
    add_line(text, json);
    return;
  }
  text_printf(text, object ? "{" : "[");
  json_object_foreach(json, key, value) {
    begin_member(text, first, level + 1);
    text_printf(text, "\"%s\": ", key);
    add_value(text, value, layout, level + 1);
    first = false;
  }
  json_array_foreach(json, i, value) {
    begin_member(text, i == 0, level + 1);
    add_value(text, value, layout, level + 1);
    first = false;
  }
  if (!first) begin_member(text, true, level);
  text_printf(text, object ? "}" : "]");
}

bool json_write(struct text *text, json_t *json, enum json_layout layout) {
  if (json) add_value(text, json, layout, 0);
  return json && text_ok(text);
}
