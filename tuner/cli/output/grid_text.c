/* grid_text.c: grids as text and as JSON. */
#include "tuner/cli/output/grid_text.h"

void grid_text(const struct grid *grid, int dims, struct text *text) {
  for (int axis = 0; axis < dims; axis++) text_printf(text, "%s%ld", axis > 0 ? "x" : "", grid->n[axis]);
}

int grid_dims(const struct grid *grid) { return grid->n[2] > 1 ? 3 : grid->n[1] > 1 ? 2 : 1; }

json_t *grid_json(const struct grid *grid, int dims) {
  json_t *list = json_array();
  for (int axis = 0; axis < dims; axis++) json_add(&list, json_integer(grid->n[axis]));
  return list;
}
