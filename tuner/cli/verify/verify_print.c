/* verify_print.c: a line, or a JSON object, for each variant. */
#include "tuner/cli/verify/verify_print.h"

#include <stdio.h>

#include "tuner/cli/output/terminal.h"
#include "tuner/cli/output/variant_text.h"

/* The hash of the outputs' bits, for each scene in which the variant passed. */
static json_t *outputs_json(const struct verify_row *row) {
  static const struct hash none = {0};
  json_t *json = json_object();
  char hex[HASH_HEX_BYTES];
  for (int i = 0; row->scenes && i < row->scenes->scenes.count; i++) {
    if (hash_compare(row->outputs[i], none) == 0) continue;
    hash_hex(row->outputs[i], hex);
    json_put(&json, row->scenes->scenes.list[i].name, text_json(hex));
  }
  return json;
}

json_t *verify_row_json(const struct verify_row *row) {
  const struct comparison *worst = &row->result.worst;
  json_t *json = json_object();
  json_put(&json, "template", text_json(row->template->name));
  json_put(&json, "parameters", variant_json(row->template, &row->configuration));
  json_put(&json, "outcome", text_json(row->result.name));
  json_put(&json, "detail", text_json(row->result.text));
  json_put(&json, "scene", text_json(row->scene));
  json_put(&json, "scenes", json_integer(row->scene_count));
  json_put(&json, "launches", json_integer(row->run_count));
  json_put(&json, "rms_error", number_json(worst->rms_error));
  json_put(&json, "max_error", number_json(worst->max_error));
  json_put(&json, "max_error_units", number_json(worst->max_error_units));
  json_put(&json, "outputs", outputs_json(row));
  json_put(&json, "compile_time_ms", number_json(row->compile_time_ms));
  json_put(&json, "run_time_ms", number_json(row->run_time_ms));
  return json;
}

void verify_print_row(const struct verify_row *row) {
  struct text text = {0};
  variant_text(row->template, &row->configuration, &text);
  const bool has_failed = row->result.outcome != CHECK_PASSED && row->result.outcome != CHECK_NOT_RUN;
  fputs(has_failed ? ink(stdout, INK_FAILURE) : "", stdout);
  int left = printf("%-18s", row->result.name);
  fputs(has_failed ? ink(stdout, INK_NONE) : "", stdout);
  left += printf(" rms %-9.3g max %-9.3g %5.2f units", row->result.worst.rms_error, row->result.worst.max_error,
                 row->result.worst.max_error_units);
  terminal_last_column(left, text_string(&text));
  if (row->result.outcome != CHECK_PASSED) {
    printf("%-18s %s%s%s\n", "", row->scene, *row->scene ? ": " : "", row->result.text);
  }
  text_free(&text);
}
