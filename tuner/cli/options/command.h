/* command.h: a command, its options, what the user typed, and exit codes. */
#ifndef CLI_OPTIONS_COMMAND_H
#define CLI_OPTIONS_COMMAND_H

#include <stdbool.h>

#include "base/fail.h"

/* Exit codes: number, meaning. They never change, because scripts test for them. */
#define EXIT_LIST(X)                                     \
  X(SUCCESS, 0, "success")                               \
  X(FAILURE, 1, "failure")                               \
  X(USAGE, 2, "wrong usage: unknown option, bad value")  \
  X(NO_GPU, 3, "no GPU, or no driver for it")            \
  X(NOT_FOUND, 4, "no such stencil, template or result") \
  X(BAD_INPUT, 5, "an input file has an error")          \
  X(DATABASE, 6, "the database reported an error")       \
  X(UNDECIDED, 7, "the GPU lowered its clocks, so that nothing was decided")

#define AS_EXIT_CODE(name, number, text) HALOTUNE_EXIT_##name = number,
enum exit_code { EXIT_LIST(AS_EXIT_CODE) };
#undef AS_EXIT_CODE

/* One option; a table of them ends with {0}. */
struct option_row {
  const char *name;     /* without the dashes */
  const char *argument; /* the name of its value in help, such as "FILE"; NULL for a switch */
  const char *what;
};

enum { MAX_OPTIONS = 40 };

struct invocation;

struct command {
  const char *name;
  const char *arguments; /* as the usage line shows them */
  int least_arguments, most_arguments;
  const char *what;
  const struct option_row *options;
  enum exit_code (*run)(const struct invocation *invocation);
};

/* The parsed command line. */
struct invocation {
  const struct command *command;
  const char *
      /* values in the order of command->options; NULL for an option that is not given, "" for a switch */
      values[MAX_OPTIONS];
  char *const *arguments;
  int argument_count;
};

/* The exit code for a status. */
enum exit_code exit_code_of(halotune_status status);

/* Print "halotune: DETAIL" on stderr. Returns the exit code for the status. */
enum exit_code report_failure(halotune_status status);

/* Like report_failure, for a file that the user named. HALOTUNE_IO then means bad input. */
enum exit_code report_file_failure(halotune_status status);

/* The commands. */
extern const struct command command_list;
extern const struct command command_show;
extern const struct command command_run;
extern const struct command command_reference;
extern const struct command command_generate;
extern const struct command command_space;
extern const struct command command_compile;
extern const struct command command_accesses;
extern const struct command command_verify;
extern const struct command command_tune;
extern const struct command command_query;
extern const struct command command_explain;
extern const struct command command_bench;
extern const struct command command_compare;
extern const struct command command_report;
extern const struct command command_db;
extern const struct command command_new;
extern const struct command command_doctor;
extern const struct command command_selftest;
extern const struct command command_fleet;
extern const struct command command_cache;
extern const struct command command_key;
extern const struct command command_trust;
extern const struct command command_manual;
extern const struct command command_completion;

#endif
