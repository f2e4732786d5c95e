/* reference.h: computes a stencil or scan in double precision on the CPU. Every kernel is compared with it, so it is
 * written as plainly as possible. Fields are dense arrays of the grid's points, x fastest. */
#ifndef TUNER_VERIFY_REFERENCE_H
#define TUNER_VERIFY_REFERENCE_H

#include "base/system/ending.h"
#include "tuner/verify/box.h"

struct reference {
  const struct stencil *stencil;
  const struct analysis *analysis; /* analysis of this stencil */
  struct grid grid;
  const double *coefficients; /* from stencil_coefficients, or others; NULL if the stencil has none */
  int steps;                  /* at least 1; more only if the stencil has an `iterate` */
  int threads;                /* 0: one for each CPU; the result does not depend on it */
  const struct box *box;      /* the points to compute, all in box_computed; NULL: all of these */
  /* the error that a kernel's values may have, over their magnitudes: comparisons closer than that allow either result
   * in the magnitudes (compare.h). 0: none */
  double doubt;
  enum dtype dtype; /* type of that kernel: whole numbers are exact up to 2^24 in f32, and up to 2^53 in f64 */
  /* called after each step but the last with the number of steps done; false ends the computation. NULL: never */
  bool (*goes_on)(void *context, int done);
  void *context;        /* context of `goes_on` */
  struct ending ending; /* asked often within each step */
};

/* Check grid and steps, before any memory is allocated. Coefficients may still be NULL.
 * Returns HALOTUNE_OK or HALOTUNE_ARGUMENT. */
halotune_status reference_check(const struct reference *reference);

/* The bytes of all fields, of the caller and of reference_run: inputs are copied if they have ghost points, or for a
 * second step. The reference was checked. */
double reference_bytes(const struct reference *reference);

/* Apply a stencil or scan.
 *   inputs      each input's field; on an axis that is periodic_endpoint the last point must repeat the first
 *   outputs     receive each output's field after the last step. Skipped points (those outside of the box, and where a
 *               tap would leave the grid on an axis whose boundary is `skip`) are never written. They keep the caller's
 *               values, and the next step reads these where `iterate` makes the output an input. inputs_share_skipped
 *               (inputs.h) sets them as on a device, where the buffers of inputs and outputs exchange places
 *   magnitudes  NULL, or one field for each output: receive the scale of rounding errors at every point, for
 *               compare_fields. For a linear stencil this is the sum of |weight*value|. Skipped points receive the
 *               absolute value of the output
 * Inputs, outputs and magnitudes are different arrays.
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for a grid that the stencil cannot have, for wrong `steps`, or for an array
 * that is both input and output; HALOTUNE_CANCELLED if `goes_on` ended it, where the outputs hold the last step done,
 * or if `ending` came; or HALOTUNE_MEMORY. After the ending or another error, outputs may be partly computed. Threads:
 * any number at once. */
halotune_status reference_run(const struct reference *reference, const double *const inputs[], double *const outputs[],
                              double *const magnitudes[]);

#endif
