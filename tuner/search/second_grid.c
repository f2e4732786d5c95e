/* second_grid.c: a winner on a grid that nobody chose for speed: primes, other weights. */
#include <stdio.h>
#include <stdlib.h>

#include "tuner/search/session.h"

enum { SECOND_GRIDS = 4, EVEN_POINTS = 16 };

static bool is_prime(long number) {
  if (number < 2) return false;
  for (long d = 2; d * d <= number; d++) {
    if (number % d == 0) return false;
  }
  return true;
}

/* The largest prime up to a number; the number itself where there is none. */
static long prime_below(long number) {
  long prime = number;
  while (prime > 1 && !is_prime(prime)) prime--;
  return prime > 1 ? prime : number;
}

static long even_below(long number) { return number > EVEN_POINTS ? number / EVEN_POINTS * EVEN_POINTS : number; }

/* Grids from the most awkward to one that rules of alignment leave alone. Somewhat smaller than the task's, since a
 * point that is wrong shows on any of them. */
static void second_grids(const struct task *task, struct grid grids[SECOND_GRIDS]) {
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    long most = task->grid.n[axis] > 16 ? task->grid.n[axis] * 5 / 8 : task->grid.n[axis];
    long shorter = most - 2L * axis; /* another prime along each axis */
    long odd = prime_below(shorter > 1 ? shorter : most), even = even_below(most);
    grids[0].n[axis] = odd;
    grids[1].n[axis] = axis == 0 ? even : odd;
    grids[2].n[axis] = axis == 1 ? odd : even;
    grids[3].n[axis] = even;
  }
}

struct second {
  struct scene scene;
  double *coefficients;
  struct trial *trial;
};

/* The first of the grids on which the rules keep the variant, compiled for it; no trial, and the reason, where there is
 * none. */
static halotune_status find_grid(struct session *session, const struct proposal *proposal, struct task *task,
                                 struct second *second, char reason[BACKEND_REASON_BYTES]) {
  struct grid grids[SECOND_GRIDS];
  second_grids(session->task, grids);
  for (int i = 0; i < SECOND_GRIDS; i++) {
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
