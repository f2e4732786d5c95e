/* prefix_sum.h: the inclusive prefix sum of a field along one axis. */
#ifndef TUNER_VERIFY_PREFIX_SUM_H
#define TUNER_VERIFY_PREFIX_SUM_H

#include <stdbool.h>

#include "stencil/file/stencil.h"

/*   axis      0, 1, 2 for x, y, z
 *   absolute  whether to add absolute values
 *   threads   as parallel_threads returned it
 *   sums      another array than `values` */
void prefix_sum(const struct grid *grid, int axis, bool absolute, int threads, const double *values, double *sums);

#endif
