/* output.c: writes results to stdout or to the file that --output names. */
#include "tuner/cli/output/output.h"

#include <stdio.h>

#include "tuner/cli/output/terminal.h"

halotune_status output_text(const char *path, enum output_readers readers, const char *text, size_t length) {
  if (path) return output_file(path, readers, text, length);
  terminal_keep_lines();
  fwrite(text, 1, length, stdout);
  return HALOTUNE_OK;
}

halotune_status print_json(json_t *json) {
  struct text text = {0};
  bool ok = json_write(&text, json, JSON_EACH_ON_A_LINE);
  terminal_keep_lines();
  if (ok) puts(text_string(&text));
  json_decref(json);
  text_free(&text);
  return ok ? HALOTUNE_OK : fail_memory();
}
