/* awkward_grids.h: grids that nobody chose for speed, on which a winner is verified once more. */
#ifndef SEARCH_FINALS_AWKWARD_GRIDS_H
#define SEARCH_FINALS_AWKWARD_GRIDS_H

#include "stencil/launch/domain.h"

enum { AWKWARD_GRIDS_MOST = 64 };

/* List grids no larger than this one along any axis, the most awkward first, so that the first that a variant's rules
 * keep is the hardest for it. Extents are primes near 5/8 of the grid's, another one along each axis. Where that breaks
 * a rule: nearer to the grid's own, for rules on how small it may be; then 2, 4, 8 and 16 times primes along x, along
 * x and y, along all axes, for rules of alignment; at last the grid itself but for one axis.
 * Returns how many there are. */
int awkward_grids(const struct grid *grid, struct grid list[AWKWARD_GRIDS_MOST]);

#endif
