/* second_grid.c: a winner on a grid that nobody chose for speed, with other weights. */
#include <stdio.h>
#include <stdlib.h>

#include "tuner/search/finals/awkward_grids.h"
#include "tuner/search/tune/session.h"

struct second {
  struct scene scene;
  double *coefficients;
  struct trial *trial;
};

/* The first of the grids on which the rules keep the variant, compiled for it; no trial, and the reason, where there is
 * none. */
static halotune_status find_grid(struct session *session, const struct proposal *proposal, struct task *task,
                                 struct second *second, char reason[BACKEND_REASON_BYTES]) {
  struct grid grids[AWKWARD_GRIDS_MOST];
  const int count = awkward_grids(&session->task->grid, grids);
  for (int i = 0; i < count; i++) {
    if (stencil_check_grid(task->stencil, &grids[i], NULL) != HALOTUNE_OK) continue;
    task->grid = grids[i];
    halotune_status status = scene_coefficients(task->stencil, &task->grid, task->dtype, second->coefficients);
    if (status != HALOTUNE_OK) return status;
    const struct template *template = session->space.templates[proposal->template_index];
    status = session_build(session, task, template, proposal, &second->trial);
    if (status != HALOTUNE_OK) return status;
    if (!second->trial->is_over) return HALOTUNE_OK;
    snprintf(reason, BACKEND_REASON_BYTES, "%.*s", BACKEND_REASON_BYTES - 1, second->trial->reason);
    trial_free(second->trial);
    second->trial = NULL;
  }
  return HALOTUNE_OK;
}

static halotune_status run_there(struct session *session, const struct task *task, struct second *second,
                                 struct verdict *verdict) {
  struct backend_handle *backend = session->tools->backend;
  struct scene_request request = {.stencil = task->stencil,
                                  .analysis = task->analysis,
                                  .dtype = task->dtype,
                                  .domain = domain_dense(task->stencil, task->analysis, &task->grid),
                                  .coefficients = second->coefficients,
                                  .input = INPUT_RANDOM,
                                  .seed = 2,
                                  .steps = 1};
  struct backend_problem problem = {
      .scene = &second->scene, .launch = session->launch, .cache = session->options->cache};
  halotune_status status = scene_make(&request, &second->scene);
  if (status == HALOTUNE_OK) status = backend->table->set_problem(backend->state, &problem);
  if (status == HALOTUNE_OK) status = session_load(session, 0, second->trial, false, verdict);
  if (status == HALOTUNE_OK && verdict->outcome == OUTCOME_MEASURED) status = backend->table->unload(backend->state, 0);
  return status;
}

halotune_status second_grid_check(struct session *session, const struct proposal *proposal, char grid[64],
                                  struct verdict *verdict) {
  struct task task = *session->task;
  struct second second = {.trial = NULL};
  grid[0] = '\0';
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  second.coefficients = calloc((size_t)task.stencil->coefficient_count + 1, sizeof *second.coefficients);
  if (!second.coefficients) return fail_memory();
  task.coefficients = second.coefficients;
  halotune_status status = find_grid(session, proposal, &task, &second, verdict->reason);
  if (status == HALOTUNE_OK && second.trial) {
    int length = snprintf(grid, 64, "%ld", task.grid.n[0]);
    for (int axis = 1; axis < task.stencil->dims; axis++)
      length += snprintf(grid + length, 64 - (size_t)length, "x%ld", task.grid.n[axis]);
    status = run_there(session, &task, &second, verdict);
  }
  scene_free(&second.scene);
  trial_free(second.trial);
  free(second.coefficients);
  return status;
}
