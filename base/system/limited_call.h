/* limited_call.h: a call that nothing can interrupt, made in a thread of its own and waited for with a limit. */
#ifndef BASE_LIMITED_CALL_H
#define BASE_LIMITED_CALL_H

#include <stdbool.h>

#include "base/fail.h"

struct limited_call {
  halotune_status (*work)(void *job); /* runs in the thread, with all signals blocked */
  void (*drop)(void *job);            /* frees a job that was left to its thread */
  int limit_ms;                       /* time in which the process was stopped hardly counts */
};

/* Run `work(job)` and wait for its end.
 *   is_late  receives true if the limit came first. The job is then left to the thread, which drops it when `work`
 *            returns, if it ever does. Otherwise the job stays the caller's.
 * Returns what `work` returned, with its detail; HALOTUNE_MEMORY if there is no thread; HALOTUNE_CANCELLED, without a
 * detail, if it is late. */
halotune_status limited_call(const struct limited_call *how, void *job, bool *is_late);

/* Whether a thread was left in a call that has not ended since. exit() would take down libraries in which this thread
 * still is. */
bool limited_call_is_left(void);

/* Keep the library that holds a function in memory until the program ends. A thread that was left may be in it. */
void limited_call_keep(const void *function);

#endif
