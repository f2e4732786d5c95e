/* reference.h: what a stencil or scan means, computed in double precision on the CPU, plainly enough to be the judge of every
 * kernel. Fields are dense arrays of the grid's points, x fastest. */
#ifndef TUNER_VERIFY_REFERENCE_H
#define TUNER_VERIFY_REFERENCE_H

#include "stencil/analysis/analysis.h"

struct reference {
  const struct stencil *stencil;
  const struct analysis *analysis; /* of this stencil */
  struct grid grid;
  const double *coefficients; /* as stencil_coefficients gives them, or others; NULL where the stencil has none */
  int steps;                  /* applications, at least 1; more only where the stencil has an `iterate` */
  int threads;                /* 0 for one a CPU; the result does not depend on it */
};

/* Whether this can be computed, before any memory is asked for: grid and steps. Coefficients may still be NULL.
 * Returns HALOTUNE_OK or HALOTUNE_ARGUMENT. */
halotune_status reference_check(const struct reference *reference);

/* Apply a stencil or scan.
 *   inputs      each input's field; on an axis that is periodic_endpoint its last point must repeat the first
 *   outputs     receive each output's field after the last step. Skipped points (where a tap would leave the grid on an axis
 *               whose boundary is `skip`) are never written: they keep what the caller left there, and the next step reads it
 *               where `iterate` makes the output an input. inputs_share_skipped (inputs.h) sets them so that it is the same
 *               as on a device, where the buffers of inputs and outputs change places
 *   magnitudes  NULL, or one field for each output: receive the scale of rounding errors at every point, for compare_fields;
 *               for a linear stencil the sum of |weight*value|. Skipped points receive the absolute value of the output
 * Inputs, outputs and magnitudes are different arrays.
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for a grid that the stencil cannot have, for wrong `steps`, or for an array that is
 * both input and output; or HALOTUNE_MEMORY. Outputs are then as they were, or half done. Threads: any number at once. */
halotune_status reference_run(const struct reference *reference, const double *const inputs[], double *const outputs[],
                              double *const magnitudes[]);

#endif
