/* shape.h: how the blocks of a variant cover a grid, found from its template's launch formulas. */
#ifndef LIBRARY_PREDICT_SHAPE_H
#define LIBRARY_PREDICT_SHAPE_H

#include "stencil/template/template.h"

/* A launch has `blocks` times the product of ceil(points / tile) over the axes whose tile is not 0. Some templates
 * launch as many blocks as the GPU holds: `blocks` is negative then, and its absolute value counts for each
 * multiprocessor. */
struct predict_shape {
  float tile[MAX_DIMS]; /* points of a block along each axis; 0: the number of blocks does not depend on the axis */
  float blocks;         /* 0: the formulas give no such rule, so that nothing is known of the blocks */
  float threads;        /* of a block */
  float blocks_per_sm;  /* blocks that a multiprocessor holds at a time */
  float cluster_blocks; /* blocks of a cluster; 1 or 0: blocks are started one by one */
  float unsteady;       /* 1: times of small launches jump from grid to grid; 0: they do not */
};

/* Find the shape of the bound configuration. It evaluates the launch formulas on a few grids, in microseconds, and
 * leaves the facts of the bindings as they were.
 *   occupancy       share of a multiprocessor's threads that run at a time; 0 or NaN: not known
 *   max_threads_sm  threads that a multiprocessor holds */
struct predict_shape predict_shape_of(const struct bindings *bindings, double occupancy, double max_threads_sm);

#endif
