/* tune_devices.h: `halotune tune --device all`: one process for each GPU. */
#ifndef CLI_TUNE_TUNE_DEVICES_H
#define CLI_TUNE_TUNE_DEVICES_H

#include "tuner/cli/options/option_value.h"

/* Run the same command for each GPU at the same time, into the same database. When all have ended, print the output
 * of each, in the order of the GPUs; with --json as one document, {"devices": [...]}. SIGINT and SIGTERM are passed
 * on to the processes.
 * Returns the first exit code that is not success. */
enum exit_code tune_devices(const struct invocation *invocation);

#endif
