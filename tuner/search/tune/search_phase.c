/* search_phase.c: proposals to results. Compilers run ahead of the device; every result is stored before the next
 * variant runs. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "tuner/search/hints/earlier.h"
#include "tuner/search/tune/results.h"
#include "tuner/search/variants/evaluate.h"
#include "tuner/search/variants/proposals.h"

enum { SLOT_ANCHOR = 0, SLOT_TRIAL = 1, COMPILE_WAIT_MS = 20 };

/* So many variants may take the default's place as the anchor, one after the other; they were right and had a time
 * before. Of those that are too slow, each is left for one that is five times as fast, so that a few are enough. */
enum { MOST_STAND_INS = 8 };

/* Of the time that the finals have, how much may go to results that have to be measured again. */
static const double settle_share = 0.25;

struct phase {
  struct session *session;
  struct results results;
  double default_ms;       /* of the default variant as the anchor at the start; NaN where it is none */
  struct visited proposed; /* in this run; strategies know neither of the default nor of what earlier runs tried */
  bool is_dry;             /* the strategy has no more */
  bool
      is_unwatched; /* no variant is loaded as the anchor; results.anchor is what was seen until then, NULL for nothing */
  struct trial *stand_in;            /* what is loaded in the default's place; NULL for the default, or nothing */
  int64_t stand_ins[MOST_STAND_INS]; /* those that took its place so far */
  int stand_in_count;
  bool is_stand_in_called; /* the next one is with the compilers */
  bool has_default_failed; /* as the anchor */
  double begin_ms;         /* clock_ms() */
};

/* --- proposals
 * ---------------------------------------------------------------------------------------------------------- */

/* Begin one proposal, with what an earlier run may know of it.
 *   again  the number of the result that it is to replace; 0: none */
static halotune_status begin(struct phase *phase, const struct proposal *proposal, long again, struct trial **out) {
  struct session *session = phase->session;
  const struct template *template = session->space.templates[proposal->template_index];
  halotune_status status = trial_begin(session->task, template, proposal, &session->task->grid, out);
  if (status != HALOTUNE_OK) return status;
  (*out)->again = again;
  if (again == 0) status = results_recall(&phase->results, *out, phase->default_ms);
  if (status == HALOTUNE_OK) return status;
  trial_free(*out);
  *out = NULL;
  return status;
}

/* Bring a trial to the compilers, or to its end. */
static halotune_status pass_on(struct phase *phase, struct trial *trial) {
  return trial->is_over ? results_finish(&phase->results, trial)
                        : pipeline_put(phase->session->pipeline, trial, phase->session->task);
}

/* Both for one proposal; one that was proposed before is passed over. */
static halotune_status propose(struct phase *phase, const struct proposal *proposal) {
  const struct search_space *space = &phase->session->space;
  struct trial *trial;
  bool is_new;
  halotune_status status = visited_add(&phase->proposed, space, proposal, &is_new);
  if (status != HALOTUNE_OK || !is_new) return status;
  status = begin(phase, proposal, 0, &trial);
  return status == HALOTUNE_OK ? pass_on(phase, trial) : status;
}

/* Measure a result once more, as the anchor asks. */
static halotune_status propose_again(struct phase *phase, long number) {
  const struct proposal proposal = phase->results.list[number - 1].proposal;
  struct trial *trial;
  halotune_status status = begin(phase, &proposal, number, &trial);
  return status == HALOTUNE_OK ? pass_on(phase, trial) : status;
}

/* --- the device
 * --------------------------------------------------------------------------------------------------------- */

static bool is_default_slow(const struct session *session) { return anchor_is_slow(session->first_ms, 0); }

/* Load the default variant, and begin to watch it. One that is slow is no anchor before it is known that nothing is
 * faster; nor are earlier results adjusted by its time now, which may be that of a single cold sample. */
static halotune_status open_anchor(struct phase *phase) {
  struct session *session = phase->session;
  struct verdict verdict = {.outcome = OUTCOME_MEASURED};
  static const struct time_source clock = {NULL, NULL};
  phase->default_ms = NAN;
  phase->is_unwatched = true;
  phase->begin_ms = clock_ms();
  if (!session->first) return HALOTUNE_OK;
  if (is_default_slow(session)) return HALOTUNE_OK;
  phase->has_default_failed = true; /* until it is seen not to */
  halotune_status status = session_load(session, SLOT_ANCHOR, session->first, false, &verdict);
  if (status != HALOTUNE_OK || verdict.outcome != OUTCOME_MEASURED) return status;
  status = anchor_make(session->tools->backend, SLOT_ANCHOR, &clock, &verdict, &phase->results.anchor);
  if (phase->results.anchor) phase->default_ms = anchor_time_ms(phase->results.anchor);
  phase->is_unwatched = phase->has_default_failed = !phase->results.anchor;
  return status;
}

/* A reading. The anchor's own failure costs the anchor, not the search. */
static halotune_status read_anchor(struct phase *phase) {
  struct verdict verdict;
  if (phase->is_unwatched) return HALOTUNE_OK;
  halotune_status status = anchor_take(phase->results.anchor, &verdict);
  if (status == HALOTUNE_OK) phase->is_unwatched = verdict.outcome != OUTCOME_MEASURED;
  if (phase->is_unwatched && !phase->stand_in) phase->has_default_failed = true;
  return status;
}

static bool was_stand_in(const struct phase *phase, int64_t variant) {
  for (int i = 0; i < phase->stand_in_count; i++) {
    if (phase->stand_ins[i] == variant) return true;
  }
  return false;
}

/* The fastest variant so far but for those that were the anchor; NULL for none. */
static const struct timed_variant *best_stand_in(const struct phase *phase) {
  const struct timed_list *timed = &phase->session->timed;
  const struct timed_variant *best = NULL;
  for (long i = 0; i < timed->count; i++) {
    const struct timed_variant *one = &timed->list[i];
    if ((one->is_default && phase->has_default_failed) || was_stand_in(phase, one->variant)) continue;
    if (!best || one->median_ms / one->scale < best->median_ms / best->scale) best = one;
  }
  return best;
}

/* It is compiled: load it, and go on watching. What goes wrong with it is no result of the variant, which has one. */
static halotune_status take_stand_in(struct phase *phase, struct trial *trial) {
  struct session *session = phase->session;
  struct backend_handle *backend = session->tools->backend;
  static const struct time_source clock = {NULL, NULL};
  struct verdict verdict = {.outcome = OUTCOME_MEASURED};
  struct anchor **anchor = &phase->results.anchor;
  phase->is_stand_in_called = false;
  halotune_status status = backend->table->unload(backend->state, SLOT_ANCHOR);
  trial_free(phase->stand_in);
  phase->stand_in = trial;
  if (status != HALOTUNE_OK || trial->is_over) return status;
  status = session_load(session, SLOT_ANCHOR, trial, false, &verdict);
  if (status != HALOTUNE_OK || verdict.outcome != OUTCOME_MEASURED) return status;
  status = *anchor ? anchor_replace(*anchor, &verdict) : anchor_make(backend, SLOT_ANCHOR, &clock, &verdict, anchor);
  phase->is_unwatched = status != HALOTUNE_OK || verdict.outcome != OUTCOME_MEASURED;
  return status;
}

/* Whether this one is to be the anchor. Where there is none, one that is slow itself only once others have had their
 * time: to make it the anchor takes longer than a reading of it. */
static bool is_wanted(const struct phase *phase, const struct timed_variant *best) {
  const bool is_quick = !anchor_is_slow(best->median_ms, 0);
  if (phase->is_unwatched) return is_quick || clock_ms() - phase->begin_ms > anchor_period_ms(best->median_ms);
  return anchor_is_slow(anchor_own_ms(phase->results.anchor), best->median_ms);
}

/* Where no anchor is loaded, or one that is too slow, have the best variant compiled to take its place. The pipeline
 * has room. */
static halotune_status call_stand_in(struct phase *phase) {
  struct session *session = phase->session;
  struct trial *trial;
  if (phase->is_stand_in_called || phase->stand_in_count == MOST_STAND_INS) return HALOTUNE_OK;
  const struct timed_variant *best = best_stand_in(phase);
  if (!best || !is_wanted(phase, best)) return HALOTUNE_OK;
  const struct template *template = session->space.templates[best->proposal.template_index];
  phase->stand_ins[phase->stand_in_count++] = best->variant;
  halotune_status status = trial_begin(session->task, template, &best->proposal, &session->task->grid, &trial);
  if (status != HALOTUNE_OK) return status;
  trial->is_stand_in = phase->is_stand_in_called = true;
  return trial->is_over ? take_stand_in(phase, trial) : pipeline_put(session->pipeline, trial, session->task);
}

/* Keep the compilers busy. */
static halotune_status feed(struct phase *phase) {
  struct session *session = phase->session;
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && pipeline_has_room(session->pipeline) && !session_is_searched(session)) {
    struct proposal proposal;
    bool have = false;
    if ((status = call_stand_in(phase)) != HALOTUNE_OK || !pipeline_has_room(session->pipeline)) break;
    long number = phase->results.anchor ? anchor_next_again(phase->results.anchor) : 0;
    if (number > 0) {
      status = propose_again(phase, number);
      continue;
    }
    if ((status = session->options->strategy->next(session->strategy, &proposal, &have)) != HALOTUNE_OK) break;
    phase->is_dry = !have;
    if (!have) break;
    status = propose(phase, &proposal);
  }
  return status;
}

/* Run a compiled trial on the device, if it needs that, and take its result. */
static halotune_status run(struct phase *phase, struct trial *trial) {
  struct session *session = phase->session;
  struct results *results = &phase->results;
  halotune_status status = HALOTUNE_OK;
  if (trial->is_stand_in) return take_stand_in(phase, trial);
  if (!trial->is_over && !trial->again) status = results_find_twin(results, trial);
  if (status == HALOTUNE_OK && !trial->is_over) {
    if (!phase->is_unwatched && anchor_due(results->anchor)) status = read_anchor(phase);
    double best_ms = timed_best_ms(&session->timed);
    if (status == HALOTUNE_OK) {
      status = evaluate(session->tools->backend, SLOT_TRIAL, isfinite(best_ms) ? best_ms * results_scale(results) : 0,
                        trial);
    }
    if (results->anchor) anchor_busy(results->anchor);
  }
  if (status == HALOTUNE_OK) return results_finish(results, trial);
  trial_free(trial);
  return status;
}

/* Take one trial out of the pipeline and run it, where there is one in time. */
static halotune_status run_next(struct phase *phase, int timeout_ms) {
  struct trial *trial;
  halotune_status status = pipeline_take(phase->session->pipeline, timeout_ms, &trial);
  return status == HALOTUNE_OK && trial ? run(phase, trial) : status;
}

/* Whether to propose and run no more of a list. */
static bool is_over(const struct phase *phase, bool whatever_the_time) {
  return whatever_the_time ? session_is_stopped(phase->session) : session_is_searched(phase->session);
}

/* Run what is in the pipeline. */
static halotune_status drain(struct phase *phase, bool whatever_the_time) {
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && !pipeline_is_empty(phase->session->pipeline) && !is_over(phase, whatever_the_time))
    status = run_next(phase, -1);
  return status;
}

/* Of what earlier runs tried, their results count, and may win. A result that is lost, as where this version writes
 * another source, is none: its variant is left to the strategy, like any that was not tried. */
static halotune_status recall_results(struct phase *phase, const struct proposal_list *earlier) {
  struct session *session = phase->session;
  halotune_status status = HALOTUNE_OK;
  for (long i = 0; i < earlier->count && status == HALOTUNE_OK && !session_is_stopped(session); i++) {
    const struct proposal *proposal = &earlier->list[i];
    struct trial *trial;
    if (visited_has(&phase->proposed, &session->space, proposal)) continue;
    if ((status = begin(phase, proposal, 0, &trial)) != HALOTUNE_OK) break;
    if (trial->is_over && (status = visited_add(&phase->proposed, &session->space, proposal, NULL)) == HALOTUNE_OK)
      status = results_finish(&phase->results, trial);
    else trial_free(trial);
  }
  return status;
}

/* Propose them, in this order. The device works wherever the pipeline is full. */
static halotune_status propose_list(struct phase *phase, const struct proposal_list *list, bool whatever_the_time) {
  struct session *session = phase->session;
  halotune_status status = HALOTUNE_OK;
  for (long i = 0; i < list->count && status == HALOTUNE_OK; i++) {
    while (status == HALOTUNE_OK && !pipeline_has_room(session->pipeline)) status = run_next(phase, -1);
    if (is_over(phase, whatever_the_time)) break;
    if (status == HALOTUNE_OK) status = call_stand_in(phase);
    while (status == HALOTUNE_OK && !pipeline_has_room(session->pipeline)) status = run_next(phase, -1);
    if (status == HALOTUNE_OK) status = propose(phase, &list->list[i]);
  }
  return status == HALOTUNE_OK ? drain(phase, whatever_the_time) : status;
}

/* All of the variants of a rematch, which has no strategy: where a result is lost, they are measured anew, however long
 * that takes. */
static halotune_status propose_all(struct phase *phase, const struct proposal_list *earlier) {
  return propose_list(phase, earlier, true);
}

/* Where the default is slow, it is known of each template how slow it is before many of its variants wait for the
 * device: those of one like the default's would take all the time. */
static halotune_status propose_starts(struct phase *phase) {
  const struct session *session = phase->session;
  if (session->options->rematch || !session->first || !is_default_slow(session)) return HALOTUNE_OK;
  return propose_list(phase, &session->starts, false);
}

static halotune_status take_earlier(struct phase *phase) {
  struct session *session = phase->session;
  const struct tune_options *options = session->options;
  struct proposal_list earlier;
  if (options->fresh) return HALOTUNE_OK;
  halotune_status status = earlier_variants(session->tools->store, session->run_id, &session->space,
                                            options->rematch ? EARLIER_WINNERS : EARLIER_ALL, &earlier);
  if (status == HALOTUNE_OK) status = options->rematch ? propose_all(phase, &earlier) : recall_results(phase, &earlier);
  proposals_free(&earlier);
  return status;
}

/* The default variant first, whatever the time. */
static halotune_status search(struct phase *phase) {
  struct session *session = phase->session;
  halotune_status status = session->first ? propose(phase, &session->first->proposal) : HALOTUNE_OK;
  while (status == HALOTUNE_OK && !pipeline_is_empty(session->pipeline)) status = run_next(phase, -1);
  if (status == HALOTUNE_OK) status = take_earlier(phase);
  if (status == HALOTUNE_OK) status = propose_starts(phase);
  while (status == HALOTUNE_OK && !session->options->rematch && !session_is_searched(session)) {
    if ((status = feed(phase)) != HALOTUNE_OK) break;
    if (session_is_searched(session)) break; /* a twin needs no compiler: feed() may have had the last result */
    if (pipeline_is_empty(session->pipeline) && phase->is_dry) break;
    status = run_next(phase, COMPILE_WAIT_MS);
    session_show(session, "search");
  }
  return status;
}

/* Judge the last variants, and measure once more what has to be. */
static halotune_status settle(struct phase *phase) {
  struct session *session = phase->session;
  double end_ms = clock_ms() + settle_share * fmax(session->end_ms - clock_ms(), 0);
  halotune_status status = read_anchor(phase);
  bool is_newer = false; /* than the last reading */
  while (status == HALOTUNE_OK && phase->results.anchor && clock_ms() < end_ms && !session_is_stopped(session)) {
    long number = anchor_next_again(phase->results.anchor);
    if (number == 0) break;
    is_newer = true;
    status = propose_again(phase, number);
    while (status == HALOTUNE_OK && !pipeline_is_empty(session->pipeline)) status = run_next(phase, -1);
  }
  if (status == HALOTUNE_OK && is_newer) status = read_anchor(phase);
  return status == HALOTUNE_OK ? results_settle(&phase->results) : status;
}

/* Whether time was no reason for the search to end. */
static bool has_all_asked_for(const struct phase *phase) {
  const struct session *session = phase->session;
  const struct tune_options *options = session->options;
  const bool is_dry = phase->is_dry && pipeline_is_empty(session->pipeline);
  const bool is_enough = options->max_variants > 0 && session->result->tried >= options->max_variants;
  return is_dry || options->rematch || is_enough || session_is_good_enough(session);
}

/* Whether the search ended for want of time, though the budget had some left. */
static bool is_cut(const struct session *session) {
  return session->has_deadline && !session->is_over && clock_ms() >= session->search_end_ms;
}

halotune_status session_search(struct session *session) {
  struct backend_handle *backend = session->tools->backend;
  struct phase phase = {.session = session, .results = {.session = session}};
  halotune_status status = open_anchor(&phase);
  if (status == HALOTUNE_OK) status = search(&phase);
  session->is_over = has_all_asked_for(&phase);
  session->is_cut = is_cut(session);
  pipeline_clear(session->pipeline); /* the search is over: what it has not run has no use any more */
  if (status == HALOTUNE_OK) status = settle(&phase);
  anchor_free(phase.results.anchor);
  halotune_status unloaded = backend->table->unload(backend->state, SLOT_ANCHOR);
  trial_free(phase.stand_in);
  results_free(&phase.results);
  visited_free(&phase.proposed);
  return status == HALOTUNE_OK ? unloaded : status;
}
