/* tune_site.h: `halotune tune --plan FILE`: writes the tasks of a site, or with --resume runs those that are missing. A
 * task is done if the database has a complete run of it on a GPU of the model. A process that begins a task takes a
 * lock, so that several processes may share a plan and a database. */
#ifndef CLI_TUNE_TUNE_SITE_H
#define CLI_TUNE_TUNE_SITE_H

#include "db/store/task_state.h"
#include "library/tune/tune_lock.h"
#include "tuner/cli/tune/plan_file.h"
#include "tuner/cli/tune/task_list.h"
#include "tuner/measure/backends/backend.h"
#include "tuner/search/tune/task_phases.h"

/* Check which options are given together with --plan and --resume. Returns HALOTUNE_OK or HALOTUNE_ARGUMENT. */
halotune_status site_options_check(const struct invocation *invocation);

/* Write the tasks of the command line to the file that --plan names, which must not exist.
 * Returns HALOTUNE_OK, HALOTUNE_ARGUMENT, HALOTUNE_IO or HALOTUNE_MEMORY. */
halotune_status site_write(const struct invocation *invocation, const struct task_list *plan);

/* Make tasks of a plan: `copy` first, which is the roof of the others, then those that take longest, so that processes
 * that share them end at about the same time.
 *   out  filled on success; after a failure task_list_free is harmless
 * Returns HALOTUNE_OK; HALOTUNE_PARSE with the line of a task that is impossible. */
halotune_status site_tasks_make(const struct plan_file *site, struct task_list *out);

/* The process that runs a plan. Nothing is owned. */
struct site_run {
  struct store *store;
  const struct backend_facts *facts;
  const struct tune_options *options;
  bool reproducible;
};

/* How a row of a database matches a task of a plan. */
struct site_match {
  bool is_same;    /* the row is about the task, on any GPU */
  bool is_done;    /* and it has a complete run in the requested launch mode */
  bool is_unended; /* and this user's newest run of it has not ended, or was lost */
};

/*   launch  -1: any mode
 * A task whose steps are searched matches the row of its single steps. If one of its other runs has not ended, or was
 * lost, the match is unended and not done, because the search of its steps is not over. */
struct site_match site_match_of(const struct planned_task *task, const struct task_state *state, int launch,
                                enum cache_mode cache, bool reproducible);

/* Remove the tasks that are done.
 *   done  receives how many
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status site_keep_missing(const struct site_run *run, struct task_list *plan, int *done);

/* Take a task before it begins. If another process has it, or has done it meanwhile, stderr says so. Returns
 * HALOTUNE_OK or HALOTUNE_DB. */
halotune_status site_task_take(const struct site_run *run, const struct planned_task *task, struct tune_lock *lock,
                               bool *is_ours);

/* Append the place of a database: its path, and the machine if the database is on a local disk. */
void database_place(const char *path, struct text *out);

#endif
