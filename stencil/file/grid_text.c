/* grid_text.c: grids as text and as JSON. */
#include "stencil/file/grid_text.h"

#include <stdio.h>

void grid_write(const struct grid *grid, int dims, char out[GRID_TEXT_BYTES]) {
  int length = snprintf(out, GRID_TEXT_BYTES, "%ld", grid->n[0]);
  for (int axis = 1; axis < dims; axis++)
    length += snprintf(out + length, GRID_TEXT_BYTES - (size_t)length, "x%ld", grid->n[axis]);
}

void grid_text(const struct grid *grid, int dims, struct text *text) {
  char written[GRID_TEXT_BYTES];
  grid_write(grid, dims, written);
  text_printf(text, "%s", written);
}

int grid_dims(const struct grid *grid) { return grid->n[2] > 1 ? 3 : grid->n[1] > 1 ? 2 : 1; }

json_t *grid_json(const struct grid *grid, int dims) {
  json_t *list = json_array();
  for (int axis = 0; axis < dims; axis++) json_add(&list, json_integer(grid->n[axis]));
  return list;
}
