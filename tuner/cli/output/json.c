/* json.c: JSON documents on standard output. */
#include "tuner/cli/output/json.h"

#include <stdio.h>

halotune_status print_json(json_t *json) {
  struct text text = {0};
  bool ok = json_write(&text, json, JSON_EACH_ON_A_LINE);
  if (ok) puts(text_string(&text));
  json_decref(json);
  text_free(&text);
  return ok ? HALOTUNE_OK : fail_memory();
}
