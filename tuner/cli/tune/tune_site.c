/* tune_site.c: compares the tasks of a plan with the runs of a database. */
#include "tuner/cli/tune/tune_site.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/memory/array.h"
#include "db/store/filesystem.h"
#include "tuner/cli/output/output.h"

halotune_status site_options_check(const struct invocation *invocation) {
  static const char *const of_plan[] = {"all", "dtype", "grid", "steps", "gpus"};
  const bool has_plan = option_given(invocation, "plan"), resumes = option_given(invocation, "resume");
  if (resumes && !has_plan)
    return fail(
        HALOTUNE_ARGUMENT,
        "--resume runs the missing tasks of a plan: add --plan FILE. Without a plan, the same command goes on without --resume");
  if (option_given(invocation, "gpus") && !has_plan)
    return fail(HALOTUNE_ARGUMENT,
                "--gpus names the models of a plan: add --plan FILE; --device chooses a GPU of this host");
  if (!resumes) return HALOTUNE_OK;
  if (invocation->argument_count > 0)
    return fail(HALOTUNE_ARGUMENT, "with --resume the tasks are those of the plan: name no stencil");
  for (size_t i = 0; i < COUNT(of_plan); i++) {
    if (option_given(invocation, of_plan[i]))
      return fail(HALOTUNE_ARGUMENT,
                  "with --resume the tasks are those of the plan: leave out --%s, or change the plan", of_plan[i]);
  }
  return HALOTUNE_OK;
}

halotune_status site_write(const struct invocation *invocation, const struct task_list *plan) {
  const char *path = option_value(invocation, "plan"), *budget = option_value(invocation, "budget");
  struct text text = {0};
  if (budget && strcmp(budget, "none") == 0)
    return fail(HALOTUNE_ARGUMENT, "a plan needs a time for each task: --budget 60s, not none");
  if (access(path, F_OK) == 0)
    return fail(HALOTUNE_ARGUMENT,
                "%s: this file exists; add --resume to run the missing tasks of that plan, or name another file", path);
  plan_file_write_head(option_value(invocation, "gpus"), budget, &text);
  for (int i = 0; i < plan->task_count; i++) {
    const struct planned_task *planned = &plan->tasks[i];
    const struct stencil *stencil = planned->stencil->loaded.stencil;
    const struct site_task task = {
        .stencil = planned->stencil->asked ? planned->stencil->asked : stencil->name,
        .dtype = planned->dtype,
        .grid = planned->grid,
        .dims = stencil->dims,
        .steps = planned->launch_steps > 1 || stencil->iterate_count > 0 ? planned->launch_steps : 0};
    plan_file_write_task(&task, &text);
  }
  halotune_status status =
      text_ok(&text) ? output_file(path, OUTPUT_FOR_ALL, text_string(&text), text.length) : fail_memory();
  if (status == HALOTUNE_OK) printf("%s: %d task%s\n", path, plan->task_count, PLURAL(plan->task_count));
  text_free(&text);
  return status;
}

/* Load the stencil of a task, unless an earlier task has loaded it. The user did not name it, so a pipe is refused
 * without waiting. */
static halotune_status stencil_of(const struct plan_file *site, const struct site_task *task, struct task_list *out,
                                  const struct planned_stencil **found) {
  for (int i = 0; i < out->stencil_count; i++) {
    *found = &out->stencils[i];
    if (strcmp(out->stencils[i].asked, task->stencil) == 0) return HALOTUNE_OK;
  }
  /* a stencil can take fifty times as much memory as its text */
  enum { MOST_TEXT_BYTES = 2 << 20 };
  struct planned_stencil *stencil = &out->stencils[out->stencil_count];
  char detail[FAIL_TEXT_BYTES / 2];
  halotune_status status = loaded_open_regular(task->stencil, &stencil->loaded);
  if (status == HALOTUNE_OK && (out->text_bytes += strlen(stencil->loaded.text)) > MOST_TEXT_BYTES)
    status =
        fail(HALOTUNE_ARGUMENT,
             "the files of the plan's stencils have more than 2 MiB in all; divide the plan, and name each file in "
             "one way");
  if (status == HALOTUNE_OK) {
    stencil->asked = task->stencil;
    out->stencil_count++;
    *found = stencil;
    return HALOTUNE_OK;
  }
  loaded_free(&stencil->loaded);
  *stencil = (struct planned_stencil){.asked = NULL};
  if (status == HALOTUNE_MEMORY) return status;
  snprintf(detail, sizeof detail, "%s", fail_text());
  return source_fail(&site->source, task->place, "%s", detail);
}

static halotune_status task_make(const struct plan_file *site, const struct site_task *task, struct task_list *out) {
  const struct planned_stencil *planned = NULL;
  halotune_status status = stencil_of(site, task, out, &planned);
  if (status != HALOTUNE_OK) return status;
  const struct stencil *stencil = planned->loaded.stencil;
  if (!stencil->dtypes[task->dtype])
    return source_fail(&site->source, task->place, "%s has no element type %s: its file lists those that it has",
                       stencil->name, dtype_names[task->dtype]);
  if (stencil->dims != task->dims)
    return source_fail(&site->source, task->place, "%s has %d dimension%s, so its grid has %d number%s", stencil->name,
                       stencil->dims, PLURAL(stencil->dims), stencil->dims, PLURAL(stencil->dims));
  if (stencil_check_grid(stencil, &task->grid, NULL) != HALOTUNE_OK) {
    char detail[FAIL_TEXT_BYTES / 2];
    snprintf(detail, sizeof detail, "%s", fail_text());
    return source_fail(&site->source, task->place, "%s: %s", stencil->name, detail);
  }
  const bool can_iterate = planned->loaded.analysis->can_iterate;
  if (task->steps > 1 && !can_iterate)
    return source_fail(
        &site->source, task->place,
        "%s makes one step only: it does not say in `iterate` which output becomes an input; leave out 'steps'",
        stencil->name);
  status = task_list_add(out, planned, task->dtype, &task->grid, can_iterate ? task->steps : 1);
  if (status == HALOTUNE_OK)
    out->tasks[out->task_count - 1].budget_s = task->budget_s > 0 ? task->budget_s : site->budget_s;
  return status;
}

static double points_of(const struct grid *grid) {
  return (double)grid->n[0] * (double)grid->n[1] * (double)grid->n[2];
}

static bool comes_first(const struct planned_task *a, const struct planned_task *b) {
  const bool is_copy = strcmp(a->stencil->loaded.stencil->name, "copy") == 0;
  if (is_copy != (strcmp(b->stencil->loaded.stencil->name, "copy") == 0)) return is_copy;
  if (a->budget_s != b->budget_s) return a->budget_s > b->budget_s;
  return points_of(&a->grid) > points_of(&b->grid);
}

/* Sort the tasks; equal ones stay in the order of the plan. */
static void tasks_sort(struct task_list *plan) {
  for (int i = 1; i < plan->task_count; i++) {
    const struct planned_task task = plan->tasks[i];
    int at = i;
    for (; at > 0 && comes_first(&task, &plan->tasks[at - 1]); at--) plan->tasks[at] = plan->tasks[at - 1];
    plan->tasks[at] = task;
  }
}

halotune_status site_tasks_make(const struct plan_file *site, struct task_list *out) {
  *out = (struct task_list){.code = HALOTUNE_EXIT_SUCCESS};
  halotune_status status = task_list_reserve(out, site->task_count);
  for (int i = 0; i < site->task_count && status == HALOTUNE_OK; i++) status = task_make(site, &site->tasks[i], out);
  if (status == HALOTUNE_OK) tasks_sort(out);
  else task_list_free(out);
  return status;
}

/* Whether a row is about this stencil, element type and grid, in this mode. */
static bool is_of_task(const struct planned_task *task, const struct task_state *state, enum cache_mode cache,
                       bool reproducible) {
  const struct loaded *loaded = &task->stencil->loaded;
  char hash[IDENTITY_HEX_BYTES], text[IDENTITY_HEX_BYTES];
  if (strcmp(state->stencil, loaded->stencil->name) != 0 || strcmp(state->dtype, dtype_names[task->dtype]) != 0 ||
      memcmp(&state->grid, &task->grid, sizeof task->grid) != 0 || state->reproducible != reproducible ||
      strcmp(state->cache, cache_mode_names[cache]) != 0)
    return false;
  identity_hex(loaded->analysis->hash, hash);
  identity_hex(stencil_text_identity(loaded->text), text);
  return strcmp(state->hash, hash) == 0 && strcmp(state->text_hash, text) == 0;
}

struct site_match site_match_of(const struct planned_task *task, const struct task_state *state, int launch,
                                enum cache_mode cache, bool reproducible) {
  const int steps = task->launch_steps > 0 ? task->launch_steps : 1;
  struct site_match match = {.is_same = is_of_task(task, state, cache, reproducible)};
  if (!match.is_same) return match;
  match.is_unended = state->is_lost || (state->is_own && strcmp(state->state, "running") == 0);
  match.is_same = state->steps == steps || (task->launch_steps == 0 && match.is_unended);
  match.is_done = state->steps == steps &&
                  ((state->has_stream && launch != LAUNCH_GRAPH) || (state->has_graph && launch != LAUNCH_STREAM));
  return match;
}

/* The state of the tasks in a database, on GPUs of one model. */
struct known {
  const struct site_run *run;
  const struct task_list *plan;
  const struct planned_task *only; /* NULL: all of the plan */
  bool *is_done, *is_unended;      /* for each task */
};

static halotune_status take_state(void *context, const struct task_state *state) {
  const struct known *known = context;
  const struct site_run *run = known->run;
  const struct device_facts *device = &run->facts->device;
  if (strcmp(state->device, device->name) != 0 || state->capability != device->capability ||
      state->sm_count != device->sm_count || state->is_emulation != run->facts->is_emulation)
    return HALOTUNE_OK;
  for (int i = 0; i < (known->only ? 1 : known->plan->task_count); i++) {
    const struct planned_task *task = known->only ? known->only : &known->plan->tasks[i];
    const struct site_match match =
        site_match_of(task, state, run->options->launch, run->options->cache, run->reproducible);
    known->is_done[i] = known->is_done[i] || match.is_done;
    known->is_unended[i] = known->is_unended[i] || (match.is_same && !match.is_done && match.is_unended);
  }
  return HALOTUNE_OK;
}

halotune_status site_keep_missing(const struct site_run *run, struct task_list *plan, int *done) {
  struct known known = {.run = run, .plan = plan};
  int kept = 0;
  known.is_done = calloc((size_t)plan->task_count + 1, sizeof *known.is_done);
  known.is_unended = calloc((size_t)plan->task_count + 1, sizeof *known.is_unended);
  halotune_status status =
      known.is_done && known.is_unended ? task_states_each(run->store, take_state, &known) : fail_memory();
  for (int i = 0; i < plan->task_count && status == HALOTUNE_OK; i++) {
    if (known.is_done[i] && !known.is_unended[i]) free(plan->tasks[i].coefficients);
    else plan->tasks[kept++] = plan->tasks[i];
  }
  if (status == HALOTUNE_OK) {
    *done = plan->task_count - kept;
    plan->task_count = kept;
  }
  free(known.is_done);
  free(known.is_unended);
  return status;
}

void database_place(const char *path, struct text *out) {
  char resolved[PATH_MAX], host[256] = "";
  if (!realpath(path, resolved)) snprintf(resolved, sizeof resolved, "%s", path);
  if (!file_is_shared(resolved)) gethostname(host, sizeof host - 1);
  text_printf(out, "%s\n%s\n", host, resolved);
}

halotune_status site_task_take(const struct site_run *run, const struct planned_task *task, struct tune_lock *lock,
                               bool *is_ours) {
  bool is_done = false, is_unended = false;
  struct known known = {.run = run, .only = task, .is_done = &is_done, .is_unended = &is_unended};
  struct text key = {0}, name = {0};
  char hash[IDENTITY_HEX_BYTES];
  identity_hex(task->stencil->loaded.analysis->hash, hash);
  planned_task_text(task, &name);
  text_printf(&key, "task\n");
  database_place(store_path(run->store), &key);
  text_printf(&key, "%s\n%s\n%s\n%d %d %d %d\n", run->facts->device.name, hash, text_string(&name), task->launch_steps,
              run->options->launch, (int)run->options->cache, run->reproducible);
  halotune_status status = text_ok(&key) && text_ok(&name) ? HALOTUNE_OK : fail_memory();
  *is_ours = status == HALOTUNE_OK && tune_lock_try(text_string(&key), false, lock);
  if (status == HALOTUNE_OK && !*is_ours)
    fprintf(stderr, "halotune: %s: another process tunes it\n", text_string(&name));
  if (*is_ours) status = task_states_each(run->store, take_state, &known);
  if (*is_ours && is_done && !is_unended) {
    fprintf(stderr, "halotune: %s: another process has tuned it\n", text_string(&name));
    *is_ours = false;
  }
  text_free(&key);
  text_free(&name);
  return status;
}
