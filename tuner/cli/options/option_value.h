/* option_value.h: spans of time on the command line. */
#ifndef CLI_OPTIONS_OPTION_VALUE_H
#define CLI_OPTIONS_OPTION_VALUE_H

#include "tuner/cli/options/command.h"

/* The value of an option such as 90, 90s, 1.5m or 2h, in seconds; `otherwise` where it was not given. On failure HALOTUNE_ARGUMENT,
 * with the option's name in the detail. */
halotune_status option_seconds(const struct invocation *invocation, const char *name, double otherwise, double *out);

/* The same in milliseconds, rounded up; where it is more than an int holds, that. */
halotune_status option_milliseconds(const struct invocation *invocation, const char *name, int otherwise_ms, int *out);

#endif
