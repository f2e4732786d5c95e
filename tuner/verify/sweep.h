/* sweep.h: applies an update once to a whole grid. */
#ifndef TUNER_VERIFY_SWEEP_H
#define TUNER_VERIFY_SWEEP_H

#include "tuner/verify/box.h"
#include "tuner/verify/field.h"
#include "tuner/verify/rows.h"

/* An update that is prepared for one layout and a number of threads; end with sweep_free. */
struct sweep;

/* Prepare an update.
 *   box           the points to compute; no tap of them leaves the grid on an axis whose boundary is `skip`
 *   coefficients  their values; not needed afterwards
 *   layout        must outlive the sweep
 *   threads       from parallel_threads
 *   magnitudes    whether sweep_run computes them, too
 *   out           receives the sweep, which the caller ends with sweep_free; NULL on failure
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status sweep_make(const struct stencil *stencil, const struct box *box, const double *coefficients,
                           const struct layout *layout, int threads, bool magnitudes, struct sweep **out);

/* Compute the outputs at every point that is not skipped.
 *   inputs   each input's padded values and magnitudes
 *   outputs  each output's dense arrays for values and magnitudes */
void sweep_run(struct sweep *sweep, const struct row inputs[], const struct result_row outputs[]);

void sweep_free(struct sweep *sweep);

#endif
