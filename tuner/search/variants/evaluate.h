/* evaluate.h: the stages of one compiled variant on the device: load, verify, measure, check once more. */
#ifndef SEARCH_VARIANTS_EVALUATE_H
#define SEARCH_VARIANTS_EVALUATE_H

#include "tuner/measure/sampling/measure.h"
#include "tuner/search/variants/trial.h"

/* Wait for the recorded compile of a trial, as backend.await_compile does. Other trials are compiled already. */
halotune_status trial_await(const struct backend_handle *backend, const struct trial *trial, double until_ms,
                            bool *is_compiled);

/* Load a compiled trial's variant into a slot, as backend.load does. The trial must live while it is loaded.
 *   is_roof  the variant belongs to the copy, not to the task */
halotune_status trial_load(struct backend_handle *backend, int slot, const struct trial *trial, bool is_roof,
                           struct verdict *verdict);

/* Run a trial that is not over, and complete its result. The first stage that fails decides the outcome.
 *   slot     of the backend, empty before and after
 *   best_ms  the best time so far, as the GPU is now; 0 for none. A variant that is clearly slower is screened
 * Returns HALOTUNE_OK whatever the outcome is; else what the backend returns. */
halotune_status evaluate(struct backend_handle *backend, int slot, double best_ms, struct trial *trial);

#endif
