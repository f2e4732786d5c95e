/* tap_picture.h: a stencil and its analysis, as JSON and as a picture of its taps. */
#ifndef CLI_SHOW_TAP_PICTURE_H
#define CLI_SHOW_TAP_PICTURE_H

#include "base/text.h"
#include "reports/update_text.h"
#include "tuner/cli/options/loaded_stencil.h"
#include "tuner/cli/output/json.h"

/* All that `show --json` prints; docs/stencil-format.md names the keys. A new reference; NULL when memory is out. */
json_t *describe_json(const struct loaded *loaded);

/* The points of a grid along the axes that the stencil has. */
json_t *grid_json(const struct stencil *stencil, const struct grid *grid);

/* Append the taps of each input as characters on a grid, plane by plane in z; planes that look alike are drawn once. */
void describe_taps(struct text *text, const struct loaded *loaded);

/* The field that a formula is for. */
static inline const char *exact_name(const struct stencil *stencil, const struct exact *exact) {
  return exact->is_output ? stencil->outputs[exact->field] : stencil->inputs[exact->field];
}

#endif
