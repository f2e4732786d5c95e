/* access.h: what a variant's accesses to memory look like, computed from what its template says of them. Nothing is run. */
#ifndef STENCIL_TEMPLATE_ACCESS_H
#define STENCIL_TEMPLATE_ACCESS_H

#include "stencil/template/template.h"

/* Of a block in the middle of the grid. NAN where the template does not say, and where it does not use shared memory. */
struct access {
  double loads_per_point; /* instructions that read global memory, for each point that is computed; a vector is one */
  double over_read;       /* elements that a block reads, each once, over the inputs of its points; 1 is no halo */
  double computing_share; /* threads that compute, of those of the block */
  double bank_conflicts;  /* passes that the worst access to shared memory takes, over the fewest possible; 1 is none */
};

/* The figures of the bound configuration. */
struct access access_of(const struct bindings *bindings);

/* How much slower banks make one kind of access than it need be. Shared memory has 32 banks of 4 bytes. An access of a warp
 * takes as many passes as different words lie in one bank; 8 bytes a thread go by half warps, 16 by quarters, more by 16 at
 * a time.
 *   block          threads in x, y, z, at most 1024 in all
 *   stride         elements between what neighbouring threads in x, y, z touch, 0 or more
 *   elements       that each thread touches at once, from the one at its place on; 1, 2 or 4
 *   element_bytes  4 or 8
 * Returns the passes of the worst warp over those of an access without conflicts; NAN for numbers out of their range. */
double access_bank_conflicts(const long block[MAX_DIMS], const double stride[MAX_DIMS], int elements,
                             int element_bytes);

/* How often the multiprocessors are filled: blocks of the grid over those that all of them hold at a time. NAN where no block
 * fits. */
double access_waves(const long grid[MAX_DIMS], int blocks_per_sm, int sm_count);

#endif
