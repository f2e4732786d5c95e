/* tune_devices.h: `halotune tune --device all`: one team for each model of GPU. */
#ifndef CLI_TUNE_TUNE_DEVICES_H
#define CLI_TUNE_TUNE_DEVICES_H

#include "tuner/cli/options/option_value.h"

enum { DEVICE_TEAMS_MOST = 64 };

/* GPUs of one model. */
struct device_team {
  int ordinals[DEVICE_TEAMS_MOST], count;
};

struct device_teams {
  struct device_team list[DEVICE_TEAMS_MOST];
  int count, device_count;
};

/* Ask the driver for all GPUs, and sort them by model: name, architecture and number of multiprocessors. Returns what
 * probe_gpus returns. */
halotune_status device_teams_find(struct device_teams *out);

/* Run the same command for each team at the same time, into the same database. When all have ended, print the output
 * of each, in the order of their first GPUs; with --json as one document, {"devices": [...]}. SIGINT and SIGTERM are
 * passed on to the processes.
 * Returns the first exit code that is not success. */
enum exit_code tune_devices(const struct invocation *invocation, const struct device_teams *teams);

#endif
