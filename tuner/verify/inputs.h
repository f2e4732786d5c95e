/* inputs.h: fields to test with: seeded, never constant, without zeros, and the same whatever the number of threads. */
#ifndef TUNER_VERIFY_INPUTS_H
#define TUNER_VERIFY_INPUTS_H

#include "stencil/analysis/analysis.h"

enum input_kind {
  INPUT_SMOOTH, /* a sum of plane waves, periodic where the axis is, with other wave numbers along each axis */
  INPUT_RANDOM, /* evenly spread from -1 to 1 */
  INPUT_WIDE,   /* of either sign, from 2^-30 to 2^30 in size, each power of two as often */
  INPUT_KIND_COUNT
};
extern const char *const input_kind_names[INPUT_KIND_COUNT];

struct inputs {
  enum input_kind kind;
  uint64_t seed;
  enum dtype dtype;  /* values are rounded to it, so that a kernel and the reference start from the same numbers */
  int threads;       /* 0 for one a CPU */
  bool is_nonlinear; /* the update is not linear: most functions are defined, and no power overflows, from 1/4 to 1 */
};

/* Fill one field of a stencil. Inputs that its file gives `values` lie there, others of an update that is not linear from 1/4 to 1, spread
 * by their kind; else sizes are at most 1, but for INPUT_WIDE.
 *   field   tells the fields of a seed apart, such as the number of the input
 *   values  receives the dense array. On an axis that is periodic_endpoint the last point repeats the first
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status inputs_fill(const struct inputs *inputs, int field, const struct stencil *stencil,
                            const struct grid *grid, double *values);

/* Before several steps: give the fields that change places in `iterate`, inputs and outputs, equal values at the points that
 * `skip` leaves out, those of the first such input. Nobody ever writes them, so that a buffer's skipped points are the same
 * as whichever of these fields it holds.
 *   inputs, outputs  dense arrays by the stencil's numbers; those that do not change places stay as they are */
void inputs_share_skipped(const struct stencil *stencil, const struct analysis *analysis, const struct grid *grid,
                          double *const inputs[], double *const outputs[]);

#endif
