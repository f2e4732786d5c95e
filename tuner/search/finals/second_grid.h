/* second_grid.h: verifies a variant on another grid. */
#ifndef SEARCH_FINALS_SECOND_GRID_H
#define SEARCH_FINALS_SECOND_GRID_H

#include "tuner/search/finals/final_inputs.h"

/* Run a variant on a grid with awkward extents and other coefficients. All slots are unloaded, and that grid stays on
 * the device.
 *   warnings lines about the problem on the device are added
 *   grid     receives the grid, as "509x251x499"; "" where the variant's rules keep no such grid
 *   verdict  receives the outcome. Without a grid that is OUTCOME_MEASURED, with the reason
 * Returns HALOTUNE_OK, HALOTUNE_MEMORY, or what backend or compiler return. */
halotune_status second_grid_check(const struct final_inputs *in, const struct proposal *proposal, struct text *warnings,
                                  char grid[64], struct verdict *verdict);

#endif
