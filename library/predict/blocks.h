/* blocks.h: how the blocks of variants cover a grid and the multiprocessors. */
#ifndef LIBRARY_PREDICT_BLOCKS_H
#define LIBRARY_PREDICT_BLOCKS_H

#include "library/predict/predict.h"

enum { BLOCKS_AT_ONCE = 64 }; /* whole vectors: see base/numbers/wide_vectors.h */

/* Members of struct predict_shape, each a list with an element for each variant. */
struct shape_columns {
  const float *tile[MAX_DIMS], *blocks, *blocks_per_sm, *cluster_blocks;
};

/* For each variant the numbers whose logarithms are the features of predict.h, and the time in which the GPU starts the
 * blocks. */
struct block_terms {
  float fill[BLOCKS_AT_ONCE];                          /* 1 over the exponential of the feature */
  float idle[BLOCKS_AT_ONCE], of_idle[BLOCKS_AT_ONCE]; /* of_idle: how often the logarithm of idle counts */
  float tail[BLOCKS_AT_ONCE], edge[BLOCKS_AT_ONCE], reread[BLOCKS_AT_ONCE];
  float dispatch_ms[BLOCKS_AT_ONCE];
};

/* Compute the terms of variants.
 *   first, count  which ones; at most BLOCKS_AT_ONCE */
void block_terms_of(const struct shape_columns *shapes, int first, int count, const struct predict_place *place,
                    struct block_terms *out);

#endif
