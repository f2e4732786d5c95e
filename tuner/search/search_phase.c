/* search_phase.c: proposals to results. Compilers run ahead of the device through a queue of bounded length; every result is stored
 * before the next variant is run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "tuner/bench/anchor.h"
#include "tuner/search/earlier.h"
#include "tuner/search/evaluate.h"
#include "tuner/search/session.h"

enum {
  SLOT_ANCHOR = 0,
  SLOT_TRIAL = 1,
  MOST_IN_FLIGHT = 256, /* with the compilers, */
  MOST_READY = 64,      /* and compiled, waiting for the device */
  COMPILE_WAIT_MS = 20,
};

/* A variant to be measured once more, under the number of its result. */
struct again {
  struct proposal proposal;
  long number;
};

struct phase {
  struct session *session;
  struct trial *in_flight[MOST_IN_FLIGHT]; /* by the compiler's id; NULL: free */
  struct trial *ready[MOST_READY];         /* a ring, in the order in which they were compiled */
  int ready_first, ready_count;
  struct anchor *anchor; /* NULL where no default variant works */
  struct trial *anchor_trial;
  struct again *results; /* by number of the result, from 1: to find what the anchor wants again */
  long result_capacity;
  bool is_dry; /* the strategy has no more */
};

/* How slow the GPU is now. */
static double scale_now(const struct phase *phase) { return phase->anchor ? anchor_scale(phase->anchor, 0) : 1; }

/* --- results --- */

static halotune_status remember_result(struct phase *phase, const struct trial *trial) {
  struct session *session = phase->session;
  if (session->number >= phase->result_capacity) {
    long capacity = phase->result_capacity ? 2 * phase->result_capacity : 1024;
    struct again *larger = realloc(phase->results, (size_t)capacity * sizeof *larger);
    if (!larger) return fail_memory();
    phase->results = larger;
    phase->result_capacity = capacity;
  }
  phase->results[session->number - 1] = (struct again){.proposal = trial->proposal, .number = session->number};
  return HALOTUNE_OK;
}

static bool is_first(const struct session *session, const struct proposal *proposal) {
  const struct template *template = session->space.templates[proposal->template_index];
  if (proposal->template_index != session->first.template_index) return false;
  for (int i = 0; i < template->parameter_count; i++) {
    if (proposal->configuration.choice[i] != session->first.configuration.choice[i]) return false;
  }
  return true;
}

/* One that was measured again is there already. */
static halotune_status keep_timed(struct session *session, const struct trial *trial, int64_t variant, double scale) {
  struct timed_variant timed = {.proposal = trial->proposal,
                                .variant = variant,
                                .number = trial->is_recalled ? 0 : trial->result.number,
                                .outcome = trial->result.outcome,
                                .median_ms = trial->result.timing.median_ms,
                                .minimum_ms = trial->result.timing.minimum_ms,
                                .scale = scale,
                                .rms_error = trial->result.rms_error,
                                .max_error = trial->result.max_error,
                                .max_error_units = trial->result.max_error_units,
                                .registers = trial->result.registers,
                                .shared_bytes = trial->result.shared_bytes,
                                .is_default = is_first(session, &trial->proposal)};
  for (long i = session->timed_count - 1; i >= 0; i--) {
    if (session->timed[i].variant != variant) continue;
    session->timed[i] = timed;
    return HALOTUNE_OK;
  }
  return session_add_timed(session, &timed);
}

/* Tell everybody what came of a trial, and end it.
 *   number  of the result that it replaces; 0: it is a new one */
static halotune_status finish(struct phase *phase, struct trial *trial, long number) {
  struct session *session = phase->session;
  struct measurement *result = &trial->result;
  struct tune_result *out = session->result;
  halotune_status status = HALOTUNE_OK;
  int64_t variant = 0;
  bool has_time = outcome_has_time(result->outcome), has_source = trial->generated.source != NULL;
  double scale = trial->is_recalled ? 1 : scale_now(phase);
  if (!trial->is_recalled && has_source) {
    struct variant_key key = session_key(session, trial);
    if (number == 0) {
      session->number++;
      status = remember_result(phase, trial);
    }
    result->number = number ? number : session->number;
    result->at_s = (clock_ms() - session->start_ms) * 1e-3;
    if (status == HALOTUNE_OK) status = store_measurement(session->tools->store, session->run_id, &key, result, &variant);
    if (status == HALOTUNE_OK && phase->anchor && has_time) status = anchor_cover(phase->anchor, result->number, result->is_marked);
  } else if (trial->is_recalled) {
    variant = trial->variant;
    out->recalled++;
  }
  if (number == 0) {
    out->tried++;
    out->outcomes[result->outcome]++;
    session->options->strategy->tell(session->strategy, &trial->proposal, has_time ? result->timing.median_ms / scale : INFINITY);
  }
  if (status == HALOTUNE_OK && has_time) status = keep_timed(session, trial, variant, scale);
  trial_free(trial);
  session_show(session, "search");
  return status;
}

/* --- proposals --- */

/* Take the result of an earlier run, where there is one. */
static halotune_status recall(struct session *session, struct trial *trial) {
  struct measurement found;
  struct variant_key key = session_key(session, trial);
  if (session->options->fresh) return HALOTUNE_OK;
  halotune_status status = store_find_measurement(session->tools->store, session->run_id, &key, &found, &trial->variant);
  if (status == HALOTUNE_NOT_FOUND) return HALOTUNE_OK;
  if (status != HALOTUNE_OK) return status;
  snprintf(trial->reason, sizeof trial->reason, "%s", found.reason);
  trial->result = found;
  trial->result.reason = trial->reason;
  trial->result.timing.samples = NULL;
  trial->result.number = 0;
  trial->is_recalled = trial->is_over = true;
  return HALOTUNE_OK;
}

static int free_place(const struct phase *phase) {
  int place = 0;
  while (place < MOST_IN_FLIGHT && phase->in_flight[place]) place++;
  return place;
}

/* Bring one proposal to the compilers, or to its end. */
static halotune_status propose(struct phase *phase, const struct proposal *proposal, long number) {
  struct session *session = phase->session;
  struct trial *trial;
  const struct template *template = session->space.templates[proposal->template_index];
  halotune_status status = trial_begin(session->task, template, proposal, &session->task->grid, &trial);
  if (status != HALOTUNE_OK) return status;
  trial->result.number = number;
  if (!trial->is_over && number == 0) status = recall(session, trial);
  if (status == HALOTUNE_OK && trial->is_over) return finish(phase, trial, 0);
  int place = free_place(phase);
  if (status == HALOTUNE_OK) {
    struct compile_request request = trial_request(trial, session->task);
    status = compiler_submit(session->tools->compiler, (uint64_t)place, &request);
  }
  if (status == HALOTUNE_OK) phase->in_flight[place] = trial;
  else trial_free(trial);
  return status;
}

static bool has_room(const struct phase *phase) {
  return compiler_has_room(phase->session->tools->compiler) && free_place(phase) < MOST_IN_FLIGHT && phase->ready_count < MOST_READY / 2;
}

/* Keep the compilers busy. */
static halotune_status feed(struct phase *phase) {
  struct session *session = phase->session;
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && has_room(phase) && !session_is_searched(session)) {
    struct proposal proposal;
    long number = phase->anchor ? anchor_next_again(phase->anchor) : 0;
    if (number > 0) proposal = phase->results[number - 1].proposal;
    else if (!session->options->strategy->next(session->strategy, &proposal)) phase->is_dry = true;
    if (number == 0 && phase->is_dry) break;
    status = propose(phase, &proposal, number);
  }
  return status;
}

/* Take what the compilers have.
 *   timeout_ms  how long to wait for the first */
static halotune_status collect(struct phase *phase, int timeout_ms) {
  struct session *session = phase->session;
  halotune_status status = HALOTUNE_OK;
  while (phase->ready_count < MOST_READY && status == HALOTUNE_OK) {
    struct compiler_result result;
    bool have = false;
    status = compiler_wait(session->tools->compiler, timeout_ms, &result, &have);
    if (status != HALOTUNE_OK || !have) return status;
    timeout_ms = 0;
    struct trial *trial = phase->in_flight[result.compile.id];
    phase->in_flight[result.compile.id] = NULL;
    trial_take(trial, session->task, &result.compile);
    compile_result_free(&result.compile);
    if (trial->is_over) status = finish(phase, trial, trial->result.number);
    else phase->ready[(phase->ready_first + phase->ready_count++) % MOST_READY] = trial;
  }
  return status;
}

/* --- the device --- */

/* Load the first default that works, and begin to watch it. */
static halotune_status open_anchor(struct phase *phase) {
  struct session *session = phase->session;
  struct backend_handle *backend = session->tools->backend;
  struct verdict verdict = {.outcome = OUTCOME_MEASURED};
  struct trial *trial;
  static const struct time_source clock = {NULL, NULL};
  halotune_status status = session_build(session, session->task, session->space.templates[session->first.template_index],
                                         &session->first, &session->task->grid, &trial);
  if (status != HALOTUNE_OK) return status;
  if (!trial->is_over) {
    struct candidate candidate = {.spec = &trial->spec, .generated = &trial->generated, .compiled = &trial->compiled};
    status = backend->table->load(backend->state, SLOT_ANCHOR, &candidate, &verdict);
    if (status == HALOTUNE_OK && verdict.outcome == OUTCOME_MEASURED) {
      status = anchor_make(backend, SLOT_ANCHOR, &clock, &verdict, &phase->anchor);
    }
  }
  phase->anchor_trial = trial;
  return status;
}

/* The anchor's own failure costs the anchor, not the search. */
static halotune_status take_anchor(struct phase *phase) {
  struct verdict verdict;
  halotune_status status = anchor_take(phase->anchor, &verdict);
  if (status == HALOTUNE_OK && verdict.outcome != OUTCOME_MEASURED) {
    anchor_free(phase->anchor);
    phase->anchor = NULL;
  }
  return status;
}

static halotune_status look_at_anchor(struct phase *phase) {
  return phase->anchor && anchor_due(phase->anchor) ? take_anchor(phase) : HALOTUNE_OK;
}

static halotune_status run_next(struct phase *phase) {
  struct session *session = phase->session;
  struct trial *trial = phase->ready[phase->ready_first];
  double best_ms = isfinite(session->best_ms) ? session->best_ms * scale_now(phase) : 0;
  long number = trial->result.number;
  phase->ready_first = (phase->ready_first + 1) % MOST_READY;
  phase->ready_count--;
  halotune_status status = evaluate(session->tools->backend, SLOT_TRIAL, best_ms, trial);
  if (phase->anchor) anchor_busy(phase->anchor);
  if (status == HALOTUNE_OK) return finish(phase, trial, number);
  trial_free(trial);
  return status;
}

/* What earlier runs know counts as tried, and may win. */
static halotune_status recall_earlier(struct phase *phase) {
  struct session *session = phase->session;
  const struct tune_options *options = session->options;
  struct drawn_list earlier;
  if (options->fresh) return HALOTUNE_OK;
  halotune_status status = earlier_variants(session, options->rematch ? EARLIER_WINNERS : EARLIER_ALL, &earlier);
  for (long i = 0; i < earlier.count && status == HALOTUNE_OK && !session_is_stopped(session); i++) {
    if (!is_first(session, &earlier.list[i])) status = propose(phase, &earlier.list[i], 0);
  }
  drawn_free(&earlier);
  return status;
}

static halotune_status search(struct phase *phase) {
  struct session *session = phase->session;
  halotune_status status = propose(phase, &session->first, 0);
  if (status == HALOTUNE_OK) status = recall_earlier(phase);
  if (session->options->rematch) return status;
  while (status == HALOTUNE_OK && !session_is_searched(session)) {
    if ((status = feed(phase)) != HALOTUNE_OK) break;
    int pending = compiler_pending(session->tools->compiler);
    if (phase->ready_count == 0 && pending == 0 && phase->is_dry) break;
    if (pending > 0 && (status = collect(phase, phase->ready_count ? 0 : COMPILE_WAIT_MS)) != HALOTUNE_OK) break;
    if (phase->ready_count > 0) {
      if ((status = look_at_anchor(phase)) == HALOTUNE_OK) status = run_next(phase);
    }
    session_show(session, "search");
  }
  return status;
}

/* Judge the last variants, measure once more what has to be, and give every time the scale that is known of it now. */
static halotune_status settle(struct phase *phase) {
  struct session *session = phase->session;
  long number;
  if (!phase->anchor) return HALOTUNE_OK;
  halotune_status status = take_anchor(phase);
  while (status == HALOTUNE_OK && phase->anchor && !session_is_stopped(session) && (number = anchor_next_again(phase->anchor)) > 0) {
    status = propose(phase, &phase->results[number - 1].proposal, number);
    while (status == HALOTUNE_OK && compiler_pending(session->tools->compiler) > 0) status = collect(phase, COMPILE_WAIT_MS);
    while (status == HALOTUNE_OK && phase->ready_count > 0) status = run_next(phase);
  }
  if (status == HALOTUNE_OK && phase->anchor) status = take_anchor(phase);
  if (!phase->anchor) return status;
  for (long i = 0; i < session->timed_count; i++) {
    if (session->timed[i].number > 0) session->timed[i].scale = anchor_scale(phase->anchor, session->timed[i].number);
  }
  session->scale = scale_now(phase);
  return status;
}

/* What the compilers still have is of no use any more, but it has to be taken before the next task. */
static halotune_status drain(struct phase *phase) {
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && compiler_pending(phase->session->tools->compiler) > 0) {
    struct compiler_result result;
    bool have = false;
    status = compiler_wait(phase->session->tools->compiler, -1, &result, &have);
    if (status == HALOTUNE_OK && have) compile_result_free(&result.compile);
  }
  return status;
}

halotune_status session_search(struct session *session) {
  struct phase *phase = calloc(1, sizeof *phase);
  if (!phase) return fail_memory();
  phase->session = session;
  halotune_status status = open_anchor(phase);
  if (status == HALOTUNE_OK) status = search(phase);
  halotune_status drained = drain(phase);
  for (int i = 0; i < MOST_IN_FLIGHT; i++) {
    trial_free(phase->in_flight[i]);
    phase->in_flight[i] = NULL;
  }
  for (int i = 0; i < phase->ready_count; i++) trial_free(phase->ready[(phase->ready_first + i) % MOST_READY]);
  phase->ready_count = 0;
  if (status == HALOTUNE_OK && drained == HALOTUNE_OK && !session_is_stopped(session)) status = settle(phase);
  anchor_free(phase->anchor);
  struct backend_handle *backend = session->tools->backend;
  halotune_status unloaded = backend->table->unload(backend->state, SLOT_ANCHOR);
  trial_free(phase->anchor_trial);
  free(phase->results);
  free(phase);
  return status != HALOTUNE_OK ? status : drained != HALOTUNE_OK ? drained : unloaded;
}
