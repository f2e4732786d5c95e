/* search_device.c: runs compiled trials on the device, and takes their results. */
#include <math.h>

#include "tuner/search/tune/search_parts.h"

/* Where the best variant takes longer than this, one waiting variant keeps the device busy. The strategy then should
 * know the time of a variant before it proposes the next one. */
static const double queue_below_ms = 5;

halotune_status search_take_ended(struct search_phase *phase) {
  struct trial *trial;
  double end_ms;
  halotune_status status = runner_take(phase->runner, &trial, &end_ms);
  if (!trial) return status;
  if (phase->watch.anchor) anchor_busy_until(phase->watch.anchor, end_ms);
  phase->running -= !trial->again;
  phase->ran++;
  if (status == HALOTUNE_OK) return results_finish(&phase->results, trial);
  trial_free(trial);
  phase->dropped += status == HALOTUNE_CANCELLED;
  return schedule_settle(phase->in->schedule, status);
}

halotune_status search_take_all_ended(struct search_phase *phase) {
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && runner_has_ended(phase->runner)) status = search_take_ended(phase);
  return status;
}

halotune_status search_take_running(struct search_phase *phase) {
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && runner_count(phase->runner) > 0) status = search_take_ended(phase);
  return status;
}

/* Take a reading of the anchor if it is due. All variants before it get their results first. Variants that still run
 * after the ended ones are taken keep the GPU busy, which the anchor must know. */
static halotune_status read_if_due(struct search_phase *phase) {
  struct watch *watch = &phase->watch;
  halotune_status status = search_take_all_ended(phase);
  if (watch->anchor && runner_count(phase->runner) > 0) anchor_busy(watch->anchor);
  if (status != HALOTUNE_OK || !watch_is_due(watch)) return status;
  status = search_take_running(phase);
  if (status == HALOTUNE_OK) status = watch_read(watch);
  const struct crew *crew = phase->in->crew;
  return status == HALOTUNE_OK && crew ? crew->table->device_scaled(crew->state, watch_scale(watch)) : status;
}

/* A recording tells the time of a compile when its trial comes to the device. Wait for it, but not beyond the end of
 * the search. The default variant, the variant that a lookup serves, and the variants of a rematch may take any time.
 *   is_compiled  receives whether the compile has ended by then */
static halotune_status await_compile(const struct search_phase *phase, const struct trial *trial, bool *is_compiled) {
  const struct search_inputs *in = phase->in;
  const struct proposal *proposal = &trial->proposal;
  const bool is_awaited = in->rematch || search_is_first(in, proposal) || search_is_served(in, proposal);
  return trial_await(in->backend, trial, is_awaited ? INFINITY : in->schedule->search_end_ms, is_compiled);
}

bool search_runner_has_room(const struct search_phase *phase) {
  const int most = timed_best_ms(phase->in->timed) < queue_below_ms ? RUNNER_MOST : 1;
  return runner_count(phase->runner) < most;
}

/* Give a compiled trial to the device. */
static halotune_status put_trial(struct search_phase *phase, struct trial *trial) {
  const struct search_inputs *in = phase->in;
  bool is_compiled = false;
  halotune_status status = read_if_due(phase);
  while (status == HALOTUNE_OK && !search_runner_has_room(phase)) status = search_take_ended(phase);
  if (status == HALOTUNE_OK) status = await_compile(phase, trial, &is_compiled);
  if (status != HALOTUNE_OK || !is_compiled) {
    phase->dropped += !trial->again;
    trial_free(trial);
    return status;
  }
  const struct search_follower *follower = in->follower;
  const double own_ms = timed_best_ms(in->timed);
  const double best_ms = follower ? fmin(own_ms, follower->best_ms(follower->context)) : own_ms;
  const bool may_be_cut = isfinite(best_ms) && !in->in_full;
  phase->running += !trial->again;
  runner_put(phase->runner, trial, may_be_cut ? best_ms * watch_scale(&phase->watch) : 0);
  return HALOTUNE_OK;
}

/* Make a trial the anchor. */
static halotune_status take_stand_in(struct search_phase *phase, struct trial *trial) {
  halotune_status status = search_take_running(phase);
  if (status == HALOTUNE_OK) return watch_take(phase->in, &phase->watch, trial);
  trial_free(trial);
  return status;
}

halotune_status search_call_stand_in(struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  struct trial *trial;
  if (!pipeline_has_room(in->pipeline)) return HALOTUNE_OK;
  halotune_status status = watch_call_stand_in(in, &phase->watch, &trial);
  if (status != HALOTUNE_OK || !trial) return status;
  return trial->is_over ? take_stand_in(phase, trial) : pipeline_put(in->pipeline, trial, in->task);
}

halotune_status search_run_trial(struct search_phase *phase, struct trial *trial) {
  struct results *results = &phase->results;
  halotune_status status = HALOTUNE_OK;
  if (trial->is_stand_in) return take_stand_in(phase, trial);
  const bool may_be_twin = !trial->is_over && !trial->again;
  if (may_be_twin && runner_has_code(phase->runner, trial)) status = search_take_running(phase);
  if (may_be_twin && status == HALOTUNE_OK) status = results_find_twin(results, trial);
  if (status == HALOTUNE_OK && trial->is_over) return results_finish(results, trial);
  if (status == HALOTUNE_OK) return put_trial(phase, trial);
  trial_free(trial);
  return status;
}

halotune_status search_run_next(struct search_phase *phase, int timeout_ms) {
  struct trial *trial;
  halotune_status status = pipeline_take(phase->in->pipeline, timeout_ms, &trial);
  if (status == HALOTUNE_OK && trial) status = search_run_trial(phase, trial);
  return status == HALOTUNE_OK ? search_take_all_ended(phase) : status;
}
