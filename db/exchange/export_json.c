/* export_json.c: parses a text, and writes what it has read. */
#include "db/exchange/export_json.h"

#include <string.h>

#include "base/text/json.h"

halotune_status export_json_add(struct text *out, const char *column, const char *text, bool may_be_list) {
  json_t *json;
  halotune_status status = json_read(text, strlen(text), column, &json);
  const bool is_good = json_is_object(json) || (may_be_list && json_is_array(json));
  if (is_good && !json_write(out, json, JSON_IN_LINE)) status = fail_memory();
  json_decref(json);
  if (is_good || status == HALOTUNE_MEMORY) return status;
  return fail(HALOTUNE_DB,
              "a value of the column '%s' is no JSON, so it cannot be exported; 'halotune db check' finds it", column);
}
