/* examples.h: command lines that help and the manual pages show. */
#ifndef CLI_HELP_EXAMPLES_H
#define CLI_HELP_EXAMPLES_H

struct example {
  const char *line; /* "halotune tune star7" */
  const char *what; /* "search for a minute ..." */
};

/* The examples of a command, with {0} at the end. The command "" is the program. */
const struct example *examples_of(const char *command);

#endif
