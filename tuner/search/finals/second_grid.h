/* second_grid.h: verifies a variant on another grid. */
#ifndef SEARCH_FINALS_SECOND_GRID_H
#define SEARCH_FINALS_SECOND_GRID_H

#include "tuner/search/finals/final_inputs.h"

/* Variants that are compiled for their second grids while the final rounds run. */
struct second_ahead {
  struct second_compile {
    struct task task; /* with the second grid */
    double *coefficients;
  } list[2];
  int count;
};

/* Begin the compiles of the fastest variants, one of which will most likely be the first by rank. The cache keeps their
 * machine code. A variant without a second grid is passed over. Nothing is begun where launches are too short for busy
 * processors, or where no GPU measures them.
 *   out  ended with second_grid_end, also after a failure
 * Returns HALOTUNE_OK, HALOTUNE_MEMORY, or what the compiler returns. */
halotune_status second_grid_begin(const struct final_inputs *in, struct second_ahead *out);

/* Wait for these compiles, unless the user or the deadline ends the run. The pipeline is empty then. */
void second_grid_end(const struct final_inputs *in, struct second_ahead *ahead);

/* Run a variant on a grid with awkward extents and other coefficients. All slots are unloaded, and that grid stays on
 * the device.
 *   ending   of the check, which comes only in a run that is stopped
 *   warnings lines about the problem on the device are added
 *   grid     receives the grid, as "509x251x499"; "" where the variant's rules keep no such grid, where the
 *            compiler crashed or took too long, or where the ending came first
 *   verdict  receives the outcome, also that the variant does not compile there. Without a grid that is
 *            OUTCOME_MEASURED, with the reason
 * Returns HALOTUNE_OK, HALOTUNE_MEMORY, or what backend or compiler return. */
halotune_status second_grid_check(const struct final_inputs *in, const struct proposal *proposal,
                                  const struct ending *ending, struct text *warnings, char grid[GRID_TEXT_BYTES],
                                  struct verdict *verdict);

#endif
