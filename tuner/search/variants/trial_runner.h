/* trial_runner.h: runs trials on the device, one after the other, in a thread of its own, so that the program proposes,
 * generates and stores meanwhile. A backend that must stay with the program's thread runs its trials in runner_put. */
#ifndef SEARCH_VARIANTS_TRIAL_RUNNER_H
#define SEARCH_VARIANTS_TRIAL_RUNNER_H

#include "base/system/clock.h"
#include "tuner/search/variants/evaluate.h"

/* Trials that are in a runner at a time. While one runs, the next one waits, so that the device need not wait for the
 * program. */
enum { RUNNER_MOST = 3 };

struct runner;

/* Make a runner without trials.
 *   backend  must live as long. Nobody else uses it while trials are in the runner
 *   slot     of the backend; empty while no trial is in the runner
 *   time     the clock of the ends of trials
 *   out      ended with runner_free; NULL on failure
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. Threads: one at a time calls these functions. */
halotune_status runner_make(struct backend_handle *backend, int slot, const struct time_source *time,
                            struct runner **out);

/* Wait for the trial that runs, drop all others, and end the thread. NULL is fine. */
void runner_free(struct runner *runner);

int runner_count(const struct runner *runner);

/* Whether trials run beside the program: false where runner_put itself runs them. */
bool runner_is_beside(const struct runner *runner);

/* Whether a trial with this machine code is in the runner. */
bool runner_has_code(const struct runner *runner, const struct trial *trial);

/* Whether the first trial has ended, so that runner_take does not wait. */
bool runner_has_ended(struct runner *runner);

/* Put a compiled trial in. There must be room.
 *   trial    belongs to the runner from now on
 *   best_ms  see evaluate */
void runner_put(struct runner *runner, struct trial *trial, double best_ms);

/* Take the first trial, and wait for its end.
 *   out     the caller's, also on failure; NULL if there is none
 *   end_ms  receives when the device finished it, which may be long ago; 0 if it was not run
 * Returns what evaluate returned. After a failure, no further trial is run: each has the same status. */
halotune_status runner_take(struct runner *runner, struct trial **out, double *end_ms);

#endif
