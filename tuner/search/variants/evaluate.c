/* evaluate.c: runs the stages, and moves what they find into the trial. */
#include "tuner/search/variants/evaluate.h"

#include <stdlib.h>

static void take_comparison(struct trial *trial, const struct comparison *worst) {
  if (worst->points == 0) return;
  trial->result.rms_error = worst->rms_error;
  trial->result.max_error = worst->max_error;
  trial->result.max_error_units = worst->max_error_units;
}

static void take_recorded(struct trial *trial, const struct recorded_kernel *kernel) {
  if (!kernel->is_known) return;
  trial->result.registers = kernel->registers;
  trial->result.shared_bytes = kernel->shared_bytes;
  trial->result.spill_bytes = kernel->spill_bytes;
  trial->result.blocks_per_sm = kernel->blocks_per_sm;
  trial->result.occupancy = kernel->occupancy;
}

static void take_measured(struct trial *trial, struct measured *measured) {
  struct measurement *result = &trial->result;
  free(trial->samples);
  trial->samples = measured->samples; /* moved */
  measured->samples = NULL;
  result->timing = measured->timing;
  result->timing.samples = trial->samples;
  result->before = measured->before;
  result->after = measured->after;
  result->attempts = measured->attempts;
  result->is_marked = measured->is_marked;
  result->outcome = measured->verdict.outcome;
  if (!outcome_has_time(result->outcome)) trial_fail(trial, result->outcome, "%s", measured->verdict.reason);
}

static halotune_status measure_trial(struct backend_handle *backend, int slot, double best_ms, struct trial *trial) {
  struct measure_request request = {.slot = slot, .best_ms = best_ms};
  struct measured measured;
  halotune_status status = measure_slot(backend, &request, &measured);
  if (status == HALOTUNE_OK) take_measured(trial, &measured);
  measured_free(&measured);
  return status;
}

static struct candidate candidate_of(const struct trial *trial, bool is_roof) {
  return (struct candidate){
      .spec = &trial->spec, .generated = &trial->generated, .compiled = &trial->compiled, .is_roof = is_roof};
}

halotune_status trial_await(const struct backend_handle *backend, const struct trial *trial, double until_ms,
                            bool *is_compiled) {
  const struct candidate candidate = candidate_of(trial, false);
  *is_compiled = true;
  if (!backend->table->await_compile) return HALOTUNE_OK;
  return backend->table->await_compile(backend->state, &candidate, until_ms, is_compiled);
}

halotune_status trial_load(struct backend_handle *backend, int slot, const struct trial *trial, bool is_roof,
                           struct verdict *verdict) {
  const struct candidate candidate = candidate_of(trial, is_roof);
  return backend->table->load(backend->state, slot, &candidate, verdict);
}

halotune_status evaluate(struct backend_handle *backend, int slot, double best_ms, struct trial *trial) {
  struct verdict verdict = {.outcome = OUTCOME_MEASURED};
  halotune_status status = trial_load(backend, slot, trial, false, &verdict);
  if (status != HALOTUNE_OK) return status;
  take_comparison(trial, &verdict.worst);
  take_recorded(trial, &verdict.recorded);
  if (verdict.outcome != OUTCOME_MEASURED) {
    trial_fail(trial, verdict.outcome, "%s", verdict.reason);
    return HALOTUNE_OK;
  }
  status = measure_trial(backend, slot, best_ms, trial);
  halotune_status unloaded = backend->table->unload(backend->state, slot);
  return status == HALOTUNE_OK ? unloaded : status;
}
