/* exact.h: compares results with the formulas that the stencil's file gives under `exact`. */
#ifndef TUNER_VERIFY_EXACT_H
#define TUNER_VERIFY_EXACT_H

#include <signal.h>

#include "tuner/verify/box.h"

/* The distance of a field from its formula. It is the error of the numerical scheme itself, so there is no pass or
 * fail. A NaN counts as infinite. */
struct exact_error {
  double rms, max;
  double scale; /* the largest absolute value of the formula, for relative errors */
};

/* Find the formula of a field. Returns NULL if the file gives none. */
const struct exact *exact_find(const struct stencil *stencil, bool is_output, int field);

/* Fill a field from its formula.
 *   coefficients  from stencil_coefficients
 *   steps         applications of the update; 0 for an input
 *   threads       0: one for each CPU
 *   stop          another number than 0 ends it; NULL: nothing does
 *   values        receives the dense array
 * Returns HALOTUNE_OK, HALOTUNE_CANCELLED or HALOTUNE_MEMORY. */
halotune_status exact_fill(const struct stencil *stencil, const struct exact *exact, const struct grid *grid,
                           const double *coefficients, long steps, int threads, const volatile sig_atomic_t *stop,
                           double *values);

/* Measure how far `got` is from `want` in a box of points. `want` comes from exact_fill. All errors are 0 for an empty
 * box. */
struct exact_error exact_compare(const struct grid *grid, const struct box *box, const double *want, const double *got);

#endif
