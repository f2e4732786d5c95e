/* json.c: makes jansson values, prints documents, and reads flat objects. */
#include "base/text/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/number.h"
#include "base/text/utf8.h"

void json_put(json_t **to, const char *key, json_t *value) {
  if (*to && json_object_set_new(*to, key, value) == 0) return; /* jansson takes over the value even on failure */
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

double member_number(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

int64_t member_whole(const json_t *object, const char *key) {
  return (int64_t)json_integer_value(json_object_get(object, key));
}

const char *member_text(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

json_t *number_json(double number) { return isfinite(number) ? json_real(number) : json_null(); }

/* Make a number with as few digits as the float needs. */
static json_t *float_json(float number) {
  char digits[NUMBER_TEXT_BYTES];
  float_write(number, digits);
  return number_json(isfinite(number) ? number_read(digits, NULL) : (double)number);
}

/* Round to the decimal's nearest double, so that it is printed with the same few digits. */
json_t *rounded_json(double number, int digits) {
  if (!isfinite(number) || number == 0) return number_json(number);
  double scale = pow(10, digits - 1 - floor(log10(fabs(number))));
  if (!isfinite(scale) || scale == 0) return number_json(number);
  double whole = round(number * scale);
  return number_json(scale >= 1 ? whole / scale : whole * round(1 / scale));
}

/* Take the next character of a text as JSON has it. Control characters stay: they are escaped when they are printed.
 *   bytes  receives its length */
static const char *take_character(const char **at, size_t *left, size_t *bytes) {
  static const char replacement[] = "\xEF\xBF\xBD";
  const char *character = *at;
  const size_t valid = valid_bytes(character, *left), step = valid > 0 ? valid : 1;
  *at += step;
  *left -= step;
  *bytes = valid > 0 ? valid : strlen(replacement);
  return valid > 0 ? character : replacement;
}

json_t *text_json(const char *text) {
  struct text good = {0};
  for (size_t left = strlen(text), bytes; left > 0;) {
    const char *character = take_character(&text, &left, &bytes);
    text_add(&good, character, bytes);
  }
  json_t *json = text_ok(&good) ? json_string(text_string(&good)) : NULL;
  text_free(&good);
  return json;
}

bool text_is_same_in_json(const char *a, size_t a_length, const char *b, size_t b_length) {
  bool is_same = true;
  if (a_length == b_length && memcmp(a, b, a_length) == 0) return true;
  while (is_same && a_length > 0 && b_length > 0) {
    size_t a_bytes, b_bytes;
    const char *left = take_character(&a, &a_length, &a_bytes), *right = take_character(&b, &b_length, &b_bytes);
    is_same = a_bytes == b_bytes && memcmp(left, right, a_bytes) == 0;
  }
  return is_same && a_length == b_length;
}

json_t *names_json(const char *const *names, int count) {
  json_t *list = json_array();
  for (int i = 0; i < count; i++) json_add(&list, text_json(names[i]));
  return list;
}

/* Append a string of plain characters, which needs no other form. Returns whether it is one. */
static bool add_plain(struct text *text, const char *string, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (string[i] < ' ' || string[i] > '~' || string[i] == '"' || string[i] == '\\') return false;
  }
  char *quoted = text_extend(text, length + 2);
  if (!quoted) return true; /* the text knows that memory is out */
  quoted[0] = quoted[length + 1] = '"';
  memcpy(quoted + 1, string, length);
  return true;
}

/* Whether a string has a character that is invisible, or that changes the order of others. */
static bool has_hidden(const char *string, size_t length) {
  for (size_t at = 0, step; at < length; at += step) {
    step = (unsigned char)string[at] < 0x80 ? 1 : visible_bytes(string + at, length - at);
    if (step == 0) return true;
  }
  return false;
}

/* A string with hidden characters is written in ASCII, so that the document does not look like another one. */
static void add_string(struct text *text, const json_t *string) {
  const char *bytes = json_string_value(string);
  const size_t length = json_string_length(string);
  if (add_plain(text, bytes, length)) return;
  char *quoted = json_dumps(string, JSON_ENCODE_ANY | (has_hidden(bytes, length) ? JSON_ENSURE_ASCII : 0));
  if (quoted) text_add(text, quoted, strlen(quoted));
  else text->out_of_memory = true;
  free(quoted);
}

/* Append a finite number. jansson would write all numbers with the same number of digits. It reads -0 as the whole
 * number 0, so that another text would be written for what was read. */
static void add_number(struct text *text, double number) {
  if (number == 0 && signbit(number)) text_printf(text, "-0.0");
  else text_number(text, number);
}

static void add_leaf(struct text *text, const json_t *json) {
  switch (json_typeof(json)) {
  case JSON_REAL: add_number(text, json_real_value(json)); break;
  case JSON_INTEGER: text_printf(text, "%lld", (long long)json_integer_value(json)); break;
  case JSON_TRUE: text_printf(text, "true"); break;
  case JSON_FALSE: text_printf(text, "false"); break;
  case JSON_STRING: add_string(text, json); break;
  default: text_printf(text, "null"); break;
  }
}

/* Whether a list contains no object at any depth. */
static bool is_plain(const json_t *list) {
  size_t i;
  json_t *value;
  json_array_foreach(list, i, value) {
    if (json_is_object(value) || (json_is_array(value) && !is_plain(value))) return false;
  }
  return true;
}

/* Begin a member or an element. */
static void begin_item(struct text *text, bool first, enum json_layout layout, int level) {
  enum { INDENT = 2 };
  if (!first) text_add(text, ",", 1);
  if (layout != JSON_IN_LINE) text_printf(text, "\n%*s", INDENT * level, "");
}

static void add_value(struct text *text, const json_t *json, enum json_layout layout, int level);

static void add_list(struct text *text, const json_t *list, enum json_layout layout, int level) {
  size_t i;
  json_t *value;
  if (layout == JSON_LISTS_IN_LINE && is_plain(list)) layout = JSON_IN_LINE;
  text_add(text, "[", 1);
  json_array_foreach(list, i, value) {
    begin_item(text, i == 0, layout, level + 1);
    add_value(text, value, layout, level + 1);
  }
  if (json_array_size(list) > 0) begin_item(text, true, layout, level);
  text_add(text, "]", 1);
}

static void add_object(struct text *text, const json_t *object, enum json_layout layout, int level) {
  json_t *members; /* jansson's loop needs a non-const pointer; it changes nothing */
  const char *key;
  json_t *value;
  bool first = true;
  memcpy(&members, &object, sizeof members);
  text_add(text, "{", 1);
  json_object_foreach(members, key, value) {
    begin_item(text, first, layout, level + 1);
    json_write_string(text, key);
    text_printf(text, layout == JSON_IN_LINE ? ":" : ": ");
    add_value(text, value, layout, level + 1);
    first = false;
  }
  if (!first) begin_item(text, true, layout, level);
  text_add(text, "}", 1);
}

/* Append a value. It calls itself, since documents are only a few levels deep. */
static void add_value(struct text *text, const json_t *json, enum json_layout layout, int level) {
  if (json_is_object(json)) add_object(text, json, layout, level);
  else if (json_is_array(json)) add_list(text, json, layout, level);
  else add_leaf(text, json);
}

bool json_write(struct text *text, const json_t *json, enum json_layout layout) {
  if (json) add_value(text, json, layout, 0);
  return json && text_ok(text);
}

static void write_leaf(struct text *text, json_t *leaf) {
  if (leaf) add_leaf(text, leaf);
  else text->out_of_memory = true;
  json_decref(leaf);
}

void json_write_string(struct text *text, const char *string) {
  if (!add_plain(text, string, strlen(string))) write_leaf(text, text_json(string));
}

void json_write_number(struct text *text, double number) {
  if (isfinite(number)) add_number(text, number);
  else text_add(text, "null", strlen("null"));
}

void json_write_float(struct text *text, float number) { write_leaf(text, float_json(number)); }

/* Where the string that begins at `at` ends. */
static size_t string_end(const char *text, size_t length, size_t at) {
  for (at++; at < length && text[at] != '"'; at++) at += text[at] == '\\';
  return at;
}

size_t json_memory_bytes(const char *text, size_t length) {
  enum { OBJECT = 240, LIST = 140, MEMBER = 130, NEXT = 45 }; /* bytes that jansson allocates on a machine of 64 bits */
  size_t sum = 0;
  for (size_t at = 0; at < length; at++) {
    switch (text[at]) {
    case '"': at = string_end(text, length, at); break;
    case '{': sum += OBJECT; break;
    case '[': sum += LIST; break;
    case ':': sum += MEMBER; break;
    case ',': sum += NEXT; break;
    default: break;
    }
  }
  return sum + length;
}

halotune_status json_read(const char *text, size_t length, const char *name, json_t **out) {
  const size_t most_bytes = (size_t)4 << 30;
  json_error_t error;
  *out = NULL;
  if (json_memory_bytes(text, length) > most_bytes)
    return fail(
        HALOTUNE_PARSE,
        "%s: it has so many values that they would take more than 4 GiB of memory; import the database itself, or "
        "a document of one GPU ('halotune db export --device')",
        name);
  *out = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
  if (*out) return HALOTUNE_OK;
  if (json_error_code(&error) == json_error_out_of_memory) return fail_memory();
  return fail(HALOTUNE_PARSE, "%s:%d:%d: %s", name, error.line, error.column, error.text);
}

json_t *json_of_text(const char *text) {
  json_t *json;
  return json_read(text, strlen(text), "a column", &json) == HALOTUNE_OK ? json : json_null();
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* Loops are used instead of strspn and strcspn. There are few blanks and values are short, so these functions would
 * take longer to start than to scan. */
static const char *skip_blanks(const char *at) {
  while (is_blank(*at)) at++;
  return at;
}

static size_t word_length(const char *text) {
  size_t length = 0;
  while (text[length] && text[length] != ',' && text[length] != '}' && !is_blank(text[length])) length++;
  return length;
}

/* Read a string. Returns the position after it; NULL if there is none, or if it has an escape. */
static const char *read_quoted(const char *at, const char **text, size_t *length) {
  if (*at != '"') return NULL;
  const char *end = ++at;
  while (*end && *end != '"' && *end != '\\') end++;
  if (*end != '"') return NULL;
  *text = at;
  *length = (size_t)(end - at);
  return end + 1;
}

bool json_member_next(const char **at, struct json_member *out) {
  const char *c = skip_blanks(*at);
  const bool is_first = *c == '{';
  *at = c;
  if (!is_first && *c != ',') return false;
  c = skip_blanks(c + 1);
  if (is_first && *c == '}') *at = c;
  c = read_quoted(c, &out->name, &out->name_length);
  if (!c) return false;
  c = skip_blanks(c);
  if (*c != ':') return false;
  c = skip_blanks(c + 1);
  out->is_string = *c == '"';
  if (out->is_string) {
    c = read_quoted(c, &out->value, &out->value_length);
    if (!c) return false;
  } else {
    out->value = c;
    out->value_length = word_length(c);
    if (out->value_length == 0) return false;
    c += out->value_length;
  }
  *at = c;
  return true;
}

bool json_members_end(const char *at) { return *at == '}' && *skip_blanks(at + 1) == '\0'; }
