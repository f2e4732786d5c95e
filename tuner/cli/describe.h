/* describe.h: a stencil and its analysis, as JSON and as a picture of its taps. */
#ifndef TUNER_CLI_DESCRIBE_H
#define TUNER_CLI_DESCRIBE_H

#include <jansson.h>

#include "base/text.h"
#include "tuner/cli/find.h"

/* All that `show --json` prints; docs/stencil-format.md names the keys. A new reference; NULL when memory is out. */
json_t *describe_json(const struct loaded *loaded);

/* Append the taps of each input as characters on a grid, plane by plane in z; planes that look alike are drawn once. */
void describe_taps(struct text *text, const struct loaded *loaded);

/* Append the update as it will be computed: an assignment a line, each behind `indent`. */
halotune_status describe_update(struct text *text, const struct stencil *stencil, const char *indent);

/* Print a JSON document on stdout, and release it. Returns HALOTUNE_MEMORY where `json` is NULL. */
halotune_status print_json(json_t *json);

#endif
