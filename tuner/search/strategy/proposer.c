/* proposer.c: a ring of proposals from the strategy's thread, and a list of results to it. */
#include "tuner/search/strategy/proposer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/fail.h"
#include "base/memory/array.h"
#include "base/system/trace.h"

struct told {
  struct proposal proposal;
  double time_ms;
};

struct told_list {
  struct told *list;
  long count, capacity;
};

struct proposer {
  const struct strategy *strategy;
  void *state;
  bool is_beside, has_thread;
  pthread_t thread;
  struct told_list passing; /* only the strategy's thread uses it */
  /* The lock guards these. */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  struct proposed ring[PROPOSER_AHEAD];
  int first, count;
  struct told_list told; /* results that the strategy does not know */
  bool is_thinking, is_dry, is_closing;
  halotune_status failure; /* the strategy's first one */
  char detail[FAIL_TEXT_BYTES];
};

halotune_status proposer_make(const struct strategy *strategy, void *state, bool is_beside, struct proposer **out) {
  struct proposer *proposer = *out = calloc(1, sizeof *proposer);
  if (!proposer) return fail_memory();
  proposer->strategy = strategy;
  proposer->state = state;
  proposer->is_beside = is_beside;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&proposer->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_init(&proposer->lock, NULL);
  return HALOTUNE_OK;
}

void proposer_free(struct proposer *proposer) {
  if (!proposer) return;
  pthread_mutex_lock(&proposer->lock);
  proposer->is_closing = true;
  pthread_cond_broadcast(&proposer->changed);
  pthread_mutex_unlock(&proposer->lock);
  if (proposer->has_thread) pthread_join(proposer->thread, NULL);
  pthread_cond_destroy(&proposer->changed);
  pthread_mutex_destroy(&proposer->lock);
  free(proposer->passing.list);
  free(proposer->told.list);
  free(proposer);
}

/* Ask the strategy for a proposal. */
static halotune_status ask_strategy(struct proposer *proposer, struct proposed *out, bool *have) {
  const struct strategy *strategy = proposer->strategy;
  const double begin_ms = trace_now_ms();
  *have = false;
  halotune_status status = strategy->next(proposer->state, &out->proposal, have);
  if (status != HALOTUNE_OK) return status;
  snprintf(out->why, sizeof out->why, "%s", strategy->why ? strategy->why(proposer->state) : "");
  trace_end(TRACE_STRATEGY, "propose", begin_ms, NULL, strategy->why ? out->why : NULL);
  return HALOTUNE_OK;
}

static halotune_status tell_strategy(struct proposer *proposer, const struct proposal *proposal, double time_ms) {
  const double begin_ms = trace_now_ms();
  halotune_status status = proposer->strategy->tell(proposer->state, proposal, time_ms);
  trace_end(TRACE_STRATEGY, "tell", begin_ms, NULL, NULL);
  return status;
}

/* Pass on the results that were taken from the list. */
static halotune_status pass_on(struct proposer *proposer) {
  struct told_list *passing = &proposer->passing;
  halotune_status status = HALOTUNE_OK;
  for (long i = 0; i < passing->count && status == HALOTUNE_OK; i++)
    status = tell_strategy(proposer, &passing->list[i].proposal, passing->list[i].time_ms);
  passing->count = 0;
  return status;
}

/* Whether the strategy has something to do. The lock is held. */
static bool has_work(const struct proposer *proposer) {
  if (proposer->failure != HALOTUNE_OK) return false;
  return proposer->told.count > 0 || (!proposer->is_dry && proposer->count < PROPOSER_AHEAD);
}

/* Pass on what was told, and ask for a proposal if there is room. The lock is held; it is free meanwhile. */
static void serve_strategy(struct proposer *proposer) {
  const bool has_room = proposer->count < PROPOSER_AHEAD; /* nobody else fills the ring */
  const struct told_list told = proposer->told;
  struct proposed made = {0};
  bool have = false;
  proposer->told = proposer->passing;
  proposer->passing = told;
  if (told.count > 0) proposer->is_dry = false;
  proposer->is_thinking = true;
  pthread_mutex_unlock(&proposer->lock);
  halotune_status status = pass_on(proposer);
  if (status == HALOTUNE_OK && has_room) status = ask_strategy(proposer, &made, &have);
  pthread_mutex_lock(&proposer->lock);
  proposer->is_thinking = false;
  if (has_room) proposer->is_dry = !have;
  if (have) proposer->ring[(proposer->first + proposer->count++) % PROPOSER_AHEAD] = made;
  proposer->failure = status;
  if (status != HALOTUNE_OK) snprintf(proposer->detail, sizeof proposer->detail, "%s", fail_text());
  pthread_cond_broadcast(&proposer->changed);
}

static void *run_strategy(void *context) {
  struct proposer *proposer = context;
  pthread_mutex_lock(&proposer->lock);
  while (!proposer->is_closing) {
    if (has_work(proposer)) serve_strategy(proposer);
    else pthread_cond_wait(&proposer->changed, &proposer->lock);
  }
  pthread_mutex_unlock(&proposer->lock);
  return NULL;
}

/* Take what is there. The lock is held. */
static enum proposer_answer take_ready(struct proposer *proposer, struct proposed *out) {
  if (proposer->count == 0)
    return proposer->is_dry && !proposer->is_thinking && proposer->told.count == 0 ? PROPOSER_DRY : PROPOSER_THINKING;
  *out = proposer->ring[proposer->first];
  proposer->first = (proposer->first + 1) % PROPOSER_AHEAD;
  proposer->count--;
  pthread_cond_broadcast(&proposer->changed);
  return PROPOSER_HAS;
}

halotune_status proposer_next(struct proposer *proposer, struct proposed *out, enum proposer_answer *answer) {
  *answer = PROPOSER_DRY;
  /* Without the thread everything works, but more slowly. */
  if (proposer->is_beside && !proposer->has_thread)
    proposer->is_beside = proposer->has_thread = pthread_create(&proposer->thread, NULL, run_strategy, proposer) == 0;
  if (!proposer->is_beside) {
    bool have;
    halotune_status status = ask_strategy(proposer, out, &have);
    if (status == HALOTUNE_OK && have) *answer = PROPOSER_HAS;
    return status;
  }
  pthread_mutex_lock(&proposer->lock);
  const halotune_status failure = proposer->failure;
  if (failure == HALOTUNE_OK) *answer = take_ready(proposer, out);
  pthread_mutex_unlock(&proposer->lock);
  return failure == HALOTUNE_OK ? HALOTUNE_OK : fail(failure, "%s", proposer->detail);
}

void proposer_wait(struct proposer *proposer, int timeout_ms) {
  enum { NS_PER_MS = 1000000, MS_PER_S = 1000, NS_PER_S = 1000000000 };
  struct timespec limit;
  clock_gettime(CLOCK_MONOTONIC, &limit);
  limit.tv_sec += timeout_ms / MS_PER_S;
  limit.tv_nsec += (long)(timeout_ms % MS_PER_S) * NS_PER_MS;
  if (limit.tv_nsec >= NS_PER_S) limit.tv_sec++, limit.tv_nsec -= NS_PER_S;
  pthread_mutex_lock(&proposer->lock);
  while (proposer->has_thread && proposer->count == 0 && (proposer->is_thinking || has_work(proposer)) &&
         pthread_cond_timedwait(&proposer->changed, &proposer->lock, &limit) == 0)
    continue;
  pthread_mutex_unlock(&proposer->lock);
}

halotune_status proposer_tell(struct proposer *proposer, const struct proposal *proposal, double time_ms) {
  if (!proposer->has_thread) return tell_strategy(proposer, proposal, time_ms);
  halotune_status status = HALOTUNE_OK;
  pthread_mutex_lock(&proposer->lock);
  struct told_list *told = &proposer->told;
  if (array_room(told->list, told->count, told->capacity))
    told->list[told->count++] = (struct told){*proposal, time_ms};
  else status = fail_memory();
  pthread_cond_broadcast(&proposer->changed);
  pthread_mutex_unlock(&proposer->lock);
  return status;
}
