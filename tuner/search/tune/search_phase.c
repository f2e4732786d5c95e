/* search_phase.c: from proposals to results. Compilers run ahead of the device. */
#include "tuner/search/tune/search_phase.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory/array.h"
#include "base/system/trace.h"
#include "tuner/measure/finals/finals.h"
#include "tuner/measure/finals/finals_plan.h"
#include "tuner/search/hints/earlier_runs.h"
#include "tuner/search/strategy/proposer.h"
#include "tuner/search/tune/anchor_watch.h"
#include "tuner/search/tune/results.h"
#include "tuner/search/variants/trial_runner.h"

enum {
  SLOT_TRIAL = SLOT_ANCHOR + 1,
  COMPILE_WAIT_MS = 20,
  BUSY_WAIT_MS = 2, /* while a variant runs or the strategy thinks, either may end before the next compile does */
  BURST_MOST = 256  /* results of the crew in one transaction; members must not wait long for their next variants */
};

/* Where the best variant takes longer than this, one waiting variant keeps the device busy. The strategy then should
 * know the time of a variant before it proposes the next one. */
static const double queue_below_ms = 5;

/* Where the default takes longer than this, the strategy proposes nothing before the starts have results. Until then it
 * cannot know templates that are as slow, and a few dozen of their variants would take seconds. */
static const double early_below_ms = 50;

/* The share of the finals' time that may be used to measure results again. */
static const double settle_share = 0.25;

/* A variant that a member took and did not run. */
struct lost_variant {
  struct proposal proposal;
  char why[MEASUREMENT_WHY_BYTES];
};

struct search_phase {
  const struct search_inputs *in;
  struct watch watch;
  struct results results;
  struct proposer *proposer;
  struct runner *runner;
  long running;            /* trials in the runner that give new results */
  long ran;                /* trials that the device ran, without those of the crew and of earlier runs */
  long dropped;            /* variants whose compile did not end in time: they have no result */
  struct visited proposed; /* proposals of this run; strategies do not know the default and what earlier runs tried */
  struct lost_variant *lost;
  long lost_count, lost_capacity;
  const char *why;    /* why the next variant is proposed */
  bool is_dry;        /* the strategy has no more variants */
  bool is_thinking;   /* the strategy has none yet */
  bool is_crews_turn; /* where both have room, the device and the crew take turns */
};

/* Begin the trial of a proposal. If an earlier run has its result, it is over at once.
 *   again  the number of the result that this trial replaces; 0: none */
static halotune_status begin_proposal(struct search_phase *phase, const struct proposal *proposal, long again,
                                      struct trial **out) {
  const struct search_inputs *in = phase->in;
  const struct template *template = in->space->templates[proposal->template_index];
  halotune_status status = trial_begin(in->task, template, proposal, &in->task->grid, out);
  if (status != HALOTUNE_OK) return status;
  (*out)->again = again;
  if (again == 0 && phase->why) snprintf((*out)->why, sizeof(*out)->why, "%s", phase->why);
  if (again == 0) status = results_recall(&phase->results, *out, phase->watch.default_ms);
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

static int crew_room(const struct search_phase *phase) {
  const struct crew *crew = phase->in->crew;
  return crew && !phase->in->rematch ? crew->table->room(crew->state) : 0;
}

static int crew_away(const struct search_phase *phase) {
  const struct crew *crew = phase->in->crew;
  return crew ? crew->table->away(crew->state) : 0;
}

/* Whether the device takes one more variant. A device that only leads takes some if there is no member. */
static bool device_has_room(const struct search_phase *phase) {
  const struct crew *crew = phase->in->crew;
  const bool is_needed = crew_room(phase) == 0 && crew_away(phase) == 0;
  const int most = crew ? crew->table->device_most(crew->state) : 0;
  const bool only_leads = phase->in->leads_only || (crew && most == 0);
  const int here = pipeline_count(phase->in->pipeline) + runner_count(phase->runner);
  if (crew && most > 0 && here >= most) return false;
  return (!only_leads || is_needed) && pipeline_has_room(phase->in->pipeline);
}

/* Give a proposal to the crew. What earlier runs measured was recalled before. */
static halotune_status send_away(struct search_phase *phase, const struct proposal *proposal) {
  const struct search_inputs *in = phase->in;
  struct trial *trial;
  halotune_status status = trial_begin_away(in->space->templates[proposal->template_index], proposal, &trial);
  if (status != HALOTUNE_OK) return status;
  snprintf(trial->why, sizeof trial->why, "%s", phase->why);
  return in->crew->table->put(in->crew->state, trial, timed_best_ms(in->timed));
}

/* Begin a proposal on the device.
 *   begun  receives the trial, which is only compared; NULL if it is over; may be NULL */
static halotune_status begin_here(struct search_phase *phase, const struct proposal *proposal,
                                  const struct trial **begun) {
  struct trial *trial;
  halotune_status status = begin_proposal(phase, proposal, 0, &trial);
  if (begun) *begun = status == HALOTUNE_OK && !trial->is_over ? trial : NULL;
  return status == HALOTUNE_OK ? pass_on(phase, trial) : status;
}

/* Begin a proposal on the device, or give it to the crew. */
static halotune_status dispatch_proposal(struct search_phase *phase, const struct proposal *proposal) {
  if (crew_room(phase) > 0 && (phase->is_crews_turn || !device_has_room(phase))) {
    phase->is_crews_turn = false;
    return send_away(phase, proposal);
  }
  phase->is_crews_turn = true;
  return begin_here(phase, proposal, NULL);
}

static void tell_why(const struct search_phase *phase, const struct proposal *proposal) {
  const struct search_inputs *in = phase->in;
  const struct template *template = in->space->templates[proposal->template_index];
  if (in->proposed) in->proposed(in->context, template, &proposal->configuration, phase->why);
}

/* Begin a proposal. A variant that was proposed before is passed over, unless a leader asks for it again. */
static halotune_status propose_variant(struct search_phase *phase, const struct proposal *proposal) {
  bool is_new;
  halotune_status status = visited_add(&phase->proposed, phase->in->space, proposal, &is_new);
  if (status != HALOTUNE_OK || (!is_new && !phase->in->follower)) return status;
  tell_why(phase, proposal);
  return dispatch_proposal(phase, proposal);
}

/* Keep a variant that a member did not run, and why it was proposed. */
static halotune_status keep_lost(struct search_phase *phase, const struct trial *trial) {
  if (!array_room(phase->lost, phase->lost_count, phase->lost_capacity)) return fail_memory();
  struct lost_variant *lost = &phase->lost[phase->lost_count++];
  lost->proposal = trial->proposal;
  snprintf(lost->why, sizeof lost->why, "%s", trial->why);
  return HALOTUNE_OK;
}

/* Take the results of the crew that are there. Those that came together are stored together.
 *   timeout_ms  how long to wait for the first one */
static halotune_status take_all_away(struct search_phase *phase, int timeout_ms) {
  const struct crew *crew = phase->in->crew;
  struct trial *burst[BURST_MOST];
  int count = 0;
  halotune_status status = HALOTUNE_OK;
  while (crew && status == HALOTUNE_OK && count < BURST_MOST) {
    struct trial *trial;
    bool is_lost;
    status = crew->table->take(crew->state, timeout_ms, &trial, &is_lost);
    if (status != HALOTUNE_OK || !trial) break;
    timeout_ms = 0;
    if (!is_lost) {
      burst[count++] = trial;
      continue;
    }
    status = keep_lost(phase, trial);
    trial_free(trial);
  }
  const halotune_status finished = results_finish_away(&phase->results, burst, count);
  return status == HALOTUNE_OK ? finished : status;
}

/* Measure a result once more, as the anchor asks. */
static halotune_status propose_again(struct search_phase *phase, long number) {
  const struct proposal proposal = phase->results.list[number - 1].proposal;
  struct trial *trial;
  halotune_status status = begin_proposal(phase, &proposal, number, &trial);
  return status == HALOTUNE_OK ? pass_on(phase, trial) : status;
}

/* How many variants would enter the finals now, plus a few that may still come. */
static int likely_entrants(const struct timed_list *timed) {
  enum { MORE = 8 };
  const double most_ms = FINALS_ENTRY_RATIO * timed_best_ms(timed);
  int count = 0;
  for (long i = 0; i < timed->count; i++) {
    const struct timed_variant *variant = &timed->list[i];
    count += variant->outcome == OUTCOME_MEASURED && variant->median_ms / variant->scale <= most_ms;
  }
  return count + MORE;
}

/* If the variant that a lookup serves is too slow for the finals: its time. Else 0. */
static double served_far_ms(const struct timed_list *timed) {
  const double most_ms = MEASURE_SCREEN_RATIO * timed_best_ms(timed);
  for (long i = 0; i < timed->count; i++) {
    const struct timed_variant *variant = &timed->list[i];
    const double time_ms = variant->median_ms / variant->scale;
    if (variant->is_served && !variant->is_default && time_ms > most_ms) return time_ms;
  }
  return 0;
}

/* Give the search the time that the finals will not need. A load in the finals takes less than a variant of the
 * search, so the mean time of a variant is enough for it. */
static void leave_for_finals(const struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  const double best_ms = timed_best_ms(in->timed), begin_ms = phase->watch.begin_ms;
  const double each_ms = (schedule_now_ms(in->schedule) - begin_ms) / (double)(phase->ran + 1);
  if (!isfinite(best_ms) || !isfinite(in->schedule->end_ms)) return;
  if (in->schedule->energy_ms > 0) in->schedule->energy_ms = finals_energy_ms(OBJECTIVE_ENERGY, best_ms);
  schedule_keep_for_finals(in->schedule,
                           finals_need_ms(best_ms, fmax(in->first_ms, best_ms), served_far_ms(in->timed), each_ms,
                                          likely_entrants(in->timed), in->schedule->end_ms - begin_ms));
}

/* Take the result of the first trial in the runner, and wait for it. */
static halotune_status take_ended(struct search_phase *phase) {
  struct trial *trial;
  double end_ms;
  halotune_status status = runner_take(phase->runner, &trial, &end_ms);
  if (!trial) return status;
  if (phase->watch.anchor) anchor_busy_until(phase->watch.anchor, end_ms);
  phase->running -= !trial->again;
  phase->ran++;
  if (status == HALOTUNE_OK) return results_finish(&phase->results, trial);
  trial_free(trial);
  return status;
}

/* Take the results that are there. */
static halotune_status take_all_ended(struct search_phase *phase) {
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && runner_has_ended(phase->runner)) status = take_ended(phase);
  return status;
}

/* Take the results of all trials in the runner. The backend is then the caller's. */
static halotune_status take_running(struct search_phase *phase) {
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && runner_count(phase->runner) > 0) status = take_ended(phase);
  return status;
}

/* Take a reading of the anchor if it is due. All variants before it get their results first. Variants that still run
 * after the ended ones are taken keep the GPU busy, which the anchor must know. */
static halotune_status read_if_due(struct search_phase *phase) {
  struct watch *watch = &phase->watch;
  halotune_status status = take_all_ended(phase);
  if (watch->anchor && runner_count(phase->runner) > 0) anchor_busy(watch->anchor);
  if (status != HALOTUNE_OK || !watch_is_due(watch)) return status;
  status = take_running(phase);
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

static bool runner_has_room(const struct search_phase *phase) {
  const int most = timed_best_ms(phase->in->timed) < queue_below_ms ? RUNNER_MOST : 1;
  return runner_count(phase->runner) < most;
}

/* Give a compiled trial to the device. */
static halotune_status put_trial(struct search_phase *phase, struct trial *trial) {
  const struct search_inputs *in = phase->in;
  bool is_compiled = false;
  halotune_status status = read_if_due(phase);
  while (status == HALOTUNE_OK && !runner_has_room(phase)) status = take_ended(phase);
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
  halotune_status status = take_running(phase);
  if (status == HALOTUNE_OK) return watch_take(phase->in, &phase->watch, trial);
  trial_free(trial);
  return status;
}

/* If the watch wants another anchor, have its variant compiled. The pipeline must have room. */
static halotune_status call_stand_in(struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  struct trial *trial;
  if (!pipeline_has_room(in->pipeline)) return HALOTUNE_OK;
  halotune_status status = watch_call_stand_in(in, &phase->watch, &trial);
  if (status != HALOTUNE_OK || !trial) return status;
  return trial->is_over ? take_stand_in(phase, trial) : pipeline_put(in->pipeline, trial, in->task);
}

static bool is_good_enough(const struct search_inputs *in) {
  return in->good_enough > 0 && in->memcpy_ms / timed_best_ms(in->timed) >= in->good_enough;
}

/* Whether there are as many results as were asked for, with those of the trials that run. */
static bool has_enough_variants(const struct search_phase *phase) {
  const long most = phase->in->max_variants;
  return most > 0 && phase->in->tally->tried + phase->running + crew_away(phase) >= most;
}

/* Whether the search is over: by time, by the number of variants, or because the best is good enough. */
static bool is_searched(const struct search_phase *phase) {
  const struct search_follower *follower = phase->in->follower;
  return schedule_ends_search(phase->in->schedule) || has_enough_variants(phase) || is_good_enough(phase->in) ||
         (follower && follower->is_over(follower->context));
}

/* Whether one more variant may be begun. */
static bool has_room(const struct search_phase *phase) {
  const int most = phase->in->in_flight;
  const int begun = pipeline_count(phase->in->pipeline) + runner_count(phase->runner) + crew_away(phase);
  return (device_has_room(phase) || crew_room(phase) > 0) && (most == 0 || begun < most);
}

/* Begin the next variant that a member took and did not run. */
static halotune_status propose_lost(struct search_phase *phase) {
  const struct lost_variant lost = phase->lost[--phase->lost_count];
  phase->why = lost.why;
  halotune_status status = dispatch_proposal(phase, &lost.proposal);
  phase->why = "";
  return status;
}

/* Run a compiled trial on the device, unless it has a result already. */
static halotune_status run_trial(struct search_phase *phase, struct trial *trial) {
  struct results *results = &phase->results;
  halotune_status status = HALOTUNE_OK;
  if (trial->is_stand_in) return take_stand_in(phase, trial);
  const bool may_be_twin = !trial->is_over && !trial->again;
  if (may_be_twin && runner_has_code(phase->runner, trial)) status = take_running(phase);
  if (may_be_twin && status == HALOTUNE_OK) status = results_find_twin(results, trial);
  if (status == HALOTUNE_OK && trial->is_over) return results_finish(results, trial);
  if (status == HALOTUNE_OK) return put_trial(phase, trial);
  trial_free(trial);
  return status;
}

/* Give compiled trials to the device, as many as it takes at a time. */
static halotune_status keep_device_busy(struct search_phase *phase) {
  halotune_status status = take_all_ended(phase);
  while (status == HALOTUNE_OK && runner_is_beside(phase->runner) && runner_has_room(phase) && !is_searched(phase)) {
    struct trial *trial;
    status = pipeline_take(phase->in->pipeline, 0, &trial);
    if (status != HALOTUNE_OK || !trial) break;
    status = run_trial(phase, trial);
  }
  return status;
}

/* Begin the next variant of the strategy, if it has one. */
static halotune_status propose_next(struct search_phase *phase, bool *have) {
  struct proposed next;
  enum proposer_answer answer;
  halotune_status status = proposer_next(phase->proposer, &next, &answer);
  phase->is_dry = answer == PROPOSER_DRY;
  phase->is_thinking = answer == PROPOSER_THINKING;
  *have = status == HALOTUNE_OK && answer == PROPOSER_HAS;
  if (!*have) return status;
  phase->why = next.why;
  status = propose_variant(phase, &next.proposal);
  phase->why = "";
  return status;
}

/* Keep the compilers busy. A source takes some milliseconds. The device does not wait until the compilers have as many
 * as they take. */
static halotune_status feed_compilers(struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  halotune_status status = HALOTUNE_OK;
  phase->is_thinking = false;
  while (status == HALOTUNE_OK && has_room(phase) && !is_searched(phase)) {
    bool have;
    if ((status = keep_device_busy(phase)) != HALOTUNE_OK || is_searched(phase)) break;
    if ((status = call_stand_in(phase)) != HALOTUNE_OK || !has_room(phase)) break;
    const long number =
        phase->watch.anchor && pipeline_has_room(in->pipeline) ? anchor_next_again(phase->watch.anchor) : 0;
    if (number > 0 || phase->lost_count > 0) {
      status = number > 0 ? propose_again(phase, number) : propose_lost(phase);
      continue;
    }
    if ((status = propose_next(phase, &have)) != HALOTUNE_OK || !have) break;
  }
  return status;
}

/* Run the next trial of the pipeline, if one comes in time, and take the results that are there. */
static halotune_status run_next(struct search_phase *phase, int timeout_ms) {
  struct trial *trial;
  halotune_status status = pipeline_take(phase->in->pipeline, timeout_ms, &trial);
  if (status == HALOTUNE_OK && trial) status = run_trial(phase, trial);
  return status == HALOTUNE_OK ? take_all_ended(phase) : status;
}

/* Run the next trial of a list, if one comes soon. Where a variant runs, its result is taken before the next compile
 * ends. */
static halotune_status run_next_listed(struct search_phase *phase) {
  return run_next(phase, runner_count(phase->runner) > 0 ? BUSY_WAIT_MS : COMPILE_WAIT_MS);
}

/* Whether the list ends: no more of its variants are proposed and run.
 *   whatever_the_time  only the user or the deadline ends the list */
static bool is_list_over(const struct search_phase *phase, bool whatever_the_time) {
  return whatever_the_time ? schedule_is_stopped(phase->in->schedule) : is_searched(phase);
}

/* Run the trials that are in the pipeline. */
static halotune_status drain_pipeline(struct search_phase *phase, bool whatever_the_time) {
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && !pipeline_is_empty(phase->in->pipeline) && !is_list_over(phase, whatever_the_time))
    status = run_next_listed(phase);
  if (status == HALOTUNE_OK) status = take_running(phase);
  return status == HALOTUNE_OK ? take_all_away(phase, 0) : status;
}

/* Take the results of earlier runs. They count, and may win. Where this version generates another source, the result
 * is lost. The strategy may then propose its variant as if nobody had tried it. */
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

/* Run trials until one more variant may be begun, or the list ends. */
static halotune_status make_room(struct search_phase *phase, bool whatever_the_time) {
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && !has_room(phase) && !is_list_over(phase, whatever_the_time)) {
    if (!pipeline_is_empty(phase->in->pipeline)) status = run_next_listed(phase);
    else if (runner_count(phase->runner) > 0) status = take_ended(phase);
    if (status == HALOTUNE_OK) status = take_all_away(phase, BUSY_WAIT_MS);
  }
  return status;
}

/* Propose the variants of a list, in this order, and do not wait for the last of them. */
static halotune_status propose_list(struct search_phase *phase, const struct proposal_list *list,
                                    bool whatever_the_time) {
  halotune_status status = HALOTUNE_OK;
  for (long i = 0; i < list->count && status == HALOTUNE_OK; i++) {
    status = make_room(phase, whatever_the_time);
    if (is_list_over(phase, whatever_the_time)) break;
    if (status == HALOTUNE_OK) status = call_stand_in(phase);
    if (status == HALOTUNE_OK) status = make_room(phase, whatever_the_time);
    if (is_list_over(phase, whatever_the_time)) break;
    if (status == HALOTUNE_OK) status = propose_variant(phase, &list->list[i]);
  }
  return status;
}

/* Where the default is slow, run the starts of each template first. Otherwise many variants of a template as slow as
 * the default's could take all the time. */
static halotune_status propose_starts(struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  if (in->rematch || !in->first || !watch_is_default_slow(in)) return HALOTUNE_OK;
  phase->why = "hint, or its template starts there";
  const halotune_status status = propose_list(phase, in->starts, false);
  return status == HALOTUNE_OK && in->first_ms > early_below_ms ? drain_pipeline(phase, false) : status;
}

/* List the variants whose results of earlier runs count here. */
static halotune_status find_earlier(const struct search_inputs *in, struct proposal_list *out) {
  const enum earlier_choice choice = in->rematch ? EARLIER_WINNERS : EARLIER_ALL;
  *out = (struct proposal_list){.count = 0};
  return in->fresh ? HALOTUNE_OK : earlier_variants(in->rows->store, in->rows->run, in->space, choice, out);
}

/* Take the results of earlier runs. A rematch measures its variants again where their results are lost, however long
 * that takes. */
static halotune_status take_earlier(struct search_phase *phase, const struct proposal_list *earlier) {
  if (earlier->count == 0) return HALOTUNE_OK;
  phase->why = "among the best of earlier runs";
  if (!phase->in->rematch) return recall_results(phase, earlier);
  const halotune_status status = propose_list(phase, earlier, true);
  return status == HALOTUNE_OK ? drain_pipeline(phase, true) : status;
}

/* Whether another variant may come: from a leader, or back from a member. */
static bool may_come(const struct search_phase *phase) {
  return phase->in->follower || crew_away(phase) > 0 || phase->lost_count > 0;
}

/* Wait for the leader or for the crew. This process has no variant to compile or to measure. */
static halotune_status wait_elsewhere(struct search_phase *phase) {
  const struct search_follower *follower = phase->in->follower;
  if (follower) return follower->wait(follower->context, COMPILE_WAIT_MS);
  return take_all_away(phase, phase->is_thinking ? BUSY_WAIT_MS : COMPILE_WAIT_MS);
}

/* Take the next result from compilers, device or crew. */
static halotune_status go_on(struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  const bool is_running = runner_count(phase->runner) > 0;
  const bool is_busy = is_running || crew_away(phase) > 0 || phase->is_thinking;
  halotune_status status = take_all_away(phase, 0);
  if (status != HALOTUNE_OK) return status;
  if (!pipeline_is_empty(in->pipeline)) return run_next(phase, is_busy ? BUSY_WAIT_MS : COMPILE_WAIT_MS);
  if (is_running && crew_away(phase) > 0 && !runner_has_ended(phase->runner)) return take_all_away(phase, BUSY_WAIT_MS);
  if (phase->is_thinking && !may_come(phase) && !(is_running && runner_has_ended(phase->runner))) {
    proposer_wait(phase->proposer, is_running ? BUSY_WAIT_MS : COMPILE_WAIT_MS);
    return HALOTUNE_OK;
  }
  if (is_running) return take_ended(phase); /* the strategy may propose more after this result */
  return may_come(phase) ? wait_elsewhere(phase) : HALOTUNE_OK;
}

/* The search has enough variants, if those that other GPUs run are counted. Wait for the results of these. */
static halotune_status await_away(struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && crew_away(phase) > 0 && has_enough_variants(phase) &&
         !schedule_ends_search(in->schedule) && !is_good_enough(in)) {
    status = take_all_away(phase, COMPILE_WAIT_MS);
    if (status == HALOTUNE_OK) status = take_all_ended(phase);
    run_progress_show(in->progress, "search");
  }
  return status;
}

/* Ask the strategy for variants until the search is over. */
static halotune_status follow_strategy(struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK) {
    if (is_searched(phase) && ((status = await_away(phase)) != HALOTUNE_OK || is_searched(phase))) break;
    leave_for_finals(phase);
    if ((status = feed_compilers(phase)) != HALOTUNE_OK) break;
    if (is_searched(phase)) continue; /* it may have taken the last result: a twin's, which needs no compiler */
    const bool is_idle = pipeline_is_empty(in->pipeline) && runner_count(phase->runner) == 0 && !may_come(phase);
    if (is_idle && phase->is_dry) break;
    status = go_on(phase);
    run_progress_show(in->progress, "search");
  }
  return status == HALOTUNE_OK ? take_running(phase) : status;
}

/* Whether compilers may have variants of the strategy before the first result: not where these depend on the first
 * results, where earlier runs have results that the strategy should know, with a crew, in a replay, or where the number
 * in flight is set. */
static bool may_feed_early(const struct search_phase *phase, const struct proposal_list *earlier) {
  const struct search_inputs *in = phase->in;
  return earlier->count == 0 && !in->rematch && !in->crew && in->in_flight == 0 && in->first_ms <= early_below_ms &&
         !in->backend->facts.is_recording;
}

/* Let the strategy fill the pipeline. */
static halotune_status feed_early(struct search_phase *phase) {
  enum { ENOUGH_EARLY = 64 };
  const struct search_inputs *in = phase->in;
  halotune_status status = HALOTUNE_OK;
  bool have = true;
  while (status == HALOTUNE_OK && have && has_room(phase) && !is_searched(phase)) {
    const int begun = pipeline_count(in->pipeline);
    if (begun >= ENOUGH_EARLY || (in->max_variants > 0 && in->tally->tried + begun >= in->max_variants)) break;
    status = propose_next(phase, &have);
  }
  return status;
}

/* Begin a variant without which no search ends, if there is one.
 *   begun  receives its trial; NULL if it is over */
static halotune_status begin_needed(struct search_phase *phase, const struct proposal *proposal, const char *why,
                                    const struct trial **begun) {
  bool is_new;
  if (!proposal) return HALOTUNE_OK;
  halotune_status status = visited_add(&phase->proposed, phase->in->space, proposal, &is_new);
  if (status != HALOTUNE_OK || !is_new) return status;
  phase->why = why;
  tell_why(phase, proposal);
  return begin_here(phase, proposal, begun);
}

/* Run a variant that was begun, even if the time is over. It may compile for seconds, and the strategy can fill the
 * compilers' queue meanwhile. A run that is stopped does not wait for it. */
static halotune_status run_needed(struct search_phase *phase, const struct trial *begun, bool may_feed) {
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && begun) {
    struct trial *trial = NULL;
    if (may_feed) status = feed_early(phase);
    if (status == HALOTUNE_OK) status = pipeline_take_this(phase->in->pipeline, begun, COMPILE_WAIT_MS, &trial);
    if (!trial && schedule_is_stopped(phase->in->schedule)) break;
    if (!trial) continue;
    begun = NULL;
    status = run_trial(phase, trial);
  }
  return status == HALOTUNE_OK ? take_running(phase) : status;
}

/* Run the variant that a lookup serves, then the default variant. Each search has these results. Then take those of
 * earlier runs, and ask the strategy. */
static halotune_status search_variants(struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  const struct proposal *first = in->first ? &in->first->proposal : NULL;
  const struct trial *served = NULL, *standard = NULL;
  struct proposal_list earlier;
  if (in->follower) return follow_strategy(phase);
  halotune_status status = find_earlier(in, &earlier);
  const bool may_feed = may_feed_early(phase, &earlier);
  if (status == HALOTUNE_OK) status = begin_needed(phase, in->served, "what a lookup serves", &served);
  if (status == HALOTUNE_OK && !may_feed) {
    status = run_needed(phase, served, false);
    served = NULL;
  }
  if (status == HALOTUNE_OK) status = begin_needed(phase, first, "the default", &standard);
  if (status == HALOTUNE_OK) status = run_needed(phase, served, may_feed);
  if (status == HALOTUNE_OK) status = run_needed(phase, standard, may_feed);
  if (status == HALOTUNE_OK) status = take_earlier(phase, &earlier);
  if (status == HALOTUNE_OK) status = propose_starts(phase);
  proposals_free(&earlier);
  return status == HALOTUNE_OK && !in->rematch ? follow_strategy(phase) : status;
}

/* Judge the last results, and measure again those that the anchor asks for, as far as there is time. */
static halotune_status settle_results(struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  const double now_ms = schedule_now_ms(in->schedule);
  const double end_ms = now_ms + settle_share * fmax(in->schedule->end_ms - now_ms, 0);
  struct anchor *anchor;
  halotune_status status = watch_read(&phase->watch);
  bool is_newer = false; /* there is a newer result than the last reading */
  while (status == HALOTUNE_OK && (anchor = phase->watch.anchor) && schedule_now_ms(in->schedule) < end_ms &&
         !schedule_is_stopped(in->schedule)) {
    const long number = anchor_next_again(anchor);
    if (number == 0) break;
    is_newer = true;
    status = propose_again(phase, number);
    while (status == HALOTUNE_OK && !pipeline_is_empty(in->pipeline) && !schedule_is_stopped(in->schedule))
      status = run_next_listed(phase);
    if (status == HALOTUNE_OK) status = take_running(phase);
  }
  pipeline_clear(in->pipeline); /* a run that is stopped waits for no compile */
  if (status == HALOTUNE_OK && is_newer) status = watch_read(&phase->watch);
  return status == HALOTUNE_OK ? results_settle(&phase->results) : status;
}

/* Learn from the crew how slow its GPUs were. */
static halotune_status settle_away(struct search_phase *phase) {
  const struct crew *crew = phase->in->crew;
  const struct crew_settled *list;
  long count;
  halotune_status status = crew->table->settle(crew->state, &list, &count);
  return status == HALOTUNE_OK ? results_settle_away(&phase->results, list, count) : status;
}

/* Tell crew or leader the time of the default variant as the anchor. */
static halotune_status tell_anchor(const struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  if (in->crew) in->crew->table->anchored(in->crew->state, phase->watch.default_ms);
  return in->follower ? in->follower->anchored(in->follower->context, phase->watch.default_ms) : HALOTUNE_OK;
}

/* Whether the search ended for another reason than time. A variant that is still with a member has no result. */
static bool has_all_asked_for(const struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  const bool has_enough = in->max_variants > 0 && in->tally->tried >= in->max_variants;
  const bool has_all = phase->is_dry && pipeline_is_empty(in->pipeline) && phase->dropped == 0 &&
                       crew_away(phase) == 0 && phase->lost_count == 0;
  return has_all || in->rematch || has_enough || is_good_enough(in);
}

halotune_status search_phase_run(const struct search_inputs *in, struct search_end *out) {
  const struct schedule *schedule = in->schedule;
  struct search_phase phase = {.in = in, .results = {.in = in, .watch = &phase.watch}};
  halotune_status status = watch_open(in, &phase.watch);
  /* A follower's strategy reads what its leader sends, in the program's thread. */
  const bool is_beside = in->backend->table->may_change_thread && in->in_flight == 0 && !in->follower;
  if (status == HALOTUNE_OK) status = proposer_make(in->strategy, in->strategy_state, is_beside, &phase.proposer);
  phase.results.proposer = phase.proposer;
  if (status == HALOTUNE_OK) status = runner_make(in->backend, SLOT_TRIAL, &schedule->time, &phase.runner);
  if (status == HALOTUNE_OK) status = tell_anchor(&phase);
  if (status == HALOTUNE_OK) status = search_variants(&phase);
  out->is_exhausted = has_all_asked_for(&phase);
  out->is_cut = schedule->has_deadline && !out->is_exhausted && schedule_now_ms(schedule) >= schedule->search_end_ms;
  pipeline_clear(in->pipeline); /* the search is over: trials that have not run are no longer needed */
  if (status == HALOTUNE_OK && in->crew) status = in->crew->table->stop(in->crew->state);
  if (status == HALOTUNE_OK) status = settle_results(&phase);
  if (status == HALOTUNE_OK && in->crew) status = settle_away(&phase);
  runner_free(phase.runner);
  proposer_free(phase.proposer);
  out->scale = watch_scale(&phase.watch);
  halotune_status unloaded = watch_close(in, &phase.watch);
  results_free(&phase.results);
  visited_free(&phase.proposed);
  free(phase.lost);
  return status == HALOTUNE_OK ? unloaded : status;
}
