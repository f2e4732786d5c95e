/* output_apart.h: keeps a command from replacing a file that it reads. */
#ifndef CLI_OPTIONS_OUTPUT_APART_H
#define CLI_OPTIONS_OUTPUT_APART_H

#include "tuner/cli/options/command.h"

/* Check that --output and --trace name no file that another option, an argument, or the default database is, also by
 * another path. Returns HALOTUNE_OK; HALOTUNE_ARGUMENT; HALOTUNE_MEMORY. */
halotune_status output_check_apart(const struct invocation *invocation);

#endif
