/* output_apart.c: compares the files that a command line names. */
#include "tuner/cli/options/output_apart.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files/file.h"
#include "base/memory/array.h"
#include "db/store/store.h"
#include "tuner/cli/options/option_value.h"

static const char *const outputs[] = {"output", "trace"};

static bool is_output(const char *option) {
  for (size_t i = 0; i < COUNT(outputs); i++) {
    if (strcmp(option, outputs[i]) == 0) return true;
  }
  return false;
}

/* Devices and pipes may be read and written. */
static bool is_regular(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

static halotune_status check_one(const char *option, const char *output, const char *input) {
  if (!input || !is_regular(input) || !file_is_same(output, input)) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "--%s %s would replace %s, which this command reads; name another file", option,
              output, input);
}

/* Compare an output with all files that the command reads.
 *   usual  the database that is read without --db; NULL: none */
static halotune_status check_output(const struct invocation *invocation, const char *name, const char *usual) {
  const struct command *command = invocation->command;
  const char *output = option_value(invocation, name);
  halotune_status status = HALOTUNE_OK;
  if (!output || !is_regular(output)) return HALOTUNE_OK;
  for (int i = 0; i < invocation->argument_count && status == HALOTUNE_OK; i++)
    status = check_one(name, output, invocation->arguments[i]);
  for (int i = 0; command->options[i].name && status == HALOTUNE_OK; i++) {
    if (!is_output(command->options[i].name)) status = check_one(name, output, invocation->values[i]);
  }
  return status == HALOTUNE_OK ? check_one(name, output, usual) : status;
}

static bool has_option(const struct command *command, const char *name) {
  for (const struct option_row *option = command->options; option->name; option++) {
    if (strcmp(option->name, name) == 0) return true;
  }
  return false;
}

halotune_status output_check_apart(const struct invocation *invocation) {
  char *usual = NULL;
  halotune_status status = HALOTUNE_OK;
  const bool reads_usual = has_option(invocation->command, "db") && !option_given(invocation, "db");
  /* without a home there is no usual database */
  if (reads_usual && store_default_path(&usual) == HALOTUNE_MEMORY) return HALOTUNE_MEMORY;
  for (size_t i = 0; i < COUNT(outputs) && status == HALOTUNE_OK; i++)
    status = check_output(invocation, outputs[i], usual);
  free(usual);
  return status;
}
