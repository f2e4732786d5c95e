/* anchor_watch.c: the anchor of a search, and its stand-ins. */
#include "tuner/search/tune/anchor_watch.h"

#include <math.h>

#include "tuner/search/variants/evaluate.h"

bool watch_is_default_slow(const struct search_inputs *in) { return anchor_is_slow(in->first_ms, 0); }

halotune_status watch_open(const struct search_inputs *in, struct watch *out) {
  struct verdict verdict = {.outcome = OUTCOME_MEASURED};
  *out = (struct watch){.is_blind = true, .begin_ms = schedule_now_ms(in->schedule), .default_ms = NAN};
  if (!in->first || watch_is_default_slow(in)) return HALOTUNE_OK;
  out->has_default_failed = true; /* until it is seen to work */
  halotune_status status = trial_load(in->backend, SLOT_ANCHOR, in->first, false, &verdict);
  if (status != HALOTUNE_OK || verdict.outcome != OUTCOME_MEASURED) return status;
  status = anchor_make(in->backend, SLOT_ANCHOR, &in->schedule->time, &verdict, &out->anchor);
  if (out->anchor) out->default_ms = anchor_time_ms(out->anchor);
  out->is_blind = out->has_default_failed = !out->anchor;
  return status;
}

double watch_scale(const struct watch *watch) { return watch->anchor ? anchor_scale(watch->anchor, 0) : 1; }

bool watch_is_due(const struct watch *watch) { return !watch->is_blind && anchor_due(watch->anchor); }

halotune_status watch_read(struct watch *watch) {
  struct verdict verdict;
  if (watch->is_blind) return HALOTUNE_OK;
  halotune_status status = anchor_take(watch->anchor, &verdict);
  if (status == HALOTUNE_OK) watch->is_blind = verdict.outcome != OUTCOME_MEASURED;
  if (watch->is_blind && !watch->stand_in) watch->has_default_failed = true;
  return status;
}

static bool was_stand_in(const struct watch *watch, int64_t variant) {
  for (int i = 0; i < watch->stand_in_count; i++) {
    if (watch->stand_ins[i] == variant) return true;
  }
  return false;
}

/* The fastest variant so far that was not the anchor yet; NULL for none. */
static const struct timed_variant *best_stand_in(const struct timed_list *timed, const struct watch *watch) {
  const struct timed_variant *best = NULL;
  for (long i = 0; i < timed->count; i++) {
    const struct timed_variant *one = &timed->list[i];
    if ((one->is_default && watch->has_default_failed) || was_stand_in(watch, one->variant)) continue;
    if (!best || one->median_ms / one->scale < best->median_ms / best->scale) best = one;
  }
  return best;
}

/* Whether the best variant becomes the anchor. If there is no anchor, a slow variant has to wait until the search has
 * gone on for a while: to make it the anchor takes longer than a reading of it. */
static bool is_stand_in_wanted(const struct watch *watch, const struct timed_variant *best, double now_ms) {
  const bool is_quick = !anchor_is_slow(best->median_ms, 0);
  if (watch->is_blind) return is_quick || now_ms - watch->begin_ms > anchor_period_ms(best->median_ms);
  return anchor_is_slow(anchor_own_ms(watch->anchor), best->median_ms);
}

halotune_status watch_call_stand_in(const struct search_inputs *in, struct watch *watch, struct trial **out) {
  *out = NULL;
  if (watch->is_stand_in_called || watch->stand_in_count == MOST_STAND_INS) return HALOTUNE_OK;
  /* Most calls end here. The scale is at least one half, so no stand-in is faster than half of the best time. */
  if (!watch->is_blind && !anchor_is_slow(anchor_own_ms(watch->anchor), timed_best_ms(in->timed) / 2))
    return HALOTUNE_OK;
  const struct timed_variant *best = best_stand_in(in->timed, watch);
  if (!best || !is_stand_in_wanted(watch, best, schedule_now_ms(in->schedule))) return HALOTUNE_OK;
  const struct template *template = in->space->templates[best->proposal.template_index];
  watch->stand_ins[watch->stand_in_count++] = best->variant;
  halotune_status status = trial_begin(in->task, template, &best->proposal, &in->task->grid, out);
  if (status == HALOTUNE_OK) (*out)->is_stand_in = watch->is_stand_in_called = true;
  return status;
}

halotune_status watch_take(const struct search_inputs *in, struct watch *watch, struct trial *trial) {
  struct backend_handle *backend = in->backend;
  struct verdict verdict = {.outcome = OUTCOME_MEASURED};
  watch->is_stand_in_called = false;
  halotune_status status = backend->table->unload(backend->state, SLOT_ANCHOR);
  watch->is_blind = true; /* until the stand-in has its first reading */
  trial_free(watch->stand_in);
  watch->stand_in = trial;
  if (status != HALOTUNE_OK || trial->is_over) return status;
  status = trial_load(backend, SLOT_ANCHOR, trial, false, &verdict);
  if (status != HALOTUNE_OK || verdict.outcome != OUTCOME_MEASURED) return status;
  status = watch->anchor ? anchor_replace(watch->anchor, &verdict)
                         : anchor_make(backend, SLOT_ANCHOR, &in->schedule->time, &verdict, &watch->anchor);
  watch->is_blind = status != HALOTUNE_OK || verdict.outcome != OUTCOME_MEASURED;
  return status;
}

halotune_status watch_close(const struct search_inputs *in, struct watch *watch) {
  anchor_free(watch->anchor);
  halotune_status status = in->backend->table->unload(in->backend->state, SLOT_ANCHOR);
  trial_free(watch->stand_in);
  return status;
}
