/* tune_tasks.h: the tasks of a `halotune tune`, one after the other. */
#ifndef CLI_TUNE_TUNE_TASKS_H
#define CLI_TUNE_TUNE_TASKS_H

#include <signal.h>

#include "tuner/cli/tune/tune_options.h"
#include "tuner/cli/tune/tune_setup.h"
#include "tuner/cli/tune/tune_site.h"

/* A task that was tuned, or not. */
struct tuned {
  struct planned_task task; /* as planned, with the number of steps; the plan owns the coefficients */
  struct tune_result result;
  bool reproducible; /* as the task was */
  bool is_recorded;  /* replayed: nothing ran */
  bool is_emulated;  /* its times say nothing about a GPU */
  bool is_done;
  bool is_refused;  /* it cannot be tuned, so there is nothing to continue */
  bool is_optional; /* of several steps, which nobody asked for: it may have no winner */
};

/* The rows of all tasks. Start with {0}; free `rows`. */
struct tuned_list {
  struct tuned *rows;
  int count, room;
};

/* What the tasks share. Nothing is owned. */
struct tune_tasks {
  struct tune_setup *setup;
  const struct tune_plan *plan;
  const struct tune_set *set;
  const struct tune_options *options; /* its `progress` and `context` are set for each task */
  const volatile sig_atomic_t *stop;  /* not 0: no further task begins */
  bool reproducible;
  const struct site_run *site; /* with --plan --resume: tasks that others do or did are left out; else NULL */
  bool explains;               /* tell on stderr why each variant is proposed */
};

/* The time for a task: its own, else that of the options. */
double tune_task_budget_s(const struct planned_task *task, const struct tune_options *options);

/* Tune each task of the plan, with a line of progress on a terminal. A task that fails is told on stderr, and the
 * next one begins; only a failure of the database, or a GPU that is gone, ends them all.
 * A task of any number of steps begins with single steps. Several steps are searched as well if times rank variants,
 * which those of the emulation do not, if the task is neither a recording nor a rematch, and if the budget leaves each
 * number of steps enough; steps_search.h says how they share it.
 *   out  receives a row for each number of steps that was tuned, and for each task that was not begun
 * Returns HALOTUNE_OK or the last failure. */
halotune_status tune_tasks_run(const struct tune_tasks *tasks, struct tuned_list *out);

#endif
