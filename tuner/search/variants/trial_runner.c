/* trial_runner.c: a ring of trials between the program's thread and the device's. */
#include "tuner/search/variants/trial_runner.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/trace.h"

struct turn {
  struct trial *trial;
  double best_ms;
  halotune_status status; /* status that evaluate returned */
  double end_ms;          /* when evaluate ended; 0: the trial was not run */
};

struct runner {
  struct backend_handle *backend;
  struct time_source time;
  int slot;
  bool has_thread;
  pthread_t thread;
  /* Only the program's thread changes these two. */
  int first, count;
  struct turn ring[RUNNER_MOST];
  /* The lock guards these, and the ring where both threads see it. */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int put, ended; /* trials since the beginning */
  bool is_closing;
  halotune_status failure; /* the first failure, and its text */
  struct fail_kept detail;
};

static void run_turn(struct runner *runner, struct turn *turn) {
  turn->status = runner->failure;
  if (turn->status != HALOTUNE_OK) return;
  const double begin_ms = trace_now_ms();
  turn->status = evaluate(runner->backend, runner->slot, turn->best_ms, turn->trial);
  turn->end_ms = time_now_ms(&runner->time);
  trace_end(TRACE_RUNNER, "evaluate", begin_ms, &turn->trial->generated.hash, NULL);
  if (turn->status == HALOTUNE_OK) return;
  runner->failure = turn->status;
  fail_keep(&runner->detail);
}

static void *run_trials(void *context) {
  struct runner *runner = context;
  pthread_mutex_lock(&runner->lock);
  for (;;) {
    while (runner->ended == runner->put && !runner->is_closing) pthread_cond_wait(&runner->changed, &runner->lock);
    if (runner->is_closing) break;
    struct turn *turn = &runner->ring[runner->ended % RUNNER_MOST];
    pthread_mutex_unlock(&runner->lock);
    run_turn(runner, turn);
    pthread_mutex_lock(&runner->lock);
    runner->ended++;
    pthread_cond_broadcast(&runner->changed);
  }
  pthread_mutex_unlock(&runner->lock);
  return NULL;
}

halotune_status runner_make(struct backend_handle *backend, int slot, const struct time_source *time,
                            struct runner **out) {
  struct runner *runner = *out = calloc(1, sizeof *runner);
  if (!runner) return fail_memory();
  runner->backend = backend;
  runner->slot = slot;
  runner->time = *time;
  pthread_mutex_init(&runner->lock, NULL);
  pthread_cond_init(&runner->changed, NULL);
  /* Without the thread everything works, but more slowly. */
  runner->has_thread =
      backend->table->may_change_thread && pthread_create(&runner->thread, NULL, run_trials, runner) == 0;
  return HALOTUNE_OK;
}

static void set_closing(struct runner *runner) {
  pthread_mutex_lock(&runner->lock);
  runner->is_closing = true;
  pthread_cond_broadcast(&runner->changed);
  pthread_mutex_unlock(&runner->lock);
}

void runner_free(struct runner *runner) {
  if (!runner) return;
  set_closing(runner);
  if (runner->has_thread) pthread_join(runner->thread, NULL);
  for (int i = 0; i < runner->count; i++) trial_free(runner->ring[(runner->first + i) % RUNNER_MOST].trial);
  pthread_cond_destroy(&runner->changed);
  pthread_mutex_destroy(&runner->lock);
  free(runner);
}

int runner_count(const struct runner *runner) { return runner->count; }

bool runner_is_beside(const struct runner *runner) { return runner->has_thread; }

bool runner_has_code(const struct runner *runner, const struct trial *trial) {
  for (int i = 0; i < runner->count; i++) {
    const struct compiled *other = &runner->ring[(runner->first + i) % RUNNER_MOST].trial->compiled;
    if (other->cubin_bytes == trial->compiled.cubin_bytes && trial->compiled.cubin &&
        memcmp(other->cubin, trial->compiled.cubin, other->cubin_bytes) == 0)
      return true;
  }
  return false;
}

bool runner_has_ended(struct runner *runner) {
  if (runner->count == 0) return false;
  pthread_mutex_lock(&runner->lock);
  const bool has_ended = runner->put - runner->ended < runner->count;
  pthread_mutex_unlock(&runner->lock);
  return has_ended;
}

void runner_put(struct runner *runner, struct trial *trial, double best_ms) {
  struct turn *turn = &runner->ring[(runner->first + runner->count++) % RUNNER_MOST];
  *turn = (struct turn){.trial = trial, .best_ms = best_ms};
  if (!runner->has_thread) run_turn(runner, turn);
  pthread_mutex_lock(&runner->lock);
  runner->put++;
  runner->ended += !runner->has_thread;
  pthread_cond_broadcast(&runner->changed);
  pthread_mutex_unlock(&runner->lock);
}

halotune_status runner_take(struct runner *runner, struct trial **out, double *end_ms) {
  *out = NULL;
  *end_ms = 0;
  if (runner->count == 0) return HALOTUNE_OK;
  const double begin_ms = trace_now_ms();
  pthread_mutex_lock(&runner->lock);
  while (runner->put - runner->ended == runner->count) pthread_cond_wait(&runner->changed, &runner->lock);
  pthread_mutex_unlock(&runner->lock);
  trace_end(TRACE_PROGRAM, "wait for the GPU", begin_ms, NULL, NULL);
  const struct turn turn = runner->ring[runner->first];
  runner->first = (runner->first + 1) % RUNNER_MOST;
  runner->count--;
  *out = turn.trial;
  *end_ms = turn.end_ms;
  if (turn.status != HALOTUNE_OK) fail_put_back(&runner->detail);
  return turn.status;
}
