/* tune_site.h: `halotune tune --plan FILE`: writes the tasks of a site, or with --resume runs those that are missing. A
 * task is done if the database has a complete run of it on a GPU of the model. A process that begins a task takes a
 * lock, so that several processes may share a plan and a database. */
#ifndef CLI_TUNE_TUNE_SITE_H
#define CLI_TUNE_TUNE_SITE_H

#include "db/store/task_state.h"
#include "library/tune/tune_program.h"
#include "tuner/cli/tune/site_plan.h"
#include "tuner/cli/tune/tune_plan.h"
#include "tuner/measure/backends/backend.h"
#include "tuner/search/tune/tune.h"

/* Check which options stand beside --plan and --resume. Returns HALOTUNE_OK or HALOTUNE_ARGUMENT. */
halotune_status site_options_check(const struct invocation *invocation);

/* Write the tasks of the command line to the file that --plan names, which must not exist.
 * Returns HALOTUNE_OK, HALOTUNE_ARGUMENT, HALOTUNE_IO or HALOTUNE_MEMORY. */
halotune_status site_write(const struct invocation *invocation, const struct tune_plan *plan);

/* Make tasks of a plan: `copy` first, which is the roof of the others, then those that take longest, so that processes
 * that share them end at about the same time.
 *   out  filled on success; after a failure tune_plan_free is harmless
 * Returns HALOTUNE_OK; HALOTUNE_PARSE with the line of a task that cannot be. */
halotune_status site_tasks_make(const struct site_plan *site, struct tune_plan *out);

/* Who runs a plan. Nothing is owned. */
struct site_run {
  struct store *store;
  const struct backend_facts *facts;
  const struct tune_options *options;
  bool reproducible;
};

/* How a task of a plan stands with a row of a database. */
struct site_match {
  bool is_same;    /* the row is of the task, on whatever GPU */
  bool is_done;    /* and has a complete run in the launch mode that is asked for */
  bool is_unended; /* and its newest run has not ended, or was lost */
};

/*   launch  -1: any mode
 * A task whose steps are searched is that of its single steps. One of its other runs that has not ended, or was lost,
 * is a match that is unended, and not done: the search of its steps is not over. */
struct site_match site_match_of(const struct planned_task *task, const struct task_state *state, int launch,
                                enum cache_mode cache, bool reproducible);

/* Remove the tasks that are done.
 *   done  receives how many
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status site_keep_missing(const struct site_run *run, struct tune_plan *plan, int *done);

/* Take a task before it is begun, unless another process has it or has done it since; stderr is told which.
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status site_task_take(const struct site_run *run, const struct planned_task *task, struct tune_lock *lock,
                               bool *is_ours);

/* Append where a database lies: its path, and where it is on this machine alone, the machine. */
void database_place(const char *path, struct text *out);

/* The key of the lock that a process holds, shared, while it tunes on a GPU into a database: whoever cannot have it
 * alone knows that somebody does. Append it to `out`. */
void tuning_lock_key(const char *database, const char *uuid, struct text *out);

#endif
