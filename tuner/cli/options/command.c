/* command.c: options and failures, as every command needs them. */
#include "tuner/cli/options/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *option_value(const struct invocation *invocation, const char *name) {
  const struct option_row *options = invocation->command->options;
  for (int i = 0; options[i].name; i++) {
    if (strcmp(options[i].name, name) == 0) return invocation->values[i];
  }
  return NULL;
}

halotune_status option_whole(const struct invocation *invocation, const char *name, long low, long high, long otherwise,
                             long *out) {
  const char *value = option_value(invocation, name);
  char *end;
  *out = otherwise;
  if (!value) return HALOTUNE_OK;
  errno = 0;
  long number = strtol(value, &end, 10);
  if (end == value || *end || errno || number < low || number > high) {
    return fail(HALOTUNE_ARGUMENT, "--%s takes a whole number from %ld to %ld, not '%s'", name, low, high, value);
  }
  *out = number;
  return HALOTUNE_OK;
}

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
  fprintf(stderr, "halotune: %s\n", fail_text());
  return exit_code_of(status);
}

enum exit_code report_file_failure(halotune_status status) {
  enum exit_code code = report_failure(status);
  return status == HALOTUNE_IO ? HALOTUNE_EXIT_BAD_INPUT : code;
}
