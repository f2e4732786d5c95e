/* field.h: an input with ghost points around it, as the reference reads it. A tap then needs no check of where it is.
 *
 * Only ends beyond which taps reach get ghost points. With `skip` there are usually none, since no tap of a computed
 * point leaves the grid there. */
#ifndef TUNER_VERIFY_FIELD_H
#define TUNER_VERIFY_FIELD_H

#include "stencil/analysis/analysis.h"

/* How the fields of one run lie in memory. All have the same layout, so that they can exchange places between time
 * steps. */
struct layout {
  const struct stencil *stencil; /* its rules say what ghost points hold */
  const double *coefficients;    /* their values; NULL if no rule of the stencil reads one */
  struct grid grid;
  long low[MAX_DIMS];    /* ghost points before the grid's first point */
  long padded[MAX_DIMS]; /* points including the ghosts of both ends */
  long points;           /* points of a padded field */
  bool has_ghosts;
};

/* Make the layout for a problem.
 *   coefficients  their values, which must live as long as the layout; may be NULL if no field is filled
 * Returns HALOTUNE_OK, or HALOTUNE_ARGUMENT for a grid that this stencil cannot have, or
 * whose fields no memory could hold. */
halotune_status layout_make(const struct stencil *stencil, const struct analysis *analysis, const struct grid *grid,
                            const double *coefficients, struct layout *out);

/* The index in a padded field of a point with these indices in the grid. */
static inline long layout_index(const struct layout *layout, long x, long y, long z) {
  return x + layout->low[0] + layout->padded[0] * (y + layout->low[1] + layout->padded[1] * (z + layout->low[2]));
}

/* Start with {0}, end with field_free. */
struct field {
  const double *values; /* the padded field */
  double *own;          /* the same memory, or NULL if it belongs to another owner */
};

/* Copy the dense array `values`, or its absolute values, and fill the ghosts as the boundary rules of an input say.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status field_copy(struct field *field, const struct layout *layout, int input, const double *values,
                           bool absolute, int threads);

/* Fill the ghosts of a field that has become another input. */
void field_refill(struct field *field, const struct layout *layout, int input, bool absolute, int threads);

/* Like field_copy, but without a copy if there are no ghosts. Then `values` must not change while the field is used. */
halotune_status field_borrow(struct field *field, const struct layout *layout, int input, const double *values,
                             int threads);

void field_free(struct field *field);

#endif
