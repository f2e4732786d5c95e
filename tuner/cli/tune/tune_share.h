/* tune_share.h: the tasks of a team, and who has each of them. Where there are as many tasks as GPUs or more, single
 * GPUs run them side by side, the most expensive first. Those that are left over then are run one after the other, each
 * by all GPUs. A GPU that finds no more task of its own joins the leader's. So does one that cannot reach the
 * database. */
#ifndef CLI_TUNE_TUNE_SHARE_H
#define CLI_TUNE_TUNE_SHARE_H

#include "tuner/cli/tune/tune_tasks.h"
#include "tuner/fleet/leader.h"

/* How many of `tasks` tasks run side by side in a team of `processes`: as many as fill it once, twice, and so on. */
int share_side_count(int tasks, int processes);

/* How many GPUs of a team can run tasks of their own: those that reach the database, with the leader's.
 *   leader  NULL: there is no team
 *   host    the leader's */
int share_able_count(const struct leader *leader, const char *database, const char *host);

/* Sort the tasks of a plan by their expected cost: the time of their budgets, then the bytes of their fields.
 *   order  receives the places of the tasks, the most expensive first; equal ones stay in the order of the plan */
void share_order(const struct tune_plan *plan, const struct tune_options *options, int *order);

/* Append what names a task and all that its results hang on: a member runs only a task that it has by this name. */
void share_name(const struct tune_tasks *tasks, const struct planned_task *planned, struct text *out);

/* Tune each task of the plan, with a line of progress on a terminal. A task that fails is told on stderr, and the
 * next one begins. After a failure of the database, or if this process' GPU is gone, no further task begins, and those
 * that members run are awaited. A member that is lost while it
 * has a task of its own costs what it had in flight: another one takes the task.
 *   tasks      its progress and `look` are set here
 *   leader  of the team; NULL: members run no task alone, and tasks come in the order of the plan
 *   out     receives a row for each number of steps that was tuned, and for each task that nobody ended, in the order
 *           of the plan
 * Returns HALOTUNE_OK or the last failure. */
halotune_status tune_tasks_run(const struct tune_tasks *tasks, struct leader *leader, struct tuned_list *out);

#endif
