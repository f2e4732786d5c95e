/* member_finals.c: rounds of variants that the leader names. */
#include "tuner/fleet/member_finals.h"

#include <math.h>
#include <stdlib.h>

#include "tuner/measure/finals/finals_plan.h"
#include "tuner/measure/finals/rounds.h"
#include "tuner/measure/sampling/measure.h"
#include "tuner/measure/sampling/steady.h"
#include "tuner/search/variants/evaluate.h"

struct finalists {
  struct proposal *proposals;
  struct trial **trials; /* the loaded trials, one in each slot */
  double *times_ms;
  int count;
  uint64_t seed;
};

static halotune_status finalists_read(struct member_state *member, struct unpack *in, struct finalists *out) {
  out->seed = unpack_u64(in);
  const uint64_t count = unpack_u64(in);
  if (in->failed || count > FINALS_SLOTS) return fail(HALOTUNE_IO, "the leader named no finalists");
  out->count = (int)count;
  out->proposals = calloc((size_t)count + 1, sizeof *out->proposals);
  out->trials = calloc((size_t)count + 1, sizeof(struct trial *));
  out->times_ms = calloc((size_t)count + 1, sizeof *out->times_ms);
  if (!out->proposals || !out->trials || !out->times_ms) return fail_memory();
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < out->count && status == HALOTUNE_OK; i++) {
    out->times_ms[i] = NAN;
    status = member_read_proposal(member, in, &out->proposals[i]);
  }
  return status;
}

/* Compile and load a finalist, and find its batch. */
static halotune_status load_player(struct member_state *member, struct finalists *finalists, int at,
                                   struct player *player) {
  struct backend_handle *backend = member->tools->backend;
  const struct setup *setup = &member->setup;
  const struct proposal *proposal = &finalists->proposals[at];
  double time_ms;
  *player = (struct player){.slot = at, .batch = 1, .verdict = {.outcome = OUTCOME_PRUNED}};
  member_alive(member);
  const struct ending ending = schedule_ending(&member->schedule);
  halotune_status status =
      pipeline_build(setup->pipeline, &member->task, setup->space.templates[proposal->template_index], proposal,
                     &ending, &finalists->trials[at]);
  if (status != HALOTUNE_OK || finalists->trials[at]->is_over) return status;
  player->verdict.outcome = OUTCOME_MEASURED;
  status = trial_load(backend, at, finalists->trials[at], false, &player->verdict);
  if (status != HALOTUNE_OK || player->verdict.outcome != OUTCOME_MEASURED) return status;
  player->is_constant = backend_is_constant(backend, at);
  return measure_batch(backend, at, MEASURE_SAMPLE_US / 1e3, &player->batch, &time_ms, &player->verdict);
}

static bool is_stopped(void *state) {
  struct member_state *member = state;
  member_alive(member);
  return member->tools->stop && *member->tools->stop;
}

static halotune_status run_finals(struct member_state *member, struct finalists *finalists) {
  struct backend_handle *backend = member->tools->backend;
  const struct time_source time = backend_time(backend);
  const struct rounds_end end = {.at_ms = INFINITY, .is_stopped = is_stopped, .state = member};
  struct rounds rounds;
  halotune_status status = rounds_make(backend, &time, finalists->seed + (uint64_t)member->link->rank, finalists->count,
                                       FINALS_ROUNDS, &rounds);
  if (status != HALOTUNE_OK) return status;
  for (int i = 0; i < finalists->count && status == HALOTUNE_OK; i++)
    status = load_player(member, finalists, i, &rounds.players[i]);
  if (status == HALOTUNE_OK) status = steady_wait(backend);
  if (status == HALOTUNE_OK) status = rounds_run(&rounds, FINALS_ROUNDS, &end);
  if (status == HALOTUNE_OK) rounds_drop_throttled(&rounds, FINALS_ROUNDS_LEAST);
  for (int i = 0; i < finalists->count && status == HALOTUNE_OK; i++) {
    if (player_is_in(&rounds, i)) status = backend->table->recheck(backend->state, i, &rounds.players[i].verdict);
  }
  if (status == HALOTUNE_OK && rounds.count > 0) rounds_adjusted(&rounds, finalists->times_ms);
  rounds_free(&rounds);
  return status;
}

halotune_status member_finals(struct member_state *member, struct unpack *in) {
  struct backend_handle *backend = member->tools->backend;
  struct finalists finalists = {.count = 0};
  struct text message;
  halotune_status status = finalists_read(member, in, &finalists);
  if (status == HALOTUNE_OK && finalists.count > 0) status = run_finals(member, &finalists);
  member_begin(member, FLEET_TIMES, &message);
  pack_u64(&message, (uint64_t)finalists.count);
  for (int i = 0; i < finalists.count && finalists.trials && finalists.times_ms; i++) {
    pack_double(&message, finalists.times_ms[i]);
    const halotune_status unloaded = backend->table->unload(backend->state, i);
    if (status == HALOTUNE_OK) status = unloaded;
    trial_free(finalists.trials[i]);
  }
  free(finalists.proposals);
  free(finalists.trials);
  free(finalists.times_ms);
  if (status == HALOTUNE_OK) return member_send(member, &message);
  text_free(&message);
  return status;
}
