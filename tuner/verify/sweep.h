/* sweep.h: applies an update once to a whole grid. */
#ifndef TUNER_VERIFY_SWEEP_H
#define TUNER_VERIFY_SWEEP_H

#include "base/system/ending.h"
#include "tuner/verify/box.h"
#include "tuner/verify/field.h"
#include "tuner/verify/row_program.h"

/* An update that is prepared for one layout and a number of threads; end with sweep_free. */
struct sweep;

/* Prepare an update.
 *   box           the points to compute, all in box_computed
 *   coefficients  their values; not needed afterwards
 *   layout        must outlive the sweep
 *   threads       from parallel_threads
 *   magnitudes    whether sweep_run computes them, too
 *   run           needed until the sweep is made
 *   out           receives the sweep, which the caller ends with sweep_free; NULL on failure
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status sweep_make(const struct stencil *stencil, const struct analysis *analysis, const struct box *box,
                           const double *coefficients, const struct layout *layout, int threads, bool magnitudes,
                           const struct kernel_run *run, struct sweep **out);

/* Compute each output at every point of the box that it does not leave out.
 *   inputs   each input's padded values and magnitudes
 *   outputs  each output's dense arrays for values and magnitudes
 *   ending   asked before each part of the box
 * Returns false if the ending came first. Then some outputs are not computed. */
bool sweep_run(struct sweep *sweep, const struct row inputs[], const struct result_row outputs[],
               const struct ending *ending);

void sweep_free(struct sweep *sweep);

#endif
