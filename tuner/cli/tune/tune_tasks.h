/* tune_tasks.h: the tasks of a `halotune tune`, one after the other. */
#ifndef CLI_TUNE_TUNE_TASKS_H
#define CLI_TUNE_TUNE_TASKS_H

#include <signal.h>

#include "tuner/cli/tune/tune_options.h"
#include "tuner/cli/tune/tune_setup.h"

/* A task that was tuned, or not. */
struct tuned {
  const struct planned_task *task;
  struct tune_result result;
  bool reproducible; /* as the task was */
  bool is_recorded;  /* replayed: nothing ran */
  bool is_emulated;  /* its times say nothing about a GPU */
  bool is_done;
  bool is_refused; /* it cannot be tuned, so there is nothing to continue */
};

/* What the tasks share. Nothing is owned. */
struct tune_tasks {
  struct tune_setup *setup;
  const struct tune_plan *plan;
  const struct tune_set *set;
  const struct tune_options *options; /* its `progress` and `context` are set for each task */
  const volatile sig_atomic_t *stop;  /* not 0: no further task begins */
  bool reproducible;
};

/* Tune each task of the plan, with a line of progress on a terminal. A task that fails is told on stderr, and the
 * next one begins; only a failure of the database, or a GPU that is gone, ends them all.
 *   rows  one for each task, all zero but `task`; receives what came of it
 * Returns HALOTUNE_OK or the last failure. */
halotune_status tune_tasks_run(const struct tune_tasks *tasks, struct tuned *rows);

#endif
