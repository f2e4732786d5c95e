/* tune_task.h: the tasks of a `halotune tune`, one after the other. */
#ifndef CLI_TUNE_TUNE_TASK_H
#define CLI_TUNE_TUNE_TASK_H

#include <signal.h>

#include "tuner/cli/output/progress.h"
#include "tuner/cli/tune/tune_options.h"
#include "tuner/cli/tune/tune_setup.h"
#include "tuner/cli/tune/tune_site.h"

/* The result of a task. */
struct tuned {
  struct planned_task task; /* the planned task, with the number of steps; the plan owns the coefficients */
  struct tune_result result;
  bool reproducible; /* the task's value */
  bool is_recorded;  /* replayed: nothing ran */
  bool is_emulated;  /* its times say nothing about a GPU */
  bool is_done;
  bool is_refused;  /* it cannot be tuned, so there is nothing to continue */
  bool is_optional; /* it has several steps, which the user did not ask for: it may have no winner */
};

/* The rows of all tasks. Start with {0}; free `rows`. */
struct tuned_list {
  struct tuned *rows;
  int count, room;
};

/* The state that the tasks share. Nothing is owned. */
struct tune_tasks {
  struct tune_setup *setup;
  const struct task_list *plan;
  const struct tune_set *set;
  const struct tune_options *options; /* its `progress` and `context` are set for each task */
  const volatile sig_atomic_t *stop;  /* not 0: no further task begins */
  bool reproducible;
  const struct site_run *site;  /* with --plan --resume, to leave out tasks that others do or did; else NULL */
  const struct strategy *crowd; /* strategy of tasks that a whole team shares; NULL: that of the options */
  int crowd_size;               /* the processes of the team, where there is a `crowd` */
  bool explains;                /* tell on stderr why each variant is proposed */
  struct progress *progress;    /* the line of progress; NULL: none */
  void (*look)(void *context);  /* called often while a task runs; may be NULL */
  void *look_context;
};

/* The time for a task: its own, else that of the options. */
double tune_task_budget_s(const struct planned_task *task, const struct tune_options *options);

/* Append a row for a task with its number of steps, or 1 if the steps are searched. Returns it; NULL when memory is
 * out. */
struct tuned *tuned_add(struct tuned_list *list, const struct planned_task *planned);

/* Append the row of a task that cannot begin, or that no process begins any more because processes were lost in it.
 * Print the reason from fail_text(). */
void tuned_add_failed(halotune_status status, const struct planned_task *planned, struct tuned_list *out);

/* Whether a failure ends all tasks. Without the database or the GPU, none can continue. */
bool tune_ends_all(halotune_status status);

/* Tune a task, unless another process has it. A failure is reported on stderr and in the row. A task with any number
 * of steps begins with single steps. Several steps are searched as well under three conditions: times rank variants,
 * which those of the emulation do not; the task is neither a recording nor a rematch; the budget leaves each number of
 * steps enough time. steps_search.h says how they share the budget.
 *   out  receives a row for each number of steps that was tuned
 * Returns HALOTUNE_OK or the last failure. */
halotune_status tune_task_run(const struct tune_tasks *tasks, const struct planned_task *planned,
                              struct tuned_list *out);

#endif
