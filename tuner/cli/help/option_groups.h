/* option_groups.h: the groups in which help and the manual pages show the options of a command. */
#ifndef CLI_HELP_OPTION_GROUPS_H
#define CLI_HELP_OPTION_GROUPS_H

#include "tuner/cli/options/command.h"

/* One group: some options of a command. */
struct option_group {
  char heading[64]; /* "The search"; "Options" if the command has no other group */
  const struct option_row *rows[MAX_OPTIONS];
  int count;
};

enum { MOST_OPTION_GROUPS = 16 };

/* Sort the options of a command and the options that every command takes into groups, in the order in which they are
 * shown. For a command with parts, such as `db`, the heading names the parts that take the options: "merge, import".
 * Returns the number of groups. */
int option_groups(const struct command *command, struct option_group out[MOST_OPTION_GROUPS]);

/* What an option does, without the parts of the command that the heading of its group names. */
const char *option_what(const struct option_group *group, const struct option_row *row);

#endif
