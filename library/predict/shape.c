/* shape.c: evaluates launch formulas on grids of one long axis each. */
#include "library/predict/shape.h"

#include <math.h>

/* This axis has so many points that the rounding of the last block does not matter. */
static const double long_axis = 1 << 24;

/* The blocks of a launch that computes so many points. Ghost layers stay as they are. */
static double blocks_at(const struct bindings *bindings, const double points[MAX_DIMS]) {
  double *facts = bindings->variables, blocks = 1;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    const double beyond = facts[FACT_nx + axis] - facts[FACT_points_in_x + axis];
    facts[FACT_points_in_x + axis] = points[axis];
    facts[FACT_nx + axis] = points[axis] + beyond;
  }
  facts[FACT_row] = facts[FACT_nx];
  facts[FACT_plane] = facts[FACT_nx] * facts[FACT_ny];
  for (int axis = 0; axis < MAX_DIMS; axis++) blocks *= bindings_value(bindings, bindings->template->grid[axis]);
  return blocks;
}

/* The member `blocks` of a shape: the blocks of a launch of one point; or, negative, those of one multiprocessor, where
 * twice the multiprocessors get twice the blocks.
 *   least  blocks of a launch of one point */
static double least_blocks(const struct bindings *bindings, double least) {
  double *multiprocessors = &bindings->variables[FACT_multiprocessors];
  const double usual = *multiprocessors;
  *multiprocessors = 2 * usual;
  const bool grows = blocks_at(bindings, (const double[MAX_DIMS]){1, 1, 1}) == 2 * least;
  *multiprocessors = usual;
  return grows ? -least / usual : least;
}

static void find_tiles(const struct bindings *bindings, struct predict_shape *out) {
  const double least = blocks_at(bindings, (const double[MAX_DIMS]){1, 1, 1});
  if (!(least >= 1 && least < 1e9)) return;
  out->blocks = (float)least_blocks(bindings, least);
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    double points[MAX_DIMS] = {1, 1, 1};
    points[axis] = long_axis;
    const double times = blocks_at(bindings, points) / least;
    if (!isfinite(times) || times < 1) {
      out->blocks = 0;
      return;
    }
    if (times >= 2 && axis < (int)bindings->variables[FACT_dims]) {
      const double tile = long_axis / times;
      out->tile[axis] = (float)(fabs(tile - round(tile)) < 0.01 * tile ? fmax(1, round(tile)) : tile);
    }
  }
}

struct predict_shape predict_shape_of(const struct bindings *bindings, double occupancy, double max_threads_sm) {
  struct predict_shape shape = {.threads = 1, .blocks_per_sm = 1, .cluster_blocks = 1};
  double facts[FACT_COUNT];
  for (int i = 0; i < FACT_COUNT; i++) facts[i] = bindings->variables[i];
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    shape.threads *= (float)bindings_value(bindings, bindings->template->block[axis]);
    shape.cluster_blocks *= (float)bindings_optional(bindings, &bindings->template->cluster[axis]);
  }
  if (!(shape.threads >= 1)) shape.threads = 1;
  shape.unsteady = bindings_optional(bindings, &bindings->template->unsteady) != 0 ? 1 : 0;
  if (occupancy > 0 && occupancy <= 1)
    shape.blocks_per_sm = roundf((float)(occupancy * max_threads_sm) / shape.threads);
  else shape.blocks_per_sm = floorf((float)max_threads_sm / shape.threads / 2);
  if (!(shape.blocks_per_sm >= 1)) shape.blocks_per_sm = 1;
  find_tiles(bindings, &shape);
  for (int i = 0; i < FACT_COUNT; i++) bindings->variables[i] = facts[i];
  return shape;
}
