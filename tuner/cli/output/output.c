/* output.c: writes results to stdout or to a file. */
#include "tuner/cli/output/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/replace.h"
#include "tuner/cli/options/option_value.h"

halotune_status output_file(const char *path, enum output_readers readers, const char *text, size_t length) {
  if (access(path, F_OK) != 0 || file_is_regular(path))
    return readers == OUTPUT_FOR_ALL ? file_replace_for_all(path, text, length) : file_replace(path, text, length);
  FILE *file = fopen(path, "w");
  bool ok = file && fwrite(text, 1, length, file) == length;
  if (file) ok = fclose(file) == 0 && ok;
  return ok ? HALOTUNE_OK : fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
}

halotune_status output_text(const struct invocation *invocation, enum output_readers readers, const char *text,
                            size_t length) {
  const char *path = option_value(invocation, "output");
  if (path) return output_file(path, readers, text, length);
  fwrite(text, 1, length, stdout);
  return HALOTUNE_OK;
}

halotune_status print_json(json_t *json) {
  struct text text = {0};
  bool ok = json_write(&text, json, JSON_EACH_ON_A_LINE);
  if (ok) puts(text_string(&text));
  json_decref(json);
  text_free(&text);
  return ok ? HALOTUNE_OK : fail_memory();
}
