/* search_phase.c: which variants come next, and when the search is over. */
#include "tuner/search/tune/search_phase.h"

#include <math.h>
#include <stdlib.h>

#include "tuner/measure/finals/finals.h"
#include "tuner/measure/finals/finals_plan.h"
#include "tuner/search/hints/earlier_runs.h"
#include "tuner/search/tune/search_parts.h"

enum {
  SLOT_TRIAL = SLOT_ANCHOR + 1,
  COMPILE_WAIT_MS = 20,
  BUSY_WAIT_MS = 2 /* while a variant runs or the strategy thinks, either may end before the next compile does */
};

/* Where the default takes longer than this, the strategy proposes nothing before the starts have results. Until then it
 * cannot know templates that are as slow, and a few dozen of their variants would take seconds. */
static const double early_below_ms = 50;

/* The share of the finals' time that may be used to measure results again. */
static const double settle_share = 0.25;

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

static bool is_good_enough(const struct search_inputs *in) {
  return in->good_enough > 0 && in->memcpy_ms / timed_best_ms(in->timed) >= in->good_enough;
}

/* Whether there are as many results as were asked for, with those of the trials that run. */
static bool has_enough_variants(const struct search_phase *phase) {
  const long most = phase->in->max_variants;
  return most > 0 && phase->in->tally->tried + phase->running + search_crew_away(phase) >= most;
}

/* Whether the search is over: by time, by the number of variants, or because the best is good enough. */
static bool is_searched(const struct search_phase *phase) {
  const struct search_follower *follower = phase->in->follower;
  return schedule_ends_search(phase->in->schedule) || has_enough_variants(phase) || is_good_enough(phase->in) ||
         (follower && follower->is_over(follower->context));
}

/* Give compiled trials to the device, as many as it takes at a time. */
static halotune_status keep_device_busy(struct search_phase *phase) {
  halotune_status status = search_take_all_ended(phase);
  while (status == HALOTUNE_OK && runner_is_beside(phase->runner) && search_runner_has_room(phase) &&
         !is_searched(phase)) {
    struct trial *trial;
    status = pipeline_take(phase->in->pipeline, 0, &trial);
    if (status != HALOTUNE_OK || !trial) break;
    status = search_run_trial(phase, trial);
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
  status = search_propose(phase, &next.proposal);
  phase->why = "";
  return status;
}

/* Keep the compilers busy. A source takes some milliseconds. The device does not wait until the compilers have as many
 * as they take. */
static halotune_status feed_compilers(struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  halotune_status status = HALOTUNE_OK;
  phase->is_thinking = false;
  while (status == HALOTUNE_OK && search_has_room(phase) && !is_searched(phase)) {
    bool have;
    if ((status = keep_device_busy(phase)) != HALOTUNE_OK || is_searched(phase)) break;
    if ((status = search_call_stand_in(phase)) != HALOTUNE_OK || !search_has_room(phase)) break;
    const long number =
        phase->watch.anchor && pipeline_has_room(in->pipeline) ? anchor_next_again(phase->watch.anchor) : 0;
    if (number > 0 || phase->lost_count > 0) {
      status = number > 0 ? search_propose_again(phase, number) : search_propose_lost(phase);
      continue;
    }
    if ((status = propose_next(phase, &have)) != HALOTUNE_OK || !have) break;
  }
  return status;
}

/* Run the next trial of a list, if one comes soon. Where a variant runs, its result is taken before the next compile
 * ends. */
static halotune_status run_next_listed(struct search_phase *phase) {
  return search_run_next(phase, runner_count(phase->runner) > 0 ? BUSY_WAIT_MS : COMPILE_WAIT_MS);
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
  if (status == HALOTUNE_OK) status = search_take_running(phase);
  return status == HALOTUNE_OK ? search_take_away(phase, 0) : status;
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
    if ((status = search_begin_proposal(phase, proposal, 0, &trial)) != HALOTUNE_OK) break;
    if (trial->is_over && (status = visited_add(&phase->proposed, space, proposal, NULL)) == HALOTUNE_OK)
      status = results_finish(&phase->results, trial);
    else trial_free(trial);
  }
  return status;
}

/* Run trials until one more variant may be begun, or the list ends. */
static halotune_status make_room(struct search_phase *phase, bool whatever_the_time) {
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && !search_has_room(phase) && !is_list_over(phase, whatever_the_time)) {
    if (!pipeline_is_empty(phase->in->pipeline)) status = run_next_listed(phase);
    else if (runner_count(phase->runner) > 0) status = search_take_ended(phase);
    if (status == HALOTUNE_OK) status = search_take_away(phase, BUSY_WAIT_MS);
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
    if (status == HALOTUNE_OK) status = search_call_stand_in(phase);
    if (status == HALOTUNE_OK) status = make_room(phase, whatever_the_time);
    if (is_list_over(phase, whatever_the_time)) break;
    if (status == HALOTUNE_OK) status = search_propose(phase, &list->list[i]);
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
  return phase->in->follower || search_crew_away(phase) > 0 || phase->lost_count > 0;
}

/* Wait for the leader or for the crew. This process has no variant to compile or to measure. */
static halotune_status wait_elsewhere(struct search_phase *phase) {
  const struct search_follower *follower = phase->in->follower;
  if (follower) return follower->wait(follower->context, COMPILE_WAIT_MS);
  return search_take_away(phase, phase->is_thinking ? BUSY_WAIT_MS : COMPILE_WAIT_MS);
}

/* Take the next result from compilers, device or crew. */
static halotune_status go_on(struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  const bool is_running = runner_count(phase->runner) > 0;
  const bool is_busy = is_running || search_crew_away(phase) > 0 || phase->is_thinking;
  halotune_status status = search_take_away(phase, 0);
  if (status != HALOTUNE_OK) return status;
  if (!pipeline_is_empty(in->pipeline)) return search_run_next(phase, is_busy ? BUSY_WAIT_MS : COMPILE_WAIT_MS);
  if (is_running && search_crew_away(phase) > 0 && !runner_has_ended(phase->runner))
    return search_take_away(phase, BUSY_WAIT_MS);
  if (phase->is_thinking && !may_come(phase) && !(is_running && runner_has_ended(phase->runner))) {
    proposer_wait(phase->proposer, is_running ? BUSY_WAIT_MS : COMPILE_WAIT_MS);
    return HALOTUNE_OK;
  }
  if (is_running) return search_take_ended(phase); /* the strategy may propose more after this result */
  return may_come(phase) ? wait_elsewhere(phase) : HALOTUNE_OK;
}

/* The search has enough variants, if those that other GPUs run are counted. Wait for the results of these. */
static halotune_status await_away(struct search_phase *phase) {
  const struct search_inputs *in = phase->in;
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && search_crew_away(phase) > 0 && has_enough_variants(phase) &&
         !schedule_ends_search(in->schedule) && !is_good_enough(in)) {
    status = search_take_away(phase, COMPILE_WAIT_MS);
    if (status == HALOTUNE_OK) status = search_take_all_ended(phase);
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
  return status == HALOTUNE_OK ? search_take_running(phase) : status;
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
  while (status == HALOTUNE_OK && have && search_has_room(phase) && !is_searched(phase)) {
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
  search_tell_why(phase, proposal);
  return search_begin_here(phase, proposal, begun);
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
    status = search_run_trial(phase, trial);
  }
  return status == HALOTUNE_OK ? search_take_running(phase) : status;
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
    status = search_propose_again(phase, number);
    while (status == HALOTUNE_OK && !pipeline_is_empty(in->pipeline) && !schedule_is_stopped(in->schedule))
      status = run_next_listed(phase);
    if (status == HALOTUNE_OK) status = search_take_running(phase);
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
                       search_crew_away(phase) == 0 && phase->lost_count == 0;
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
