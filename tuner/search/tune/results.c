/* results.c: from trials that have ended to rows, timed variants, and what the strategy is told. */
#include "tuner/search/tune/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/system/trace.h"
#include "db/store/launch_text.h"
#include "tuner/measure/sampling/measure.h"
#include "tuner/search/hints/earlier_runs.h"

/* A row of the store is the result of a trial.
 *   with_samples  whether its samples are copied */
static halotune_status take_row(struct trial *trial, const struct measurement *row, bool with_samples) {
  const struct timing *timing = &row->timing;
  snprintf(trial->reason, sizeof trial->reason, "%s", row->reason);
  trial->result = *row;
  trial->result.reason = trial->reason;
  trial->result.timing.samples = NULL;
  trial->is_over = true;
  if (!with_samples || !timing->samples || timing->sample_count <= 0) return HALOTUNE_OK;
  size_t bytes = (size_t)timing->sample_count * sizeof *trial->samples;
  free(trial->samples); /* a result of the crew has its own */
  trial->samples = malloc(bytes);
  if (!trial->samples) return fail_memory();
  memcpy(trial->samples, timing->samples, bytes);
  trial->result.timing.samples = trial->samples;
  return HALOTUNE_OK;
}

/* The record of this run with the source of a trial; -1 for none. */
static int record_of_source(const struct results *results, const struct trial *trial) {
  for (int i = 0; i < results->count; i++) {
    const struct result_record *record = &results->list[i];
    const bool is_of_template = record->proposal.template_index == trial->proposal.template_index;
    if (is_of_template && identity_compare(record->source, trial->generated.hash) == 0) return i;
  }
  return -1;
}

/* Give a trial the result of record number `at`, counted from 0, which may be a twin itself. */
static halotune_status take_twin(struct results *results, struct trial *trial, int at) {
  const struct run_rows *rows = results->in->rows;
  const struct result_record *record = &results->list[at];
  struct measurement found;
  const struct measurement own = trial->result;
  const struct variant_key key = {.stencil = rows->stencil,
                                  .template_id = rows->templates[record->proposal.template_index],
                                  .template = results->in->space->templates[record->proposal.template_index],
                                  .configuration = &record->proposal.configuration,
                                  .source = record->source};
  halotune_status status = store_find_measurement(rows->store, rows->run, &key, &found, NULL);
  if (status == HALOTUNE_NOT_FOUND) return HALOTUNE_OK;
  if (status == HALOTUNE_OK) status = take_row(trial, &found, true);
  trial->twin_of = record->twin_of ? record->twin_of : at + 1;
  trial->is_same = identity_compare(record->source, trial->generated.hash) == 0;
  trial->variant = record->variant;
  trial->result.compile_ms = own.compile_ms;
  const struct twin_reason reason = twin_reason(trial->twin_of);
  if (!trial->reason[0]) snprintf(trial->reason, sizeof trial->reason, "%s", reason.text);
  return status;
}

/* The bits of an identity are evenly distributed, so any part of it serves as a hash. */
static uint64_t code_hash(struct identity code) {
  uint64_t hash;
  memcpy(&hash, code.bytes, sizeof hash);
  return hash;
}

halotune_status results_find_twin(struct results *results, struct trial *trial) {
  struct identity code;
  if (!trial_code(trial, &code)) return HALOTUNE_OK;
  int place;
  for (struct set_walk at = set_walk(&results->by_code, code_hash(code)); set_next(&at, &place);) {
    if (identity_compare(results->list[place].code, code) == 0) return take_twin(results, trial, place);
  }
  return HALOTUNE_OK;
}

halotune_status results_recall(struct results *results, struct trial *trial, double default_ms) {
  const struct search_inputs *in = results->in;
  const struct run_rows *rows = in->rows;
  const struct variant_key key = run_rows_key(rows, trial);
  struct measurement found;
  const int same = record_of_source(results, trial);
  if (same >= 0) return take_twin(results, trial, same);
  if (in->fresh) return HALOTUNE_OK;
  halotune_status status = store_find_measurement(rows->store, rows->run, &key, &found, &trial->variant);
  if (status == HALOTUNE_NOT_FOUND) return HALOTUNE_OK;
  if (status != HALOTUNE_OK) return status;
  if (in->in_full && found.outcome == OUTCOME_SCREENED) return HALOTUNE_OK; /* it has few samples */
  if (found.outcome == OUTCOME_COMPILE_CRASHED) return HALOTUNE_OK; /* the machine may have killed the compiler */
  trial->is_recalled = true;
  trial->recalled_scale = 1;
  if (in->first) {
    const struct variant_key standard = run_rows_key(rows, in->first);
    status = earlier_scale(rows->store, rows->run, trial->variant, &standard, default_ms, &trial->recalled_scale);
  }
  return status == HALOTUNE_OK ? take_row(trial, &found, false) : status;
}

/* Remember which result a ticket belongs to: the newest one. */
static halotune_status add_ticket(struct results *results, long ticket) {
  while (results->ticket_count <= ticket) {
    if (!array_room(results->by_ticket, results->ticket_count, results->ticket_capacity)) return fail_memory();
    results->by_ticket[results->ticket_count++] = 0;
  }
  results->by_ticket[ticket] = results->count;
  return HALOTUNE_OK;
}

/* Give the trial a number, and remember what belongs to it. */
static halotune_status add_record(struct results *results, struct trial *trial) {
  struct result_record *grown = array_grow(results->list, results->count, &results->capacity, sizeof *grown);
  if (!grown) return fail_memory();
  results->list = grown;
  struct result_record *record = &results->list[results->count++];
  *record =
      (struct result_record){.proposal = trial->proposal, .source = trial->generated.hash, .twin_of = trial->twin_of};
  record->has_code = trial_code(trial, &record->code);
  record->why = strdup(trial->why);
  if (!record->why) return fail_memory();
  if (record->has_code && !record->twin_of && !set_add(&results->by_code, code_hash(record->code), results->count - 1))
    return fail_memory();
  trial->result.number = results->count;
  return trial->is_away ? add_ticket(results, trial->proposal.ticket) : HALOTUNE_OK;
}

/* Whether the anchor may ask for the result once more. Where no state of the GPU explains the variant's time, another
 * measurement tells nothing new. */
static bool need_watch(const struct results *results, const struct trial *trial) {
  const struct measurement *result = &trial->result;
  const double best_ms = timed_best_ms(results->in->timed) * watch_scale(results->watch);
  const bool was_watched = anchor_attempts(results->watch->anchor, result->number) > 0;
  return was_watched || result->outcome != OUTCOME_SCREENED || !measure_is_hopeless(result->timing.minimum_ms, best_ms);
}

/* A variant was measured again: its twins get the new result in the store. The strategy and the finals do not know
 * them.
 *   attempts  of this measurement alone */
static halotune_status store_twins(struct results *results, const struct trial *trial, enum outcome before,
                                   int attempts) {
  const struct search_inputs *in = results->in;
  struct measurement again = trial->result;
  int count;
  again.attempts = attempts;
  halotune_status status = twins_follow(in->twins, in->rows->store, in->rows->run, trial->variant, &again, &count);
  tally_move(in->tally, before, again.outcome, count);
  return status;
}

/* Remember which result a twin shares. */
static halotune_status keep_twin(struct results *results, const struct trial *trial) {
  const int64_t original = results->list[trial->twin_of - 1].variant;
  const struct twin twin = {
      .variant = trial->is_same ? original : trial->variant, .original = original, .number = trial->twin_of};
  return twins_add(results->in->twins, &twin);
}

static halotune_status store_result(struct results *results, struct trial *trial) {
  const struct search_inputs *in = results->in;
  const struct variant_key key = run_rows_key(in->rows, trial);
  struct measurement *result = &trial->result;
  halotune_status status = HALOTUNE_OK;
  if (trial->again) result->number = trial->again;
  else status = add_record(results, trial);
  if (status != HALOTUNE_OK) return status;
  struct result_record *record = &results->list[result->number - 1];
  result->at_s = schedule_spent_s(in->schedule);
  snprintf(result->why, sizeof result->why, "%s", record->why);
  const int attempts = result->attempts;
  if (!trial->twin_of) result->attempts += record->attempts;
  const double begin_ms = trace_now_ms();
  status = store_measurement(in->rows->store, in->rows->run, &key, result, &trial->variant);
  trace_end(TRACE_STORE, "store", begin_ms, &trial->generated.hash, outcome_name(result->outcome));
  if (trial->again && status == HALOTUNE_OK) {
    in->tally->outcomes[record->outcome]--;
    status = store_twins(results, trial, record->outcome, attempts);
  }
  if (trial->twin_of && status == HALOTUNE_OK) status = keep_twin(results, trial);
  record->variant = trial->variant;
  record->attempts = result->attempts;
  record->outcome = result->outcome;
  record->is_marked = result->is_marked;
  if (status != HALOTUNE_OK || !results->watch->anchor || trial->twin_of || trial->is_away ||
      !outcome_has_time(result->outcome))
    return status;
  if (!need_watch(results, trial)) return status;
  return anchor_cover(results->watch->anchor, result->number, result->is_marked);
}

/* Whether a variant was measured because of a hint. A result of an earlier run needs no hint. */
static bool is_hinted(const struct search_inputs *in, const struct trial *trial) {
  return !trial->is_recalled && proposals_have(in->hints, in->space, &trial->proposal);
}

/* Keep a variant for the finals. Twins are left out: they could only tie with their originals. */
static halotune_status keep_timed(struct results *results, const struct trial *trial, double scale) {
  const struct search_inputs *in = results->in;
  const struct measurement *result = &trial->result;
  if (trial->again && !outcome_has_time(result->outcome)) timed_remove(in->timed, trial->variant);
  if (!outcome_has_time(result->outcome) || trial->twin_of) return HALOTUNE_OK;
  struct timed_variant timed = {.proposal = trial->proposal,
                                .variant = trial->variant,
                                .number = trial->is_recalled ? 0 : result->number,
                                .outcome = result->outcome,
                                .median_ms = result->timing.median_ms,
                                .minimum_ms = result->timing.minimum_ms,
                                .scale = scale,
                                .rms_error = result->rms_error,
                                .max_error = result->max_error,
                                .max_error_units = result->max_error_units,
                                .registers = result->registers,
                                .shared_bytes = result->shared_bytes,
                                .occupancy = result->occupancy,
                                .is_default = search_is_first(in, &trial->proposal),
                                .is_served = search_is_served(in, &trial->proposal),
                                .is_hinted = is_hinted(in, trial)};
  return timed_put(in->timed, &timed);
}

/* Make a trial that is over a row. */
static halotune_status keep_row(struct results *results, struct trial *trial) {
  if (trial->is_same) return keep_twin(results, trial);
  return trial->is_recalled ? HALOTUNE_OK : store_result(results, trial);
}

/* How slow the GPU was when it measured the result of a trial. A twin has its original's result. */
static double scale_of(const struct results *results, const struct trial *trial) {
  if (trial->is_recalled) return trial->recalled_scale;
  if (trial->twin_of) return results->list[trial->twin_of - 1].scale;
  return trial->is_away ? trial->away_scale : watch_scale(results->watch);
}

/* Let a result count, now that it is a row: for the finals, in the tally, and for the strategy. */
static halotune_status count_result(struct results *results, const struct trial *trial) {
  const struct search_inputs *in = results->in;
  struct tally *tally = in->tally;
  const struct measurement *result = &trial->result;
  const double scale = scale_of(results, trial);
  if (!trial->is_recalled && !trial->twin_of) results->list[result->number - 1].scale = scale;
  halotune_status status = keep_timed(results, trial, scale);
  if (status == HALOTUNE_OK) tally->outcomes[result->outcome]++;
  tally_note_failure(tally, result);
  if (status == HALOTUNE_OK && !trial->again) {
    tally->tried++;
    tally->recalled += trial->is_recalled;
    tally->twins += trial->twin_of > 0;
    tally->hinted += is_hinted(in, trial);
    const double time_ms = outcome_has_time(result->outcome) ? result->timing.median_ms / scale : INFINITY;
    status = proposer_tell(results->proposer, &trial->proposal, time_ms);
  }
  if (in->follower && status == HALOTUNE_OK) status = in->follower->finished(in->follower->context, trial, scale);
  run_progress_show(in->progress, "search");
  return status;
}

halotune_status results_finish(struct results *results, struct trial *trial) {
  halotune_status status = keep_row(results, trial);
  if (status == HALOTUNE_OK) status = count_result(results, trial);
  trial_free(trial);
  return status;
}

/* The number of the result with this ticket; 0 for none. */
static long number_of_ticket(const struct results *results, long ticket) {
  return ticket > 0 && ticket < results->ticket_count ? results->by_ticket[ticket] : 0;
}

/* Store a result of the crew as a row.
 *   counts  receives false where the result of its original counts instead */
static halotune_status keep_row_away(struct results *results, struct trial *trial, bool *counts) {
  halotune_status status = HALOTUNE_OK;
  trial->again = number_of_ticket(results, trial->proposal.ticket);
  *counts = !trial->again || !results->list[trial->again - 1].twin_of;
  if (!*counts) return HALOTUNE_OK;
  if (!trial->again) status = results_find_twin(results, trial);
  return status == HALOTUNE_OK ? keep_row(results, trial) : status;
}

halotune_status results_finish_away(struct results *results, struct trial **trials, int count) {
  struct store *store = results->in->rows->store;
  halotune_status status = count > 0 ? store_burst_begin(store) : HALOTUNE_OK;
  if (count > 0 && status == HALOTUNE_OK) {
    for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
      bool counts;
      status = keep_row_away(results, trials[i], &counts);
      if (counts) continue;
      trial_free(trials[i]);
      trials[i] = NULL;
    }
    status = store_burst_end(store, status);
  }
  for (int i = 0; i < count; i++) {
    if (trials[i] && status == HALOTUNE_OK) status = count_result(results, trials[i]);
    trial_free(trials[i]);
  }
  return status;
}

/* Tell the leader of a search what the last reading says of the results. */
static halotune_status tell_settled(const struct results *results) {
  const struct search_follower *follower = results->in->follower;
  const struct anchor *anchor = results->watch->anchor;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < results->count && status == HALOTUNE_OK; i++) {
    if (anchor_attempts(anchor, i + 1) > 0)
      status = follower->settled(follower->context, results->list[i].proposal.ticket, anchor_scale(anchor, i + 1),
                                 anchor_is_marked(anchor, i + 1));
  }
  return status;
}

halotune_status results_settle(struct results *results) {
  const struct search_inputs *in = results->in;
  struct timed_list *timed = in->timed;
  long count = 0;
  if (!results->watch->anchor) return HALOTUNE_OK;
  int64_t *doubtful = calloc((size_t)results->count + 1, sizeof *doubtful);
  if (!doubtful) return fail_memory();
  for (int i = 0; i < results->count; i++) {
    const struct result_record *record = &results->list[i];
    const long measured = record->twin_of ? record->twin_of : i + 1;
    if (!record->is_marked && anchor_is_marked(results->watch->anchor, measured)) doubtful[count++] = record->variant;
  }
  for (long i = 0; i < timed->count; i++) {
    const bool was_watched =
        /* an anchor that began late did not watch all results */
        anchor_attempts(results->watch->anchor, timed->list[i].number) > 0;
    if (timed->list[i].number > 0 && was_watched)
      timed->list[i].scale = anchor_scale(results->watch->anchor, timed->list[i].number);
  }
  halotune_status status = count > 0 ? store_mark(in->rows->store, in->rows->run, doubtful, count) : HALOTUNE_OK;
  free(doubtful);
  return status == HALOTUNE_OK && in->follower ? tell_settled(results) : status;
}

halotune_status results_settle_away(struct results *results, const struct crew_settled *list, long count) {
  const struct search_inputs *in = results->in;
  struct timed_list *timed = in->timed;
  double *scales = calloc((size_t)results->count + 1, sizeof *scales);
  int64_t *doubtful = calloc((size_t)count + 1, sizeof *doubtful);
  long marked = 0;
  halotune_status status = scales && doubtful ? HALOTUNE_OK : fail_memory();
  for (long i = 0; i < count && status == HALOTUNE_OK; i++) {
    const long number = number_of_ticket(results, list[i].ticket);
    if (number == 0) continue;
    scales[number] = list[i].scale;
    if (list[i].is_marked && !results->list[number - 1].is_marked)
      doubtful[marked++] = results->list[number - 1].variant;
  }
  for (long i = 0; i < timed->count && status == HALOTUNE_OK; i++) {
    const long number = timed->list[i].number;
    if (number > 0 && scales[number] > 0) timed->list[i].scale = scales[number];
  }
  if (status == HALOTUNE_OK && marked > 0) status = store_mark(in->rows->store, in->rows->run, doubtful, marked);
  free(scales);
  free(doubtful);
  return status;
}

void results_free(struct results *results) {
  for (int i = 0; i < results->count; i++) free(results->list[i].why);
  free(results->list);
  free(results->by_ticket);
  set_free(&results->by_code);
  results->list = NULL;
  results->count = results->capacity = 0;
}
