/* grid_check.c: makes the problem, and loads the variant. */
#include "tuner/search/finals/grid_check.h"

#include "tuner/search/variants/evaluate.h"
#include "tuner/search/variants/problem_set.h"

halotune_status grid_check(const struct final_inputs *in, const struct task *task, uint64_t seed,
                           const struct trial *trial, const struct ending *ending, struct scene *scene,
                           struct text *warnings, struct verdict *verdict) {
  struct backend_handle *backend = in->backend;
  struct scene_request request = {.stencil = task->stencil,
                                  .analysis = task->analysis,
                                  .dtype = task->dtype,
                                  .domain = domain_dense(task->stencil, task->analysis, &task->grid),
                                  .coefficients = task->coefficients,
                                  .input = INPUT_RANDOM,
                                  .seed = seed,
                                  .steps = task->launch_steps > 1 ? task->launch_steps : 1,
                                  .launch_steps = task->launch_steps,
                                  .ending = *ending};
  struct backend_problem problem = {.scene = scene, .launch = in->launch, .cache = in->cache};
  halotune_status status = problem_make(backend, &request, scene, &problem, warnings, NULL);
  if (status == HALOTUNE_OK) status = trial_load(backend, 0, trial, false, verdict);
  const bool is_right = status == HALOTUNE_OK && verdict->outcome == OUTCOME_MEASURED;
  if (is_right && backend_drawn_points(backend) > 0) status = backend->table->verify_all(backend->state, 0, verdict);
  if (status == HALOTUNE_OK && verdict->outcome == OUTCOME_MEASURED) status = backend->table->unload(backend->state, 0);
  return status;
}
