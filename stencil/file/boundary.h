/* boundary.h: what an update needs of boundary rules; private to stencil/file. */
#ifndef STENCIL_FILE_BOUNDARY_H
#define STENCIL_FILE_BOUNDARY_H

#include "stencil/file/stencil.h"

/* The reach of an output's own taps towards one end of an axis. The update must be read.
 *   out  receives the reach, at least 0
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status boundary_output_reach(const struct stencil *stencil, int output, int axis, enum edge_side side,
                                      int *out);

#endif
