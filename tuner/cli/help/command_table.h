/* command_table.h: the table of the program's commands. */
#ifndef CLI_HELP_COMMAND_TABLE_H
#define CLI_HELP_COMMAND_TABLE_H

#include "tuner/cli/options/command.h"

/* In the order in which help lists them, with NULL at the end. */
extern const struct command *const command_table[];

/* The heading of the group of commands that begins with this one; NULL if none does. */
const char *command_group(const struct command *command);

/* Options that every command takes, with {0} at the end; main reads them. */
extern const struct option_row common_options[];

/* Find the command with this name. NULL if there is none. */
const struct command *command_find(const char *name);

/* What an option's value can be. */
enum value_kind { VALUE_NONE, VALUE_FREE, VALUE_WORDS, VALUE_FILE, VALUE_FOLDER, VALUE_TEMPLATE };
struct option_values {
  enum value_kind kind;
  const char *words; /* for VALUE_WORDS: "f32 f64"; else "" */
};
struct option_values option_values_of(const struct option_row *option);

/* What a command's arguments can be: words, such as those of `db`; else stencils if `takes_stencils`. */
struct argument_values {
  const char *words; /* "info check merge"; "": none */
  bool takes_stencils, takes_files;
};
struct argument_values argument_values_of(const struct command *command);

#endif
