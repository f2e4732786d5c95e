/* blocks.c: one loop, which computes several variants at a time. */
#include "library/predict/blocks.h"

#include "base/numbers/branchless.h"
#include "base/numbers/wide_vectors.h"

/* The least time in which a GPU starts a block, and a cluster. On an H200, 870,000 blocks that compute little take
 * 528 us, and 218,000 clusters of two blocks 505 us. */
static const float block_ms = 0.61e-6F, cluster_ms = 2.4e-6F;

/* Where a multiprocessor has more blocks, nothing of the feature `idle` was measured on an H200. */
static const float most_blocks = 4;

/* The number of tiles along an axis; 1 if the number of blocks does not depend on it. */
static inline double tiles_along(double points, float tile) {
  return pick_double(tile > 0, round_up_double(points / (double)tile), 1);
}

/* The points of all tiles along an axis over those of the grid. The last tile along z computes no point in vain. */
static inline float covered_along(float points, float tile, bool is_z) {
  const bool is_tiled = (tile > 0) & (points > 0) & (!is_z | (tile < points));
  return pick(is_tiled, round_up(points / tile) * tile / points, 1);
}

/* Compute the terms of one vector, which begins at `first`. */
INTO_WIDE_VECTORS void compute_vector(const struct shape_columns *shapes, int first, const struct predict_work *work,
                                      double sm_count, struct block_terms *restrict out) {
  const struct shape_columns s = *shapes;
  const double nx = work->points[0], ny = work->points[1], nz = work->points[2];
  const float x = (float)nx, y = (float)ny, z = (float)nz, depth = (float)work->depth,
              multiprocessors = (float)sm_count;
  const bool is_flat = !(z > 1); /* a plane is a row then */
  const float planes = is_flat ? y : z, *const tiles_of_planes = s.tile[is_flat ? 1 : 2];
  for (int i = 0; i < WIDE_LANES; i++) {
    const int at = first + i;
    const float tile_x = s.tile[0][at], tile_y = s.tile[1][at], tile_z = s.tile[2][at];
    const double its = (double)s.blocks[at], of_tile = pick_double(its < 0, -its * sm_count, its);
    const float blocks = (float)(of_tile * tiles_along(nx, tile_x) * tiles_along(ny, tile_y) * tiles_along(nz, tile_z));
    const bool is_known = blocks >= 1;
    const float start_ms =
        pick(s.cluster_blocks[at] > 1, blocks / s.cluster_blocks[at] * cluster_ms, blocks * block_ms);
    out->dispatch_ms[i] = pick(is_known, start_ms, 0);
    const float waves = blocks / (multiprocessors * s.blocks_per_sm[at]);
    out->fill[i] = pick(is_known & (waves < 1), waves, 1);
    out->tail[i] = pick(is_known & (waves > 1), round_up(waves) / waves, 1);
    /* The logarithm of the blocks on the fullest multiprocessor over their mean number counts half where all have a
     * block: they then compute at the same time, but not all for as long. */
    const float mean = blocks / multiprocessors;
    out->idle[i] = pick(is_known & (mean < most_blocks), pick(mean < 1, mean, round_up(mean) / mean), 1);
    out->of_idle[i] = pick(mean < 1, -1, 0.5F);
    const float covered =
        covered_along(x, tile_x, false) * covered_along(y, tile_y, false) * covered_along(z, tile_z, true);
    out->edge[i] = pick(is_known, covered, 1);
    const float tile = tiles_of_planes[at];
    const float marched = pick((tile > 0) & (tile < planes), tile, planes);
    out->reread[i] = pick(is_known & (marched >= 1), (marched + depth - 1) / marched, 1);
  }
}

INTO_WIDE_VECTORS void compute_terms(const struct shape_columns *shapes, int count, const struct predict_work *work,
                                     double sm_count, struct block_terms *out) {
  for (int first = 0; first < count; first += WIDE_LANES)
    compute_vector(shapes, first, work, sm_count, &out[first / WIDE_LANES]);
}

WITH_WIDE_VECTORS static void compute_terms_wide(const struct shape_columns *shapes, int count,
                                                 const struct predict_work *work, double sm_count,
                                                 struct block_terms *out) {
  compute_terms(shapes, count, work, sm_count, out);
}

void block_terms_of(const struct shape_columns *shapes, int count, const struct predict_work *work, double sm_count,
                    struct block_terms *out) {
  if (HAS_WIDE_VECTORS) compute_terms_wide(shapes, count, work, sm_count, out);
  else compute_terms(shapes, count, work, sm_count, out);
}
