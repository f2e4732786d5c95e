/* awkward_grids.h: grids that nobody would choose for speed. A winner is verified on one of them. */
#ifndef SEARCH_FINALS_AWKWARD_GRIDS_H
#define SEARCH_FINALS_AWKWARD_GRIDS_H

#include "stencil/launch/domain.h"

enum { AWKWARD_GRIDS_MOST = 64 };

/* List grids that are not larger than this one along any axis. The most awkward come first, so that the first grid that
 * a variant's rules keep is the hardest for it. The order is:
 *   1. primes near 5/8 of the extents, a different one along each axis;
 *   2. primes nearer to the extents, for rules that want a large grid;
 *   3. 2, 4, 8 and 16 times primes along x, then along x and y, then along all axes, for rules about alignment;
 *   4. the grid itself with one axis changed.
 * Returns how many there are. */
int awkward_grids(const struct grid *grid, struct grid list[AWKWARD_GRIDS_MOST]);

#endif
