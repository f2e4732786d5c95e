/* tune_alone.c: runs the task that the leader names, and makes its rows. */
#include "tuner/cli/tune/tune_alone.h"

#include <stdlib.h>
#include <string.h>

#include "db/store/store.h"
#include "tuner/cli/tune/tune_share.h"
#include "tuner/cli/tune/tuned_message.h"
#include "tuner/cli/tune/tuning_lock.h"

/* Whether the leader's database is also this process's. It is checked before the database is opened, because opening
 * could make one.
 *   what  the name of a task, which ends with the database's place */
static halotune_status database_check(const struct tune_alone *alone, const char *what) {
  const char *named = option_value(alone->invocation, "db");
  char *standard = NULL;
  struct text place = {0};
  halotune_status status = named ? HALOTUNE_OK : store_default_path(&standard);
  if (status != HALOTUNE_OK) return status;
  database_place(named ? named : standard, &place);
  const size_t length = strlen(what);
  if (!text_ok(&place) || length < place.length || strcmp(what + length - place.length, text_string(&place)) != 0)
    status = fail(HALOTUNE_ARGUMENT, "it does not reach the leader's database");
  free(standard);
  text_free(&place);
  return status;
}

static halotune_status databases_open(struct tune_alone *alone, const char *what) {
  struct tune_setup *setup = alone->setup;
  if (setup->tools.store) return HALOTUNE_OK;
  halotune_status status = database_check(alone, what);
  if (status == HALOTUNE_OK)
    status = tune_setup_databases(alone->invocation, alone->which, alone->tasks->options, setup);
  if (status == HALOTUNE_OK)
    tuning_lock_take(store_path(setup->tools.store), setup->backend.facts.device.uuid, &alone->lock);
  return status;
}

/* Find the task that has the same name here. */
static const struct planned_task *task_named(const struct tune_tasks *tasks, const char *what) {
  const struct planned_task *found = NULL;
  for (int i = 0; i < tasks->plan->task_count && !found; i++) {
    struct text name = {0};
    share_name(tasks, &tasks->plan->tasks[i], &name);
    if (strcmp(text_string(&name), what) == 0) found = &tasks->plan->tasks[i];
    text_free(&name);
  }
  return found;
}

halotune_status tune_alone_run(void *context, const struct member_alone *how, const char *what, struct text *out) {
  struct tune_alone *alone = context;
  struct tune_options options = *alone->tasks->options;
  struct tune_tasks tasks = *alone->tasks;
  struct tuned_list rows = {.count = 0};
  halotune_status status = databases_open(alone, what);
  if (status != HALOTUNE_OK) return status;
  const struct planned_task *planned = task_named(&tasks, what);
  if (!planned) return fail(HALOTUNE_ARGUMENT, "a stencil or a template has another meaning there than at the leader");
  const struct site_run site = {alone->setup->tools.store, &alone->setup->backend.facts, &options, tasks.reproducible};
  options.stop = how->stop;
  tasks.options = &options;
  tasks.stop = how->stop;
  tasks.site = alone->resumes ? &site : NULL;
  tasks.look = how->look;
  tasks.look_context = how->state;
  status = tune_task_run(&tasks, planned, &rows);
  if (!tune_ends_all(status)) {
    pack_u64(out, status);
    status = tuned_write(out, &rows);
  }
  free(rows.rows);
  return status;
}

void tune_alone_end(struct tune_alone *alone) { tune_lock_release(&alone->lock); }
