/* task_list.c: turns the command line into a list of tasks. */
#include "tuner/cli/tune/task_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "tuner/cli/options/search_path.h"

static halotune_status read_stencil(const char *name, bool by_name, struct planned_stencil *out) {
  halotune_status status = loaded_open(name, &out->loaded);
  if (status == HALOTUNE_OK && by_name) status = loaded_check_name(&out->loaded);
  return status;
}

halotune_status task_list_reserve(struct task_list *plan, int count) {
  plan->stencils = calloc((size_t)count + 1, sizeof *plan->stencils);
  return plan->stencils ? HALOTUNE_OK : fail_memory();
}

/* Tune the copy first, because its time is the roof of all others. */
static void put_copy_first(char **paths, int count) {
  static const char copy[] = "/copy.yaml";
  for (int i = 0; i < count; i++) {
    size_t length = strlen(paths[i]);
    if (length < strlen(copy) || strcmp(paths[i] + length - strlen(copy), copy) != 0) continue;
    char *path = paths[i];
    memmove(paths + 1, paths, (size_t)i * sizeof path);
    paths[0] = path;
    return;
  }
}

static halotune_status read_all(struct task_list *plan) {
  char **paths;
  int count;
  halotune_status status = search_all(&search_stencils, NULL, &paths, &count);
  if (status != HALOTUNE_OK) return status;
  put_copy_first(paths, count);
  status = task_list_reserve(plan, count);
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
    halotune_status read = read_stencil(paths[i], true, &plan->stencils[plan->stencil_count]);
    if (read == HALOTUNE_OK) {
      plan->stencil_count++;
      continue;
    }
    plan->code = report_file_failure(read); /* continue with the other files */
    loaded_free(&plan->stencils[plan->stencil_count].loaded);
  }
  search_free(paths, count);
  return status;
}

static halotune_status read_named(const struct invocation *invocation, struct task_list *plan) {
  halotune_status status = task_list_reserve(plan, invocation->argument_count);
  for (int i = 0; i < invocation->argument_count && status == HALOTUNE_OK; i++) {
    status = read_stencil(invocation->arguments[i], false, &plan->stencils[i]);
    plan->stencils[i].asked = invocation->arguments[i];
    plan->stencil_count += status == HALOTUNE_OK;
  }
  return status;
}

/* Whether a stencil that was named twice has this task already. */
static bool is_planned(const struct task_list *plan, const struct planned_stencil *stencil, enum dtype dtype,
                       const struct grid *grid, int launch_steps) {
  for (int i = 0; i < plan->task_count; i++) {
    const struct planned_task *task = &plan->tasks[i];
    if (task->dtype == dtype && task->launch_steps == launch_steps && memcmp(&task->grid, grid, sizeof *grid) == 0 &&
        strcmp(task->stencil->loaded.stencil->name, stencil->loaded.stencil->name) == 0 &&
        identity_compare(task->stencil->loaded.analysis->hash, stencil->loaded.analysis->hash) == 0) {
      return true;
    }
  }
  return false;
}

halotune_status task_list_add(struct task_list *plan, const struct planned_stencil *stencil, enum dtype dtype,
                              const struct grid *grid, int launch_steps) {
  if (!array_room(plan->tasks, plan->task_count, plan->task_room)) return fail_memory();
  struct planned_task *task = &plan->tasks[plan->task_count];
  *task = (struct planned_task){.stencil = stencil, .dtype = dtype, .grid = *grid, .launch_steps = launch_steps};
  task->coefficients = calloc((size_t)stencil->loaded.stencil->coefficient_count + 1, sizeof *task->coefficients);
  if (!task->coefficients) return fail_memory();
  plan->task_count++;
  return stencil_coefficients(stencil->loaded.stencil, grid, task->coefficients);
}

/* The element types to tune: those of --dtype; without the option the stencil's first one, or each of them with
 * --all. */
static halotune_status wanted_dtypes(const struct invocation *invocation, const struct stencil *stencil,
                                     bool wanted[DTYPE_COUNT]) {
  const bool only_first = !option_given(invocation, "dtype") && !option_given(invocation, "all");
  bool any = false;
  halotune_status status = option_dtypes(invocation, true, wanted);
  for (int i = 0; i < DTYPE_COUNT; i++) {
    wanted[i] = wanted[i] && stencil->dtypes[i] && !(only_first && any);
    any = any || wanted[i];
  }
  if (status != HALOTUNE_OK || any) return status;
  return fail(HALOTUNE_ARGUMENT, "--dtype %s: %s has no such element type", option_value(invocation, "dtype"),
              stencil->name);
}

/* A range of steps; 0 stands for any number. */
struct steps_range {
  int first, last;
};

/* Read --steps: N or N..M; any number by default. */
static halotune_status option_steps(const struct invocation *invocation, struct steps_range *out) {
  const char *value = option_value(invocation, "steps");
  char *end = NULL;
  *out = (struct steps_range){0, 0};
  if (!value) return HALOTUNE_OK;
  const long first = strtol(value, &end, 10), last = strncmp(end, "..", 2) == 0 ? strtol(end + 2, &end, 10) : first;
  if (end == value || *end || first < 1 || last < first || last > LAUNCH_MOST_STEPS) {
    return fail(HALOTUNE_ARGUMENT, "--steps takes time steps of a launch from 1 to %d, such as 4 or 1..4, not '%s'",
                LAUNCH_MOST_STEPS, value);
  }
  *out = (struct steps_range){(int)first, (int)last};
  return HALOTUNE_OK;
}

/* Find the numbers of steps that a stencil can make. With --all, a stencil that can make only one step is skipped
 * without a message. */
static halotune_status wanted_steps(const struct invocation *invocation, const struct planned_stencil *planned,
                                    struct steps_range *out) {
  halotune_status status = option_steps(invocation, out);
  if (status != HALOTUNE_OK || planned->loaded.analysis->can_iterate) return status;
  if (out->last == 0) *out = (struct steps_range){1, 1};
  if (out->last == 1) return HALOTUNE_OK;
  if (!option_given(invocation, "all")) {
    return fail(HALOTUNE_ARGUMENT,
                "--steps %s: %s makes one step only: it does not say in `iterate` which output "
                "becomes an input",
                option_value(invocation, "steps"), planned->loaded.stencil->name);
  }
  out->last = out->first == 1 ? 1 : 0;
  return HALOTUNE_OK;
}

static halotune_status add_tasks(const struct invocation *invocation, struct task_list *plan,
                                 const struct planned_stencil *planned) {
  const struct stencil *stencil = planned->loaded.stencil;
  const char *grids = option_value(invocation, "grid");
  bool all_grids = grids && strcmp(grids, "all") == 0, wanted[DTYPE_COUNT];
  struct grid grid = stencil->grids[0]; /* the counted grids were read. NOLINT(clang-analyzer-core.NullDereference) */
  struct steps_range steps = {1, 1};
  halotune_status status = wanted_dtypes(invocation, stencil, wanted);
  if (status == HALOTUNE_OK) status = wanted_steps(invocation, planned, &steps);
  if (status == HALOTUNE_OK && !all_grids) status = option_grid(invocation, stencil, &grid);
  for (int i = 0; i < (all_grids ? stencil->grid_count : 1); i++) {
    if (all_grids) grid = stencil->grids[i];
    for (int dtype = 0; dtype < DTYPE_COUNT && status == HALOTUNE_OK; dtype++) {
      for (int n = steps.first; n <= steps.last && wanted[dtype] && status == HALOTUNE_OK; n++) {
        if (!is_planned(plan, planned, (enum dtype)dtype, &grid, n))
          status = task_list_add(plan, planned, (enum dtype)dtype, &grid, n);
      }
    }
  }
  return status;
}

halotune_status task_list_open(const struct invocation *invocation, struct task_list *out) {
  bool all = option_given(invocation, "all");
  *out = (struct task_list){.code = HALOTUNE_EXIT_SUCCESS};
  if (all == (invocation->argument_count > 0)) {
    return fail(HALOTUNE_ARGUMENT, "name one stencil or more, or give --all");
  }
  if (all && option_value(invocation, "grid") && strcmp(option_value(invocation, "grid"), "all") != 0) {
    return fail(HALOTUNE_ARGUMENT, "--grid cannot be the same for --all stencils; only '--grid all' can");
  }
  halotune_status status = all ? read_all(out) : read_named(invocation, out);
  for (int i = 0; i < out->stencil_count && status == HALOTUNE_OK; i++) {
    status = add_tasks(invocation, out, &out->stencils[i]);
  }
  if (status != HALOTUNE_OK) task_list_free(out);
  return status;
}

void task_list_free(struct task_list *plan) {
  for (int i = 0; i < plan->task_count; i++) free(plan->tasks[i].coefficients);
  for (int i = 0; i < plan->stencil_count; i++) {
    loaded_free(&plan->stencils[i].loaded);
  }
  free(plan->tasks);
  free(plan->stencils);
  *plan = (struct task_list){.code = plan->code};
}

void planned_task_text(const struct planned_task *task, struct text *text) {
  const struct stencil *stencil = task->stencil->loaded.stencil;
  text_printf(text, "%s %s %ld", stencil->name, dtype_names[task->dtype], task->grid.n[0]);
  for (int axis = 1; axis < stencil->dims; axis++) text_printf(text, "x%ld", task->grid.n[axis]);
  if (task->launch_steps > 1) text_printf(text, ", %d steps", task->launch_steps);
}
