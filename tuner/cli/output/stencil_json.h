/* stencil_json.h: a stencil and its analysis as a JSON document. */
#ifndef CLI_OUTPUT_STENCIL_JSON_H
#define CLI_OUTPUT_STENCIL_JSON_H

#include "base/text/json.h"
#include "stencil/analysis/analysis.h"

/* The output of `show --json` and `list stencils --json`; docs/stencil-format.md names the keys.
 *   path  of its file
 * Returns a new reference; NULL when memory is out. */
json_t *stencil_json(const char *path, const struct stencil *stencil, const struct analysis *analysis);

/* The field whose values an exact formula gives. */
const char *exact_name(const struct stencil *stencil, const struct exact *exact);

#endif
