/* compare.c: computes the errors of a result, and the error that is allowed. */
#include "tuner/verify/compare.h"

#include <float.h>
#include <math.h>

double compare_rounding(enum dtype dtype) { return dtype == DTYPE_F32 ? 0x1p-24 : 0x1p-53; }

/* The following shows why this bounds the error of a linear stencil. Let u be the unit of rounding, M the sum of
 * |weight*value|, and F the operations of the update. A term of the result passes through at most F operations,
 * provided that it multiplies no temporary by itself. Each operation multiplies the term by 1+e with |e| <= u, in
 * whatever order terms are added. A term has at most F+1 coefficients and numbers, each rounded once. So all terms
 * together err by at most (2F+1)*u*M to first order. One more unit covers the higher orders while (2F+1)^2*u < 1.
 *
 * In double precision the reference rounds too, by at most F*u*M, but then no coefficient is rounded, so the sum is the
 * same. A later step reads values that err by at most k units of their own magnitudes. Its magnitude is computed from
 * these magnitudes, so the units of the steps add up. If both factors of a product are carried from earlier steps, they
 * err by k*u*ma and k*u*mb, so the product errs by up to k*u*(ma*|b| + |a|*mb) + k*k*u*u*ma*mb: row_operations.c takes
 * the bracket and the last term, over k*u, as the magnitude, with the largest k. A quotient of such values whose
 * divisor may be 0 has no bound. A scan makes one addition for each point before the last. A reference that is no more
 * precise than the kernel makes as many.
 *
 * This is an estimate, not a bound, where one step squares a temporary again and again, and for functions such as log,
 * tan, exp or pow with a power that is not whole: their magnitudes count errors to first order. */
double compare_allowed_units(const struct stencil *stencil, const struct analysis *analysis, const struct grid *grid,
                             int steps) {
  double operations = stencil->kind == STENCIL_SCAN ? (double)(grid->n[stencil->axis] - 1) : analysis->flops_per_point;
  double one_step = stencil->tolerance > 0 ? stencil->tolerance : 2 * operations + 2;
  return one_step * steps;
}

/* A unit of the expected rounding. Below the least normal number, a type's numbers are all equally far apart: there a
 * rounding errs by up to half of the least number, however small the magnitude is. */
static double unit_of(enum dtype dtype, double magnitude) {
  const double least = dtype == DTYPE_F32 ? (double)FLT_TRUE_MIN : DBL_TRUE_MIN;
  return magnitude > 0 ? fmax(compare_rounding(dtype) * magnitude, least) : 0;
}

struct comparison compare_fields(const struct grid *grid, const struct box *box, const double *want,
                                 const double *magnitudes, const double *got, enum dtype dtype, double allowed_units) {
  struct comparison result = {.points = box_points(box)};
  double sum_of_squares = 0;
  if (result.points == 0) return result;
  for (long z = box->low[2]; z < box->high[2]; z++) {
    for (long y = box->low[1]; y < box->high[1]; y++) {
      for (long x = box->low[0]; x < box->high[0]; x++) {
        long i = grid_index(grid, x, y, z);
        double error = fabs(got[i] - want[i]), units = error > 0 ? error / unit_of(dtype, magnitudes[i]) : 0;
        bool finite = isfinite(got[i]) && isfinite(want[i]) && (isfinite(magnitudes[i]) || got[i] == want[i]);
        if (!finite) error = units = INFINITY;
        if (!finite || units > allowed_units) {
          if (result.bad_points++ == 0) {
            result.first_bad[0] = x, result.first_bad[1] = y, result.first_bad[2] = z;
            result.want = want[i], result.got = got[i];
          }
        }
        result.not_finite_points += !finite;
        sum_of_squares += error * error;
        if (error > result.max_error) result.max_error = error;
        if (units > result.max_error_units) result.max_error_units = units;
      }
    }
  }
  result.rms_error = sqrt(sum_of_squares / (double)result.points);
  result.passed = result.bad_points == 0;
  return result;
}
