/* evaluate.h: one compiled variant through the stages on the device: load and verify, measure, check once more. The
 * first that fails is its outcome. */
#ifndef SEARCH_VARIANTS_EVALUATE_H
#define SEARCH_VARIANTS_EVALUATE_H

#include "tuner/measure/sampling/measure.h"
#include "tuner/search/variants/trial.h"

/* Load a compiled trial's variant into a slot, as backend.load does.
 *   is_roof  the variant belongs to the copy, not to the task */
halotune_status trial_load(struct backend_handle *backend, int slot, const struct trial *trial, bool is_roof,
                           struct verdict *verdict);

/* Run a trial that is not over. Its result is complete then.
 *   slot     of the backend, empty before and after
 *   best_ms  of the session so far; 0 for none: what is clearly slower is screened
 * Returns HALOTUNE_OK whatever comes of the variant; else what the backend returns. */
halotune_status evaluate(struct backend_handle *backend, int slot, double best_ms, struct trial *trial);

#endif
