/* finite.h: whether the reference's results are finite, so that kernels can be compared with them. */
#ifndef TUNER_VERIFY_FINITE_H
#define TUNER_VERIFY_FINITE_H

#include "base/fail.h"
#include "tuner/verify/box.h"

/* The reference's results. */
struct finite_results {
  const struct stencil *stencil;
  enum dtype dtype;
  struct grid grid;
  struct box box;                          /* of the points that are checked */
  int steps;                               /* that the results are of */
  int threads;                             /* 0: one for each CPU */
  double *const *want, *const *magnitudes; /* of each output: dense arrays of the grid */
};

/* Check that all reference values are numbers of the element type. They are not if inputs are outside the range for
 * which the update is defined, or if the update grows beyond the type.
 * Returns HALOTUNE_OK, or HALOTUNE_ARGUMENT with the first such point and what to write into the stencil's file. */
halotune_status finite_check(const struct finite_results *results);

#endif
