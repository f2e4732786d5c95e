/* iterate.h: which buffer is which field in the next time step, where no data moves and the buffers change places. */
#ifndef STENCIL_ANALYSIS_ITERATE_H
#define STENCIL_ANALYSIS_ITERATE_H

#include "stencil/file/stencil.h"

/* Lead the fields from one step to the next, as the stencil's `iterate` says: an output's buffer becomes an input's, and the
 * buffer that no input has any more takes the next output.
 *   inputs, outputs  number of the buffer that holds each field; all different; changed in place */
void iterate_advance(const struct stencil *stencil, int inputs[], int outputs[]);

#endif
