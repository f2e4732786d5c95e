/* backend_replay.c: answers from the results of a database. */
#include "tuner/measure/backends/backend_replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/random.h"
#include "base/system/clock.h"
#include "tuner/measure/backends/recording.h"

/* The clock of a replay. It advances by the recorded times of compilers and GPU. */
struct replay_clock {
  double now_ms;
  int in_flight;                          /* variants that compile at a time */
  double ended_ms[REPLAY_MOST_IN_FLIGHT]; /* when each of the last `in_flight` variants had its result: a ring */
  long ended;
};

struct replay {
  struct recording recording;
  struct replay_clock clock;
  const struct record *slots[BACKEND_SLOTS];
  bool is_roof[BACKEND_SLOTS];
  uint64_t drawn; /* samples so far */
};

static halotune_status replay_set_problem(void *state, const struct backend_problem *problem) {
  struct replay *replay = state;
  memset(replay->slots, 0, sizeof replay->slots);
  memset(replay->is_roof, 0, sizeof replay->is_roof);
  return recording_set_problem(&replay->recording, problem);
}

/* When a variant is wanted for the first time, wait for the end of its compile, but not beyond a time. The search
 * proposed it, and its compile began, when the variant that was proposed `in_flight` places before it had its result.
 * Returns whether it is compiled. */
static bool clock_compile(struct replay_clock *clock, struct record *record, double until_ms) {
  const double begin_ms = clock->ended_ms[clock->ended % clock->in_flight], end_ms = begin_ms + record->compile_ms;
  if (record->is_compiled) return true;
  record->is_compiled = end_ms <= fmax(until_ms, clock->now_ms);
  clock->now_ms = fmax(clock->now_ms, fmin(end_ms, until_ms));
  return record->is_compiled;
}

static void clock_end(struct replay_clock *clock) {
  clock->ended_ms[clock->ended++ % clock->in_flight] = clock->now_ms;
}

static double replay_now_ms(void *state) { return ((const struct replay *)state)->clock.now_ms; }

static halotune_status replay_await(void *state, const struct candidate *candidate, double until_ms,
                                    bool *is_compiled) {
  struct replay *replay = state;
  struct record *record;
  halotune_status status = recording_find(&replay->recording, candidate, &record);
  *is_compiled = status != HALOTUNE_OK || !record || clock_compile(&replay->clock, record, until_ms);
  return status;
}

static halotune_status replay_load(void *state, int slot, const struct candidate *candidate, struct verdict *verdict) {
  struct replay *replay = state;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  replay->slots[slot] = NULL;
  replay->is_roof[slot] = candidate->is_roof && !isnan(replay->recording.copy_ms);
  if (replay->is_roof[slot]) return HALOTUNE_OK;
  struct record *record = NULL;
  halotune_status status = candidate->is_roof ? HALOTUNE_OK : recording_find(&replay->recording, candidate, &record);
  if (status != HALOTUNE_OK) return status;
  if (!record) {
    verdict->outcome = OUTCOME_PRUNED;
    snprintf(verdict->reason, sizeof verdict->reason, "not in the recording");
    return HALOTUNE_OK;
  }
  verdict->recorded = record->kernel;
  clock_compile(&replay->clock, record, INFINITY);
  if (!outcome_has_time(record->outcome)) {
    verdict->outcome = record->outcome;
    snprintf(verdict->reason, sizeof verdict->reason, "%s", record->reason);
    clock_end(&replay->clock);
    return HALOTUNE_OK;
  }
  replay->clock.now_ms += record->median_ms; /* the time of the run that is verified */
  verdict->worst = (struct comparison){.passed = true,
                                       .points = 1,
                                       .rms_error = record->rms_error,
                                       .max_error = record->max_error,
                                       .max_error_units = record->max_error_units};
  replay->slots[slot] = record;
  return HALOTUNE_OK;
}

static halotune_status replay_unload(void *state, int slot) {
  struct replay *replay = state;
  if (replay->slots[slot]) clock_end(&replay->clock);
  replay->slots[slot] = NULL;
  replay->is_roof[slot] = false;
  return HALOTUNE_OK;
}

/* Draw a sample of a slot. NaN for an empty slot, and for a time that the recording does not have. */
static double draw_sample(struct replay *replay, int slot) {
  if (slot == SLOT_EMPTY) return replay->recording.empty_ms;
  if (slot == SLOT_MEMCPY) return replay->recording.memcpy_ms;
  if (replay->is_roof[slot]) return replay->recording.copy_ms;
  const struct record *record = replay->slots[slot];
  if (!record) return NAN;
  if (record->sample_count == 0) return record->median_ms;
  return (double)record->samples[random_bits(record->key.low, replay->drawn++) % (uint64_t)record->sample_count];
}

static halotune_status replay_sample(void *state, const struct sample_plan *plan, double *times_ms, int *failed,
                                     struct verdict *verdict) {
  struct replay *replay = state;
  const int count = plan->rounds * plan->slot_count;
  *failed = -1;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  for (int i = 0; i < count; i++) {
    times_ms[i] = draw_sample(replay, plan->slots[i % plan->slot_count]);
    if (!isnan(times_ms[i])) {
      replay->clock.now_ms += times_ms[i] * (plan->batches[i % plan->slot_count] + plan->warm);
      continue;
    }
    for (int rest = i; rest < count; rest++) times_ms[rest] = 0;
    *failed = plan->slots[i % plan->slot_count];
    verdict->outcome = OUTCOME_LAUNCH_FAILED;
    snprintf(verdict->reason, sizeof verdict->reason, "not in the recording");
    return HALOTUNE_OK;
  }
  return HALOTUNE_OK;
}

/* Only one time of the driver's copy is recorded. */
static bool is_constant(void *state, int slot) {
  const struct replay *replay = state;
  return slot >= BACKEND_SLOTS || !replay->slots[slot] || replay->slots[slot]->sample_count == 0;
}

static halotune_status replay_recheck(void *state, int slot, struct verdict *verdict) {
  struct replay *replay = state;
  if (replay->slots[slot]) replay->clock.now_ms += replay->slots[slot]->median_ms;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  return HALOTUNE_OK;
}

static halotune_status keep_warm(void *state, double time_ms) {
  ((struct replay *)state)->clock.now_ms += time_ms;
  return HALOTUNE_OK;
}

static halotune_status
replay_list(void *state, halotune_status (*visit)(void *context, const char *template, const char *parameters),
            void *context) {
  const struct replay *replay = state;
  halotune_status status = HALOTUNE_OK;
  for (long i = 0; i < replay->recording.count && status == HALOTUNE_OK; i++) {
    status = visit(context, replay->recording.records[i].template, replay->recording.records[i].parameters);
  }
  return status;
}

static void close_replay(void *state) {
  struct replay *replay = state;
  recording_close(&replay->recording);
  free(replay);
}

static const struct backend backend_replay = {.name = "replay",
                                              .set_problem = replay_set_problem,
                                              .await_compile = replay_await,
                                              .load = replay_load,
                                              .unload = replay_unload,
                                              .sample = replay_sample,
                                              .recheck = replay_recheck,
                                              .is_constant = is_constant,
                                              .read = backend_read_nothing,
                                              .keep_warm = keep_warm,
                                              .now_ms = replay_now_ms,
                                              .list = replay_list,
                                              .close = close_replay};

halotune_status backend_replay_open(const char *path, int in_flight, struct backend_handle *out) {
  *out = (struct backend_handle){.table = NULL};
  struct replay *replay = calloc(1, sizeof *replay);
  if (!replay) return fail_memory();
  replay->clock = (struct replay_clock){.now_ms = clock_ms(), .in_flight = in_flight};
  for (int i = 0; i < in_flight; i++) replay->clock.ended_ms[i] = replay->clock.now_ms;
  const halotune_status status = recording_open(path, &out->facts, &replay->recording);
  if (status == HALOTUNE_OK) {
    out->table = &backend_replay;
    out->state = replay;
    return HALOTUNE_OK;
  }
  free(replay);
  return status;
}
