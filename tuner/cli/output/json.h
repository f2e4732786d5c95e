/* json.h: JSON documents on standard output. */
#ifndef CLI_OUTPUT_JSON_H
#define CLI_OUTPUT_JSON_H

#include "base/fail.h"
#include "base/json.h"

/* Print a document on stdout, and release it. Returns HALOTUNE_OK; HALOTUNE_MEMORY where it is NULL. That stdout cannot
 * be written is main's to report. */
halotune_status print_json(json_t *json);

#endif
