/* pipeline.c: a table of trials that are with the compilers, and a ring of trials that are ready for the device. */
#include "tuner/search/variants/pipeline.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/system/trace.h"

enum {
  MOST_IN_FLIGHT = 256, /* trials with the compilers, which never take so many */
  ENOUGH_READY = 32,    /* when so many are ready, no more are begun */
  RING = 320,           /* it never fills: all that are begun have room in it */
  ASK_MS = 20,          /* how long a wait for a compile does not see that the ending has come */
};

struct in_flight {
  struct trial *trial; /* NULL: free */
  const struct task *task;
};

struct pipeline {
  struct compiler *compiler;
  struct in_flight in_flight[MOST_IN_FLIGHT]; /* the compiler's id is the index */
  struct trial *ready[RING];
  int flying, ready_first, ready_count;
};

halotune_status pipeline_make(struct compiler *compiler, struct pipeline **out) {
  *out = calloc(1, sizeof **out);
  if (!*out) return fail_memory();
  (*out)->compiler = compiler;
  return HALOTUNE_OK;
}

void pipeline_clear(struct pipeline *pipeline) {
  if (pipeline->compiler) compiler_drop(pipeline->compiler); /* first: requests point into trials */
  for (int i = 0; i < MOST_IN_FLIGHT; i++) trial_free(pipeline->in_flight[i].trial);
  for (int i = 0; i < pipeline->ready_count; i++) trial_free(pipeline->ready[(pipeline->ready_first + i) % RING]);
  *pipeline = (struct pipeline){.compiler = pipeline->compiler};
}

void pipeline_free(struct pipeline *pipeline) {
  if (!pipeline) return;
  pipeline_clear(pipeline);
  free(pipeline);
}

bool pipeline_has_room(const struct pipeline *pipeline) {
  if (pipeline->ready_count >= ENOUGH_READY) return false;
  return !pipeline->compiler || (pipeline->flying < MOST_IN_FLIGHT && compiler_has_room(pipeline->compiler));
}

int pipeline_count(const struct pipeline *pipeline) { return pipeline->flying + pipeline->ready_count; }

bool pipeline_is_empty(const struct pipeline *pipeline) { return pipeline_count(pipeline) == 0; }

/* Put a trial at the end of the ring. A stand-in goes to the front, because nobody watches the GPU until it runs. */
static void ready_put(struct pipeline *pipeline, struct trial *trial) {
  int place = (pipeline->ready_first + pipeline->ready_count) % RING;
  if (trial->is_stand_in) place = pipeline->ready_first = (pipeline->ready_first + RING - 1) % RING;
  pipeline->ready[place] = trial;
  pipeline->ready_count++;
}

halotune_status pipeline_put(struct pipeline *pipeline, struct trial *trial, const struct task *task) {
  if (!pipeline->compiler) {
    ready_put(pipeline, trial);
    return HALOTUNE_OK;
  }
  int place = 0;
  while (place < MOST_IN_FLIGHT - 1 && pipeline->in_flight[place].trial) place++;
  const double begin_ms = trace_now_ms();
  struct compile_request request = trial_request(trial, task);
  halotune_status status = compiler_submit(pipeline->compiler, (uint64_t)place, &request);
  trace_end(TRACE_PROGRAM, "submit", begin_ms, &trial->generated.hash, NULL);
  if (status != HALOTUNE_OK) {
    trial_free(trial);
    return status;
  }
  pipeline->in_flight[place] = (struct in_flight){trial, task};
  pipeline->flying++;
  return HALOTUNE_OK;
}

/* Where the cache answered, or the compiler died, there is no span. */
static void trace_compile(const struct trial *trial, const struct compiler_result *result) {
  const struct compile_times *times = &result->compile.times;
  char detail[64];
  if (!trace_is_on() || times->end_ms <= 0) return;
  snprintf(detail, sizeof detail, "%.1f ms of processor time", times->processor_ms);
  trace_span(TRACE_COMPILERS + result->compile.worker, "compile", times->begin_ms, times->end_ms,
             &trial->generated.hash, detail);
}

/* Move finished trials from the compilers into the ring.
 *   timeout_ms  how long to wait for the first one */
static halotune_status results_collect(struct pipeline *pipeline, int timeout_ms) {
  while (pipeline->flying > 0) {
    struct compiler_result result;
    bool have = false;
    const double begin_ms = trace_now_ms();
    halotune_status status = compiler_wait(pipeline->compiler, timeout_ms, &result, &have);
    trace_end(TRACE_PROGRAM, timeout_ms == 0 ? "collect" : "wait for a compiler", begin_ms, NULL, NULL);
    if (status != HALOTUNE_OK || !have) return status;
    struct in_flight *place = &pipeline->in_flight[result.compile.id];
    trace_compile(place->trial, &result);
    trial_take(place->trial, place->task, &result.compile);
    compile_result_free(&result.compile);
    ready_put(pipeline, place->trial);
    *place = (struct in_flight){.trial = NULL};
    pipeline->flying--;
    timeout_ms = 0;
  }
  return HALOTUNE_OK;
}

/* Take out the trial at a place of the ring, counted from its first one. */
static struct trial *ready_take(struct pipeline *pipeline, int place) {
  struct trial **ready = pipeline->ready;
  const int first = pipeline->ready_first;
  struct trial *taken = ready[(first + place) % RING];
  for (int i = place; i > 0; i--) ready[(first + i) % RING] = ready[(first + i - 1) % RING];
  pipeline->ready_first = (first + 1) % RING;
  pipeline->ready_count--;
  return taken;
}

halotune_status pipeline_take(struct pipeline *pipeline, int timeout_ms, struct trial **out) {
  *out = NULL;
  halotune_status status = results_collect(pipeline, pipeline->ready_count > 0 ? 0 : timeout_ms);
  if (status != HALOTUNE_OK || pipeline->ready_count == 0) return status;
  *out = ready_take(pipeline, 0);
  return HALOTUNE_OK;
}

halotune_status pipeline_take_this(struct pipeline *pipeline, const struct trial *wanted, int timeout_ms,
                                   struct trial **out) {
  *out = NULL;
  halotune_status status = results_collect(pipeline, 0);
  for (int tries = 0; tries < 2 && status == HALOTUNE_OK; tries++) {
    for (int i = 0; i < pipeline->ready_count; i++) {
      if (pipeline->ready[(pipeline->ready_first + i) % RING] != wanted) continue;
      *out = ready_take(pipeline, i);
      return HALOTUNE_OK;
    }
    if (tries == 0) status = results_collect(pipeline, timeout_ms);
  }
  return status;
}

/* Drop all trials, because the ending has come. */
static halotune_status end_early(struct pipeline *pipeline) {
  pipeline_clear(pipeline);
  return fail(HALOTUNE_CANCELLED, "stopped while a variant was compiled");
}

halotune_status pipeline_await(struct pipeline *pipeline, const struct trial *wanted, const struct ending *ending,
                               struct trial **out) {
  halotune_status status = HALOTUNE_OK;
  bool may_come = true;
  *out = NULL;
  while (status == HALOTUNE_OK && !*out && may_come) {
    may_come = pipeline->flying > 0;
    status = wanted ? pipeline_take_this(pipeline, wanted, ASK_MS, out) : pipeline_take(pipeline, ASK_MS, out);
    if (status == HALOTUNE_OK && !*out && ending_has_come(ending)) return end_early(pipeline);
  }
  return status == HALOTUNE_OK && !*out ? fail(HALOTUNE_IO, "a compile gave no result") : status;
}

halotune_status pipeline_build(struct pipeline *pipeline, const struct task *task, const struct template *template,
                               const struct proposal *proposal, const struct ending *ending, struct trial **out) {
  halotune_status status = trial_begin(task, template, proposal, &task->grid, out);
  if (status != HALOTUNE_OK || (*out)->is_over) return status;
  struct trial *trial = *out;
  *out = NULL;
  while (status == HALOTUNE_OK && !pipeline_has_room(pipeline) && pipeline->flying > 0) {
    status = results_collect(pipeline, ASK_MS);
    if (status == HALOTUNE_OK && ending_has_come(ending)) status = end_early(pipeline);
  }
  if (status != HALOTUNE_OK) {
    trial_free(trial);
    return status;
  }
  status = pipeline_put(pipeline, trial, task);
  return status == HALOTUNE_OK ? pipeline_await(pipeline, trial, ending, out) : status;
}
