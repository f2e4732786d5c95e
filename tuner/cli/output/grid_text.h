/* grid_text.h: grids, printed. */
#ifndef CLI_OUTPUT_GRID_TEXT_H
#define CLI_OUTPUT_GRID_TEXT_H

#include "base/text/json.h"
#include "stencil/file/stencil.h"

/* Append "512x512x64", with a number for each of `dims` dimensions. */
void grid_text(const struct grid *grid, int dims, struct text *text);

/* The dimensions of a grid whose stencil is not at hand: up to the last axis with more than one point. */
int grid_dims(const struct grid *grid);

/* [512, 512, 64]: a new reference; NULL when memory is out. */
json_t *grid_json(const struct grid *grid, int dims);

#endif
