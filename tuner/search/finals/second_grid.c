/* second_grid.c: a variant on a grid that nobody chose for speed, with other weights. */
#include "tuner/search/finals/second_grid.h"

#include <stdio.h>
#include <stdlib.h>

#include "tuner/search/finals/awkward_grids.h"
#include "tuner/search/variants/evaluate.h"
#include "tuner/search/variants/problem_set.h"

/* What the check allocates. */
struct second {
  struct scene scene;
  double *coefficients;
  struct trial *trial;
};

/* Whether the stencil computes no point of a grid: all of its points are too near to the boundary. */
static bool is_idle(const struct task *task, const struct grid *grid) {
  const struct box box = box_computed(task->stencil, task->analysis, grid);
  return box_points(&box) == 0;
}

/* Whether the stencil computes a point of a grid.
 *   reason  receives why not */
static bool can_compute(const struct task *task, const struct grid *grid, char reason[BACKEND_REASON_BYTES]) {
  if (stencil_check_grid(task->stencil, grid, NULL) != HALOTUNE_OK)
    snprintf(reason, BACKEND_REASON_BYTES, "%s", fail_text());
  else if (is_idle(task, grid))
    snprintf(reason, BACKEND_REASON_BYTES,
             "the stencil computes no point of the grid %ldx%ldx%ld: all are at a boundary", grid->n[0], grid->n[1],
             grid->n[2]);
  else return true;
  return false;
}

/* Find the first grid on which the rules keep the variant, and compile the variant for it.
 *   task    receives the grid and its coefficients
 *   second  receives the trial; NULL where there is no such grid
 *   reason  receives why the last grid was left out */
static halotune_status find_grid(const struct final_inputs *in, const struct proposal *proposal, struct task *task,
                                 struct second *second, char reason[BACKEND_REASON_BYTES]) {
  struct grid grids[AWKWARD_GRIDS_MOST];
  const int count = awkward_grids(&in->task->grid, grids);
  for (int i = 0; i < count; i++) {
    if (!can_compute(task, &grids[i], reason)) continue;
    task->grid = grids[i];
    halotune_status status = scene_coefficients(task->stencil, &task->grid, task->dtype, second->coefficients);
    if (status != HALOTUNE_OK) return status;
    const struct template *template = in->space->templates[proposal->template_index];
    status = pipeline_build(in->pipeline, task, template, proposal, &second->trial);
    if (status != HALOTUNE_OK) return status;
    if (!second->trial->is_over) return HALOTUNE_OK;
    snprintf(reason, BACKEND_REASON_BYTES, "%.*s", BACKEND_REASON_BYTES - 1, second->trial->reason);
    trial_free(second->trial);
    second->trial = NULL;
  }
  return HALOTUNE_OK;
}

static halotune_status run_on_grid(const struct final_inputs *in, const struct task *task, struct second *second,
                                   struct text *warnings, struct verdict *verdict) {
  struct backend_handle *backend = in->backend;
  struct scene_request request = {.stencil = task->stencil,
                                  .analysis = task->analysis,
                                  .dtype = task->dtype,
                                  .domain = domain_dense(task->stencil, task->analysis, &task->grid),
                                  .coefficients = second->coefficients,
                                  .input = INPUT_RANDOM,
                                  .seed = 2,
                                  .steps = task->launch_steps > 1 ? task->launch_steps : 1,
                                  .launch_steps = task->launch_steps};
  struct backend_problem problem = {.scene = &second->scene, .launch = in->launch, .cache = in->cache};
  halotune_status status = problem_make(backend, &request, &second->scene, &problem, warnings, NULL);
  if (status == HALOTUNE_OK) status = trial_load(backend, 0, second->trial, false, verdict);
  if (status == HALOTUNE_OK && verdict->outcome == OUTCOME_MEASURED) status = backend->table->unload(backend->state, 0);
  return status;
}

halotune_status second_grid_check(const struct final_inputs *in, const struct proposal *proposal, struct text *warnings,
                                  char grid[64], struct verdict *verdict) {
  struct task task = *in->task;
  struct second second = {.trial = NULL};
  grid[0] = '\0';
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  second.coefficients = calloc((size_t)task.stencil->coefficient_count + 1, sizeof *second.coefficients);
  if (!second.coefficients) return fail_memory();
  task.coefficients = second.coefficients;
  halotune_status status = find_grid(in, proposal, &task, &second, verdict->reason);
  if (status == HALOTUNE_OK && second.trial) {
    int length = snprintf(grid, 64, "%ld", task.grid.n[0]);
    for (int axis = 1; axis < task.stencil->dims; axis++)
      length += snprintf(grid + length, 64 - (size_t)length, "x%ld", task.grid.n[axis]);
    status = run_on_grid(in, &task, &second, warnings, verdict);
  }
  scene_free(&second.scene);
  trial_free(second.trial);
  free(second.coefficients);
  return status;
}
