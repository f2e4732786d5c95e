/* prefix_sum.h: the inclusive prefix sum of a field along one axis. */
#ifndef TUNER_VERIFY_PREFIX_SUM_H
#define TUNER_VERIFY_PREFIX_SUM_H

#include <stdbool.h>

#include "stencil/file/stencil.h"

/* Compute the prefix sum.
 *   axis      0, 1, 2 for x, y, z
 *   absolute  whether to add absolute values
 *   threads   from parallel_threads
 *   sums      receives the sums; not the same array as `values` */
void prefix_sum(const struct grid *grid, int axis, bool absolute, int threads, const double *values, double *sums);

#endif
