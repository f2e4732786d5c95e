/* iterate.h: which buffer holds which field in the next time step. No data moves; the buffers exchange their roles. */
#ifndef STENCIL_ANALYSIS_ITERATE_H
#define STENCIL_ANALYSIS_ITERATE_H

#include "stencil/file/stencil.h"

/* Advance the fields by one step, as the stencil's `iterate` says. The buffer of an output becomes that of an input.
 * Each output whose buffer was taken gets a buffer that no input uses any more.
 *   inputs, outputs  number of the buffer that holds each field; all different; changed in place */
void iterate_advance(const struct stencil *stencil, int inputs[], int outputs[]);

#endif
