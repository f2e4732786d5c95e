/* access.h: figures of a variant's memory accesses, computed from the formulas of its template. No code is run. */
#ifndef STENCIL_TEMPLATE_ACCESS_H
#define STENCIL_TEMPLATE_ACCESS_H

#include "stencil/template/template.h"

/* The figures of a block in the middle of the grid. A figure is NAN where the template does not give it, and
 * bank_conflicts where no shared memory is used. */
struct access {
  double loads_per_point; /* load instructions on global memory per computed point; a vector load counts as one */
  double over_read;       /* distinct elements that a block reads, over the inputs of its points; 1 means no halo */
  double computing_share; /* threads that compute, over the threads of the block */
  /* passes of the worst access to shared memory, over the fewest possible; 1 means no conflicts */
  double bank_conflicts;
  /* passes of loads and stores of shared memory per computed point; NAN unless a kernel's accesses were counted */
  double shared_wavefronts;
};

/* Compute the figures of the bound configuration. */
struct access access_of(const struct bindings *bindings);

/* Compute the template's estimate of the time of a launch of the bound configuration, in a unit that only this
 * template uses. It ranks variants of one template. NAN where the template gives none, or where it is not positive and
 * finite. */
double access_work(const struct bindings *bindings);

/* Compute the slowdown of one kind of access by bank conflicts. Shared memory has 32 banks of 4 bytes. An access of a
 * warp takes as many passes as there are different words in one bank. Accesses of 8 bytes per thread are served by half
 * warps, 16 bytes by quarter warps, and larger ones 16 bytes at a time.
 *   block          threads in x, y, z; at most 1024 in all
 *   stride         elements between the addresses of neighbouring threads in x, y, z; 0 or more
 *   elements       neighbouring elements that each thread touches at once: 1, 2 or 4
 *   element_bytes  4 or 8
 * Returns the passes of the worst warp over those of an access without conflicts; NAN for numbers out of range. */
double access_bank_conflicts(const long block[MAX_DIMS], const double stride[MAX_DIMS], int elements,
                             int element_bytes);

/* How often the launch fills the multiprocessors: blocks of the grid over the blocks that all multiprocessors hold at a
 * time. NAN if no block fits. */
double access_waves(const long grid[MAX_DIMS], int blocks_per_sm, int sm_count);

#endif
