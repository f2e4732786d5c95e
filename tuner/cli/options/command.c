/* command.c: exit codes, and messages about failures. */
#include "tuner/cli/options/command.h"

#include <stdio.h>

#include "base/text/utf8.h"
#include "tuner/cli/output/terminal.h"

enum exit_code exit_code_of(halotune_status status) {
  switch (status) {
  case HALOTUNE_OK: return HALOTUNE_EXIT_SUCCESS;
  case HALOTUNE_NOT_FOUND: return HALOTUNE_EXIT_NOT_FOUND;
  case HALOTUNE_NO_GPU: return HALOTUNE_EXIT_NO_GPU;
  case HALOTUNE_DB: return HALOTUNE_EXIT_DATABASE;
  case HALOTUNE_PARSE: return HALOTUNE_EXIT_BAD_INPUT;
  case HALOTUNE_ARGUMENT: return HALOTUNE_EXIT_USAGE;
  default: return HALOTUNE_EXIT_FAILURE;
  }
}

enum exit_code report_failure(halotune_status status) {
  char text[FAIL_TEXT_BYTES];
  printable_message(text, sizeof text, fail_text());
  fprintf(stderr, "%shalotune:%s %s\n", ink(stderr, INK_FAILURE), ink(stderr, INK_NONE), text);
  return exit_code_of(status);
}

enum exit_code report_file_failure(halotune_status status) {
  enum exit_code code = report_failure(status);
  return status == HALOTUNE_IO ? HALOTUNE_EXIT_BAD_INPUT : code;
}
