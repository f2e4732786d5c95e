/* field.h: an input as the reference reads it, with ghost points around it, so that a tap needs no question of where it is.
 *
 * Only axes that need them get ghost points: never those whose boundary is `skip`, since no tap of a computed point leaves
 * the grid there. */
#ifndef TUNER_VERIFY_FIELD_H
#define TUNER_VERIFY_FIELD_H

#include "stencil/analysis/analysis.h"

/* How the fields of one run lie in memory: all alike, so that they can trade places between time steps. */
struct layout {
  struct grid grid;
  enum boundary boundary[MAX_DIMS];
  long low[MAX_DIMS];    /* ghost points before the grid's first point */
  long padded[MAX_DIMS]; /* points with the ghosts of both ends */
  long points;           /* of a padded field */
  bool has_ghosts;
};

/* The layout for a problem. Returns HALOTUNE_OK, or HALOTUNE_ARGUMENT for a grid that this stencil cannot have or whose
 * fields no memory could hold. */
halotune_status layout_make(const struct stencil *stencil, const struct analysis *analysis, const struct grid *grid,
                            struct layout *out);

/* Where a point, given by its indices in the grid, stands in a padded field. */
static inline long layout_index(const struct layout *layout, long x, long y, long z) {
  return x + layout->low[0] + layout->padded[0] * (y + layout->low[1] + layout->padded[1] * (z + layout->low[2]));
}

/* Start with {0}, end with field_free. */
struct field {
  const double *values; /* padded */
  double *own;          /* the same, or NULL where another's memory serves */
};

/* Make the field a copy of the dense array `values`, or of its absolute values, with ghosts as the boundary rules say.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status field_copy(struct field *field, const struct layout *layout, const double *values, bool absolute,
                           int threads);

/* The same without a copy where there are no ghosts: `values` must then stay as it is while the field is used. */
halotune_status field_borrow(struct field *field, const struct layout *layout, const double *values, int threads);

void field_free(struct field *field);

#endif
