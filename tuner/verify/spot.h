/* spot.h: computes single points of a scene that has no fields, from the rule of its inputs alone. Fields that the GPU
 * made are checked with it on grids of any size. */
#ifndef TUNER_VERIFY_SPOT_H
#define TUNER_VERIFY_SPOT_H

#include "tuner/verify/row_operations.h"
#include "tuner/verify/scene.h"

/* Up to ROW_POINTS points in a row. */
struct spot {
  long x, y, z; /* the first point */
  int count;
};

/* Draw a spot.
 *   box     where it is
 *   number  spots 0 and 1 are at the first and at the last points of the box; the others are drawn from the scene's
 *           seed */
struct spot spot_draw(const struct scene *scene, const struct box *box, int number);

/* Compute a buffer's content before a launch. The scene writes all outputs in its whole box, as gpu_recipe_applies
 * asks: then fields that exchange places share the points outside of this box.
 *   buffer  number of an input, or of an output, which come after the inputs
 *   values  receives spot->count numbers */
void spot_starts(const struct scene *scene, const struct spot *spot, int buffer, double *values);

/* The number of points that spot_reference computes in each step for a spot in the middle, where it is largest. */
long spot_reference_points(const struct scene *scene);

/* Compute the reference of all steps, on the part of the grid that the spot depends on. The stencil's inputs only
 * become outputs of the step before, and have one boundary rule on each axis: skip, periodic, periodic_endpoint, clamp
 * or zero. The update does not use the number of a point, which is another one in the part.
 *   spot     in the scene's box
 *   results  receives spot->count values and magnitudes of each output
 * Returns HALOTUNE_OK; HALOTUNE_CANCELLED if the ending of the scene's request came; or HALOTUNE_MEMORY. */
halotune_status spot_reference(const struct scene *scene, const struct spot *spot, const struct result_row results[]);

#endif
