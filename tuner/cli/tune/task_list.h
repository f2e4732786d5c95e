/* task_list.h: the tasks of a `halotune tune`: stencils in element types on grids. */
#ifndef CLI_TUNE_TASK_LIST_H
#define CLI_TUNE_TASK_LIST_H

#include "tuner/cli/options/loaded_stencil.h"
#include "tuner/cli/options/problem.h"

/* Owns its members; end with task_list_free. */
struct planned_stencil {
  struct loaded loaded;
  const char *asked; /* the name that the user gave; not owned. NULL: the stencil's own name */
};

struct planned_task {
  const struct planned_stencil *stencil;
  enum dtype dtype;
  struct grid grid;
  double *coefficients;
  int launch_steps; /* time steps that a launch makes; 0: to be searched, which begins with 1 */
  double budget_s;  /* 0: the budget of the options */
  int number;       /* number in the plan; it stays when other tasks are removed */
};

struct task_list {
  struct planned_stencil *stencils;
  struct planned_task *tasks;
  int stencil_count, task_count, task_room;
  size_t text_bytes;   /* of the stencils of a plan */
  enum exit_code code; /* HALOTUNE_EXIT_BAD_INPUT if --all found files that could not be read */
};

/* Read the stencils that the arguments name, or every stencil with --all, and the options --dtype, --grid and
 * --steps.
 *   out  filled on success; after a failure task_list_free is harmless
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT; or the errors of loaded_open. */
halotune_status task_list_open(const struct invocation *invocation, struct task_list *out);

void task_list_free(struct task_list *plan);

/* Make room in an empty plan for `count` stencils, whose places do not change.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status task_list_reserve(struct task_list *plan, int count);

/* Append a task. Returns HALOTUNE_OK, HALOTUNE_MEMORY or the errors of stencil_coefficients. */
halotune_status task_list_add(struct task_list *plan, const struct planned_stencil *stencil, enum dtype dtype,
                              const struct grid *grid, int launch_steps);

/* Append "star7 f32 512x512x512", and ", 4 steps" for launches of several. */
void planned_task_text(const struct planned_task *task, struct text *text);

#endif
