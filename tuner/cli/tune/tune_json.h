/* tune_json.h: the results of a `halotune tune` as JSON. */
#ifndef CLI_TUNE_TUNE_JSON_H
#define CLI_TUNE_TUNE_JSON_H

#include "base/text/json.h"
#include "tuner/cli/tune/tune_task.h"

/* The device, the database, and each task that was started. A new reference; NULL when memory is out. */
json_t *tune_json(const struct tune_setup *setup, const struct tuned *rows, int count);

/* The document of --device all with one team, from that of the team. Takes the reference. */
json_t *tune_json_devices(json_t *document);

#endif
