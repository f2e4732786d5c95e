/* compare.h: whether a result is what the reference says, and by how much it is not. */
#ifndef TUNER_VERIFY_COMPARE_H
#define TUNER_VERIFY_COMPARE_H

#include "tuner/verify/box.h"

struct comparison {
  bool passed; /* something was compared, and no point of it is bad */
  long points;
  long bad_points;        /* those that are not finite, or err by more than is allowed */
  long not_finite_points; /* of these: where the result or the reference is infinite or NaN, or they
                             differ and the magnitude is */
  /* A point that is not finite counts as an infinite error, so that these are never NaN. */
  double rms_error, max_error;
  double max_error_units; /* in units of the expected rounding: the type's unit of rounding times the magnitude */
  /* The first bad point, x fastest; meaningless where there is none. */
  long first_bad[MAX_DIMS];
  double want, got;
};

/* Compare a result with the reference.
 *   want, magnitudes  as reference_run gives them
 *   got               the result, widened to double
 *   box               the points to compare; see box_whole and box_computed
 *   dtype             the type in which the result was computed
 *   allowed_units     as compare_allowed_units gives it */
struct comparison compare_fields(const struct grid *grid, const struct box *box, const double *want,
                                 const double *magnitudes, const double *got, enum dtype dtype, double allowed_units);

/* The error that is allowed, in units of the expected rounding: the stencil's own tolerance for each step, or else a bound
 * that no correct kernel of a linear stencil or scan exceeds, whatever its order of operations. */
double compare_allowed_units(const struct stencil *stencil, const struct analysis *analysis, const struct grid *grid,
                             int steps);

/* The largest relative error of one rounding to nearest: 2^-24 or 2^-53. */
double compare_rounding(enum dtype dtype);

#endif
