/* tune_alone.h: a member of a team runs tasks of the plan alone, and stores their results itself. */
#ifndef CLI_TUNE_TUNE_ALONE_H
#define CLI_TUNE_TUNE_ALONE_H

#include "library/tune/tune_lock.h"
#include "tuner/cli/tune/tune_task.h"
#include "tuner/fleet/member.h"

/* Nothing is owned but the lock; end with tune_alone_end. */
struct tune_alone {
  const struct invocation *invocation;
  const struct tune_backend *which;
  struct tune_setup *setup; /* has backend and compiler; its databases are opened with the first task */
  const struct tune_tasks *tasks;
  bool resumes;          /* the tasks are a site's plan: tasks that others do or did are left out */
  struct tune_lock lock; /* `halotune fleet status` uses it; start with -1 */
};

/* The function for struct member_tools. The context is a struct tune_alone. */
halotune_status tune_alone_run(void *context, const struct member_alone *how, const char *what, struct text *out);

void tune_alone_end(struct tune_alone *alone);

#endif
