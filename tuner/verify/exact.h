/* exact.h: a scheme against the formulas that its file gives under `exact`. */
#ifndef TUNER_VERIFY_EXACT_H
#define TUNER_VERIFY_EXACT_H

#include "tuner/verify/box.h"

/* How far a field is from its formula: the scheme's own error, with no pass or fail. A NaN counts as infinite. */
struct exact_error {
  double rms, max;
  double scale; /* the largest absolute value of the formula, to relate them to */
};

/* The formula of a field; NULL where the file gives none. */
const struct exact *exact_find(const struct stencil *stencil, bool is_output, int field);

/* Fill a field from its formula.
 *   coefficients  as stencil_coefficients gave them
 *   threads       0 for one a CPU
 *   values        receives the dense array
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status exact_fill(const struct stencil *stencil, const struct exact *exact, const struct grid *grid,
                           const double *coefficients, int threads, double *values);

/* How far `got` is from `want`, a field that exact_fill made, in a box of points; zeros where it is empty. */
struct exact_error exact_compare(const struct grid *grid, const struct box *box, const double *want, const double *got);

#endif
