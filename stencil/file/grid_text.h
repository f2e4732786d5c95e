/* grid_text.h: grids, printed. */
#ifndef STENCIL_FILE_GRID_TEXT_H
#define STENCIL_FILE_GRID_TEXT_H

#include "base/text/json.h"
#include "stencil/file/stencil.h"

enum { GRID_TEXT_BYTES = 64 }; /* room for the points along three axes */

/* Write "512x512x64", with a number for each of `dims` dimensions. */
void grid_write(const struct grid *grid, int dims, char out[GRID_TEXT_BYTES]);

/* Append the same to a text. */
void grid_text(const struct grid *grid, int dims, struct text *text);

/* The dimensions of a grid whose stencil is not at hand: up to the last axis with more than one point. */
int grid_dims(const struct grid *grid);

/* [512, 512, 64]: a new reference; NULL when memory is out. */
json_t *grid_json(const struct grid *grid, int dims);

#endif
