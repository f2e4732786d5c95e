/* search_phase.c: from proposals to results. Compilers run ahead of the device. */
#include "tuner/search/tune/search_phase.h"

#include <math.h>
#include <stdlib.h>

#include "tuner/search/hints/earlier.h"
#include "tuner/search/tune/results.h"
#include "tuner/search/variants/evaluate.h"

enum { SLOT_ANCHOR = 0, SLOT_TRIAL = 1, COMPILE_WAIT_MS = 20 };

/* So many variants may be the anchor in the default's place, one after the other. Each was right and had a time before.
 * One that is too slow is left for one that is five times as fast, so that a few are enough. */
enum { MOST_STAND_INS = 8 };

/* Of the time that the finals have, how much may go to results that have to be measured again. */
static const double settle_share = 0.25;

struct search_phase {
  const struct search_inputs *in;
  struct results results;
  double begin_ms;         /* on the schedule's clock */
  struct visited proposed; /* in this run; strategies know neither of the default nor of what earlier runs tried */
  bool is_dry;             /* the strategy has no more */
  double default_ms;       /* of the default variant as the anchor at the start; NaN where it is none */
  bool has_default_failed; /* as the anchor */
  bool is_unwatched; /* no variant is loaded as the anchor; results.anchor knows the time until then; NULL: nothing */
  struct trial *stand_in; /* the variant that is loaded in the default's place; NULL: the default, or nothing */
  int64_t stand_ins[MOST_STAND_INS]; /* the variants that took its place so far */
  int stand_in_count;
  bool is_stand_in_called; /* the next one is with the compilers */
};

/* Begin the trial of a proposal. If an earlier run has its result, it is over at once.
 *   again  the number of the result that it is to replace; 0: none */
static halotune_status begin_proposal(struct search_phase *phase, const struct proposal *proposal, long again,
                                      struct trial **out) {
  const struct search_inputs *in = phase->in;
  const struct template *template = in->space->templates[proposal->template_index];
  halotune_status status = trial_begin(in->task, template, proposal, &in->task->grid, out);
  if (status != HALOTUNE_OK) return status;
  (*out)->again = again;
  if (again == 0) status = results_recall(&phase->results, *out, phase->default_ms);
  if (status == HALOTUNE_OK) return status;
  trial_free(*out);
  *out = NULL;
  return status;
}

/* Give a trial to the compilers. If it is over, take its result. */
static halotune_status pass_on(struct search_phase *phase, struct trial *trial) {
  return trial->is_over ? results_finish(&phase->results, trial)
                        : pipeline_put(phase->in->pipeline, trial, phase->in->task);
}

/* Begin a proposal and pass it on. A variant that was proposed before is passed over. */
static halotune_status propose_variant(struct search_phase *phase, const struct proposal *proposal) {
  struct trial *trial;
  bool is_new;
  halotune_status status = visited_add(&phase->proposed, phase->in->space, proposal, &is_new);
  if (status != HALOTUNE_OK || !is_new) return status;
  status = begin_proposal(phase, proposal, 0, &trial);
  return status == HALOTUNE_OK ? pass_on(phase, trial) : status;
}

/* Measure a result once more, as the anchor asks. */
static halotune_status propose_again(struct search_phase *phase, long number) {
  const struct proposal proposal = phase->results.list[number - 1].proposal;
  struct trial *trial;
  halotune_status status = begin_proposal(phase, &proposal, number, &trial);
  return status == HALOTUNE_OK ? pass_on(phase, trial) : status;
}

static bool is_default_slow(const struct search_inputs *in) { return anchor_is_slow(in->first_ms, 0); }

/* Load the default variant as the anchor. A slow default is no anchor before it is known that nothing is faster.
 * Earlier results are not adjusted by the time of a slow default, which may be that of a single cold sample. */
static halotune_status open_anchor(struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  struct verdict verdict = {.outcome = OUTCOME_MEASURED};
  phase->default_ms = NAN;
  phase->is_unwatched = true;
  phase->begin_ms = schedule_now_ms(in->schedule);
  if (!in->first || is_default_slow(in)) return HALOTUNE_OK;
  phase->has_default_failed = true; /* until it is seen not to */
  halotune_status status = trial_load(in->backend, SLOT_ANCHOR, in->first, false, &verdict);
  if (status != HALOTUNE_OK || verdict.outcome != OUTCOME_MEASURED) return status;
  status = anchor_make(in->backend, SLOT_ANCHOR, &in->schedule->time, &verdict, &phase->results.anchor);
  if (phase->results.anchor) phase->default_ms = anchor_time_ms(phase->results.anchor);
  phase->is_unwatched = phase->has_default_failed = !phase->results.anchor;
  return status;
}

/* Take a reading of the anchor. If the anchor itself fails, the search goes on without it. */
static halotune_status read_anchor(struct search_phase *phase) {
  struct verdict verdict;
  if (phase->is_unwatched) return HALOTUNE_OK;
  halotune_status status = anchor_take(phase->results.anchor, &verdict);
  if (status == HALOTUNE_OK) phase->is_unwatched = verdict.outcome != OUTCOME_MEASURED;
  if (phase->is_unwatched && !phase->stand_in) phase->has_default_failed = true;
  return status;
}

static bool was_stand_in(const struct search_phase *phase, int64_t variant) {
  for (int i = 0; i < phase->stand_in_count; i++) {
    if (phase->stand_ins[i] == variant) return true;
  }
  return false;
}

/* The fastest variant so far that was not the anchor yet; NULL for none. */
static const struct timed_variant *best_stand_in(const struct search_phase *phase) {
  const struct timed_list *timed = phase->in->timed;
  const struct timed_variant *best = NULL;
  for (long i = 0; i < timed->count; i++) {
    const struct timed_variant *one = &timed->list[i];
    if ((one->is_default && phase->has_default_failed) || was_stand_in(phase, one->variant)) continue;
    if (!best || one->median_ms / one->scale < best->median_ms / best->scale) best = one;
  }
  return best;
}

/* Load a compiled stand-in as the anchor. A failure here is no result of the variant, which has one already. */
static halotune_status load_stand_in(struct search_phase *phase, struct trial *trial) {
  struct backend_handle *backend = phase->in->backend;
  const struct time_source *time = &phase->in->schedule->time;
  struct verdict verdict = {.outcome = OUTCOME_MEASURED};
  struct anchor **anchor = &phase->results.anchor;
  phase->is_stand_in_called = false;
  halotune_status status = backend->table->unload(backend->state, SLOT_ANCHOR);
  trial_free(phase->stand_in);
  phase->stand_in = trial;
  if (status != HALOTUNE_OK || trial->is_over) return status;
  status = trial_load(backend, SLOT_ANCHOR, trial, false, &verdict);
  if (status != HALOTUNE_OK || verdict.outcome != OUTCOME_MEASURED) return status;
  status = *anchor ? anchor_replace(*anchor, &verdict) : anchor_make(backend, SLOT_ANCHOR, time, &verdict, anchor);
  phase->is_unwatched = status != HALOTUNE_OK || verdict.outcome != OUTCOME_MEASURED;
  return status;
}

/* Whether the best variant becomes the anchor. Where there is no anchor, a slow one has to wait until the search has
 * gone on for a while: to make it the anchor takes longer than a reading of it. */
static bool is_stand_in_wanted(const struct search_phase *phase, const struct timed_variant *best) {
  const bool is_quick = !anchor_is_slow(best->median_ms, 0);
  const double waited_ms = schedule_now_ms(phase->in->schedule) - phase->begin_ms;
  if (phase->is_unwatched) return is_quick || waited_ms > anchor_period_ms(best->median_ms);
  return anchor_is_slow(anchor_own_ms(phase->results.anchor), best->median_ms);
}

/* If the anchor is missing or too slow, have the best variant compiled to take its place. The pipeline must have
 * room. */
static halotune_status call_stand_in(struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  struct trial *trial;
  if (phase->is_stand_in_called || phase->stand_in_count == MOST_STAND_INS) return HALOTUNE_OK;
  const struct timed_variant *best = best_stand_in(phase);
  if (!best || !is_stand_in_wanted(phase, best)) return HALOTUNE_OK;
  const struct template *template = in->space->templates[best->proposal.template_index];
  phase->stand_ins[phase->stand_in_count++] = best->variant;
  halotune_status status = trial_begin(in->task, template, &best->proposal, &in->task->grid, &trial);
  if (status != HALOTUNE_OK) return status;
  trial->is_stand_in = phase->is_stand_in_called = true;
  return trial->is_over ? load_stand_in(phase, trial) : pipeline_put(in->pipeline, trial, in->task);
}

static bool is_good_enough(const struct search_inputs *in) {
  return in->good_enough > 0 && in->memcpy_ms / timed_best_ms(in->timed) >= in->good_enough;
}

static bool has_enough_variants(const struct search_inputs *in) {
  return in->max_variants > 0 && in->tally->tried >= in->max_variants;
}

/* Whether the search is over: by time, by the number of variants, or because the best is good enough. */
static bool is_searched(const struct search_inputs *in) {
  return schedule_ends_search(in->schedule) || has_enough_variants(in) || is_good_enough(in);
}

/* Keep the compilers busy. */
static halotune_status feed_compilers(struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && pipeline_has_room(in->pipeline) && !is_searched(in)) {
    struct proposal proposal;
    bool have = false;
    if ((status = call_stand_in(phase)) != HALOTUNE_OK || !pipeline_has_room(in->pipeline)) break;
    long number = phase->results.anchor ? anchor_next_again(phase->results.anchor) : 0;
    if (number > 0) {
      status = propose_again(phase, number);
      continue;
    }
    if ((status = in->strategy->next(in->strategy_state, &proposal, &have)) != HALOTUNE_OK) break;
    phase->is_dry = !have;
    if (!have) break;
    status = propose_variant(phase, &proposal);
  }
  return status;
}

/* Run a compiled trial on the device, unless it has a result already, and take its result. */
static halotune_status run_trial(struct search_phase *phase, struct trial *trial) {
  const struct search_inputs *in = phase->in;
  struct results *results = &phase->results;
  halotune_status status = HALOTUNE_OK;
  if (trial->is_stand_in) return load_stand_in(phase, trial);
  if (!trial->is_over && !trial->again) status = results_find_twin(results, trial);
  if (status == HALOTUNE_OK && !trial->is_over) {
    if (!phase->is_unwatched && anchor_due(results->anchor)) status = read_anchor(phase);
    double best_ms = timed_best_ms(in->timed);
    if (status == HALOTUNE_OK) {
      status = evaluate(in->backend, SLOT_TRIAL, isfinite(best_ms) ? best_ms * results_scale(results) : 0, trial);
    }
    if (results->anchor) anchor_busy(results->anchor);
  }
  if (status == HALOTUNE_OK) return results_finish(results, trial);
  trial_free(trial);
  return status;
}

/* Run the next trial of the pipeline, if one comes in time. */
static halotune_status run_next(struct search_phase *phase, int timeout_ms) {
  struct trial *trial;
  halotune_status status = pipeline_take(phase->in->pipeline, timeout_ms, &trial);
  return status == HALOTUNE_OK && trial ? run_trial(phase, trial) : status;
}

/* Whether no more variants of a list are proposed and run.
 *   whatever_the_time  only the user or the deadline ends the list */
static bool is_list_over(const struct search_inputs *in, bool whatever_the_time) {
  return whatever_the_time ? schedule_is_stopped(in->schedule) : is_searched(in);
}

/* Run the trials that are in the pipeline. */
static halotune_status drain_pipeline(struct search_phase *phase, bool whatever_the_time) {
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && !pipeline_is_empty(phase->in->pipeline) &&
         !is_list_over(phase->in, whatever_the_time))
    status = run_next(phase, -1);
  return status;
}

/* Take the results of earlier runs. They count, and may win. Where this version writes another source, a result is
 * lost; its variant is left to the strategy, like one that nobody tried. */
static halotune_status recall_results(struct search_phase *phase, const struct proposal_list *earlier) {
  const struct search_space *space = phase->in->space;
  halotune_status status = HALOTUNE_OK;
  for (long i = 0; i < earlier->count && status == HALOTUNE_OK && !schedule_is_stopped(phase->in->schedule); i++) {
    const struct proposal *proposal = &earlier->list[i];
    struct trial *trial;
    if (visited_has(&phase->proposed, space, proposal)) continue;
    if ((status = begin_proposal(phase, proposal, 0, &trial)) != HALOTUNE_OK) break;
    if (trial->is_over && (status = visited_add(&phase->proposed, space, proposal, NULL)) == HALOTUNE_OK)
      status = results_finish(&phase->results, trial);
    else trial_free(trial);
  }
  return status;
}

/* Propose the variants of a list, in this order. The device runs trials whenever the pipeline is full. */
static halotune_status propose_list(struct search_phase *phase, const struct proposal_list *list,
                                    bool whatever_the_time) {
  struct pipeline *pipeline = phase->in->pipeline;
  halotune_status status = HALOTUNE_OK;
  for (long i = 0; i < list->count && status == HALOTUNE_OK; i++) {
    while (status == HALOTUNE_OK && !pipeline_has_room(pipeline)) status = run_next(phase, -1);
    if (is_list_over(phase->in, whatever_the_time)) break;
    if (status == HALOTUNE_OK) status = call_stand_in(phase);
    while (status == HALOTUNE_OK && !pipeline_has_room(pipeline)) status = run_next(phase, -1);
    if (status == HALOTUNE_OK) status = propose_variant(phase, &list->list[i]);
  }
  return status == HALOTUNE_OK ? drain_pipeline(phase, whatever_the_time) : status;
}

/* Where the default is slow, run one variant of each template before many variants of one template wait for the device.
 * Variants of a template that is as slow as the default's would take all the time. */
static halotune_status propose_starts(struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  if (in->rematch || !in->first || !is_default_slow(in)) return HALOTUNE_OK;
  return propose_list(phase, in->starts, false);
}

/* Take what earlier runs know. A rematch measures all of its variants anew where their results are lost, however long
 * that takes. */
static halotune_status take_earlier(struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  const enum earlier_choice choice = in->rematch ? EARLIER_WINNERS : EARLIER_ALL;
  struct proposal_list earlier;
  if (in->fresh) return HALOTUNE_OK;
  halotune_status status = earlier_variants(in->rows->store, in->rows->run, in->space, choice, &earlier);
  if (status == HALOTUNE_OK)
    status = in->rematch ? propose_list(phase, &earlier, true) : recall_results(phase, &earlier);
  proposals_free(&earlier);
  return status;
}

/* Ask the strategy for variants until the search is over. */
static halotune_status follow_strategy(struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && !is_searched(in)) {
    if ((status = feed_compilers(phase)) != HALOTUNE_OK) break;
    if (is_searched(in)) break; /* a twin needs no compiler: feed_compilers() may have had the last result */
    if (pipeline_is_empty(in->pipeline) && phase->is_dry) break;
    status = run_next(phase, COMPILE_WAIT_MS);
    run_progress_show(in->progress, "search");
  }
  return status;
}

/* The default variant runs first, whatever the time. */
static halotune_status search_variants(struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  halotune_status status = in->first ? propose_variant(phase, &in->first->proposal) : HALOTUNE_OK;
  while (status == HALOTUNE_OK && !pipeline_is_empty(in->pipeline)) status = run_next(phase, -1);
  if (status == HALOTUNE_OK) status = take_earlier(phase);
  if (status == HALOTUNE_OK) status = propose_starts(phase);
  return status == HALOTUNE_OK && !in->rematch ? follow_strategy(phase) : status;
}

/* Judge the last results, and measure again those that the anchor asks for, as far as there is time. */
static halotune_status settle_results(struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  const double now_ms = schedule_now_ms(in->schedule);
  const double end_ms = now_ms + settle_share * fmax(in->schedule->end_ms - now_ms, 0);
  halotune_status status = read_anchor(phase);
  bool is_newer = false; /* than the last reading */
  while (status == HALOTUNE_OK && phase->results.anchor && schedule_now_ms(in->schedule) < end_ms &&
         !schedule_is_stopped(in->schedule)) {
    long number = anchor_next_again(phase->results.anchor);
    if (number == 0) break;
    is_newer = true;
    status = propose_again(phase, number);
    while (status == HALOTUNE_OK && !pipeline_is_empty(in->pipeline)) status = run_next(phase, -1);
  }
  if (status == HALOTUNE_OK && is_newer) status = read_anchor(phase);
  return status == HALOTUNE_OK ? results_settle(&phase->results) : status;
}

/* Whether the search ended for another reason than time. */
static bool has_all_asked_for(const struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  const bool is_dry = phase->is_dry && pipeline_is_empty(in->pipeline);
  return is_dry || in->rematch || has_enough_variants(in) || is_good_enough(in);
}

halotune_status search_phase_run(const struct search_inputs *in, struct search_end *out) {
  const struct schedule *schedule = in->schedule;
  struct search_phase phase = {.in = in, .results = {.in = in}};
  halotune_status status = open_anchor(&phase);
  if (status == HALOTUNE_OK) status = search_variants(&phase);
  out->is_exhausted = has_all_asked_for(&phase);
  out->is_cut = schedule->has_deadline && !out->is_exhausted && schedule_now_ms(schedule) >= schedule->search_end_ms;
  pipeline_clear(in->pipeline); /* the search is over: trials that have not run are of no use any more */
  if (status == HALOTUNE_OK) status = settle_results(&phase);
  out->scale = results_scale(&phase.results);
  anchor_free(phase.results.anchor);
  halotune_status unloaded = in->backend->table->unload(in->backend->state, SLOT_ANCHOR);
  trial_free(phase.stand_in);
  results_free(&phase.results);
  visited_free(&phase.proposed);
  return status == HALOTUNE_OK ? unloaded : status;
}
