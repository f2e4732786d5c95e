/* device_time.c: few samples, of which the shortest counts, since disturbances only ever add time. Of long ones the
 * first alone. */
#include "tuner/measure/sampling/device_time.h"

#include <math.h>

#include "tuner/measure/sampling/measure.h"

enum { FEW_SAMPLES = 9, WARM_MS = 2, SPAN_MOST_MS = 100 };

halotune_status device_time(struct backend_handle *backend, int slot, double *out_ms) {
  struct verdict verdict = {.outcome = OUTCOME_MEASURED};
  double times_ms[FEW_SAMPLES], best_ms = INFINITY;
  int failed, batch;
  *out_ms = NAN;
  halotune_status status = backend->table->keep_warm(backend->state, WARM_MS);
  if (status == HALOTUNE_OK)
    status = measure_batch(backend, slot, MEASURE_SAMPLE_US * 1e-3, &batch, &best_ms, &verdict);
  if (status != HALOTUNE_OK || verdict.outcome != OUTCOME_MEASURED) return status;
  const int count = (int)fmin(SPAN_MOST_MS / (best_ms * batch), FEW_SAMPLES);
  if (count == 0) {
    *out_ms = best_ms;
    return HALOTUNE_OK;
  }
  struct sample_plan plan = {.slots = &slot, .batches = &batch, .slot_count = 1, .rounds = count};
  status = backend->table->sample(backend->state, &plan, times_ms, &failed, &verdict);
  if (status != HALOTUNE_OK || verdict.outcome != OUTCOME_MEASURED) return status;
  for (int i = 0; i < count; i++) best_ms = fmin(best_ms, times_ms[i]);
  *out_ms = best_ms;
  return HALOTUNE_OK;
}
