/* tune_share.h: divides the tasks of a plan among a team. If there are at least as many tasks as GPUs, single GPUs run
 * tasks side by side, the most expensive first. All GPUs together run the remaining tasks, one after the other. A GPU
 * for which there is no task joins the leader's task, and so does a GPU that cannot reach the database. */
#ifndef CLI_TUNE_TUNE_SHARE_H
#define CLI_TUNE_TUNE_SHARE_H

#include "tuner/cli/tune/tune_task.h"
#include "tuner/fleet/leader.h"

/* How many of `tasks` tasks run side by side in a team of `processes`: as many as fill it once, twice, and so on. */
int share_side_count(int tasks, int processes);

/* How many GPUs of a team can run tasks of their own: those that reach the database, with the leader's.
 *   leader  NULL: there is no team
 *   host    the leader's */
int share_able_count(const struct leader *leader, const char *database, const char *host);

/* Sort the tasks of a plan by their expected cost: the time of their budgets, then the bytes of their fields.
 *   order  receives the places of the tasks, the most expensive first; equal ones stay in the order of the plan */
void share_order(const struct task_list *plan, const struct tune_options *options, int *order);

/* Append the name of a task. It contains everything that the results depend on. A member runs only a task that has the
 * same name there. */
void share_name(const struct tune_tasks *tasks, const struct planned_task *planned, struct text *out);

/* Tune each task of the plan, with a line of progress on a terminal. A failed task is reported on stderr, and the next
 * one begins. After a failure of the database, or if this process' GPU is gone, no further task begins, and the call
 * waits for the tasks of members. If a member is lost, its variants in flight are lost, and another member takes its
 * task.
 *   tasks      its progress and `look` are set here
 *   leader  of the team; NULL: members run no task alone, and tasks come in the order of the plan
 *   out     receives a row for each number of steps that was tuned, and for each task that nobody ended, in the order
 *           of the plan
 * Returns HALOTUNE_OK or the last failure. */
halotune_status tune_tasks_run(const struct tune_tasks *tasks, struct leader *leader, struct tuned_list *out);

#endif
