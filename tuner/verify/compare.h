/* compare.h: compares a result with the reference, and measures the errors. */
#ifndef TUNER_VERIFY_COMPARE_H
#define TUNER_VERIFY_COMPARE_H

#include "tuner/verify/box.h"

struct comparison {
  bool passed; /* at least one point was compared, and none is bad */
  long points;
  long bad_points; /* points that are not finite, or whose error is larger than allowed */
  /* points whose result or reference is infinite or NaN, or whose magnitude is, unless both values are equal */
  long not_finite_points;
  /* A point that is not finite counts as an infinite error, so these are never NaN. */
  double rms_error, max_error;
  /* In units of the expected rounding: the type's unit of rounding times the magnitude, but at least the type's least
   * number, unless the magnitude is 0. */
  double max_error_units;
  /* The first bad point, x fastest; meaningless if there is none. */
  long first_bad[MAX_DIMS];
  double want, got;
};

/* Compare a result with the reference.
 *   want, magnitudes  from reference_run
 *   got               the result, converted to double
 *   box               the points to compare; see box_computed
 *   dtype             the type in which the result was computed
 *   allowed_units     from compare_allowed_units */
struct comparison compare_fields(const struct grid *grid, const struct box *box, const double *want,
                                 const double *magnitudes, const double *got, enum dtype dtype, double allowed_units);

/* The allowed error, in units of the expected rounding. It is the stencil's own tolerance for each step. Without one,
 * it is a bound that no correct kernel of a linear stencil or scan exceeds, whatever its order of operations. */
double compare_allowed_units(const struct stencil *stencil, const struct analysis *analysis, const struct grid *grid,
                             int steps);

/* The largest relative error of one rounding to nearest: 2^-24 or 2^-53. */
double compare_rounding(enum dtype dtype);

#endif
