/* blocks.h: how the blocks of variants cover a grid and the multiprocessors. */
#ifndef LIBRARY_PREDICT_BLOCKS_H
#define LIBRARY_PREDICT_BLOCKS_H

#include "base/numbers/wide_vectors.h"
#include "library/predict/work.h"

/* Members of struct predict_shape, each a list with an element for each variant. */
struct shape_columns {
  const float *tile[MAX_DIMS], *blocks, *blocks_per_sm, *cluster_blocks;
};

/* For each variant of a vector the numbers whose logarithms are the features of predict.h, and the time in which the
 * GPU starts the blocks. */
struct block_terms {
  float fill[WIDE_LANES];                      /* 1 over the exponential of the feature */
  float idle[WIDE_LANES], of_idle[WIDE_LANES]; /* of_idle: how often the logarithm of idle counts */
  float tail[WIDE_LANES], edge[WIDE_LANES], reread[WIDE_LANES];
  float dispatch_ms[WIDE_LANES];
};

/* Compute the terms of variants.
 *   count  of whole vectors
 *   out    receives count / WIDE_LANES elements */
void block_terms_of(const struct shape_columns *shapes, int count, const struct predict_work *work, double sm_count,
                    struct block_terms *out);

#endif
