/* second_grid.c: a variant on a grid that nobody chose for speed, with other weights. */
#include "tuner/search/finals/second_grid.h"

#include <stdio.h>
#include <stdlib.h>

#include "stencil/file/grid_text.h"
#include "tuner/search/finals/awkward_grids.h"
#include "tuner/search/finals/grid_check.h"

/* What the check allocates. */
struct second {
  struct scene scene;
  double *coefficients;
  struct trial *trial; /* over where it did not compile; NULL where there is no second grid */
};

/* Whether the stencil computes no point of a grid: all of its points are too near to the boundary. */
static bool is_idle(const struct task *task, const struct grid *grid) {
  const struct box box = box_computed(task->stencil, task->analysis, grid);
  return box_points(&box) == 0;
}

/* Whether the stencil computes a point of a grid.
 *   reason  receives why not */
static bool can_compute(const struct task *task, const struct grid *grid, char reason[BACKEND_REASON_BYTES]) {
  char name[GRID_TEXT_BYTES];
  grid_write(grid, task->stencil->dims, name);
  if (stencil_check_grid(task->stencil, grid, NULL) != HALOTUNE_OK)
    snprintf(reason, BACKEND_REASON_BYTES, "%s", fail_text());
  else if (is_idle(task, grid))
    snprintf(reason, BACKEND_REASON_BYTES, "the stencil computes no point of the grid %s: all are at a boundary", name);
  else return true;
  return false;
}

/* Launches that take less time are measured while no compiler is busy, since a processor makes them one by one. */
static const double least_ahead_ms = 0.02;

/* How a trial is made for a task: pipeline_build, or trial_begin alone.
 *   ending  of the wait for the compile; NULL: nothing is awaited */
typedef halotune_status trial_make(const struct final_inputs *in, const struct task *task,
                                   const struct proposal *proposal, const struct ending *ending, struct trial **out);

static halotune_status make_compiled(const struct final_inputs *in, const struct task *task,
                                     const struct proposal *proposal, const struct ending *ending, struct trial **out) {
  const struct template *template = in->space->templates[proposal->template_index];
  return pipeline_build(in->pipeline, task, template, proposal, ending, out);
}

static halotune_status make_generated(const struct final_inputs *in, const struct task *task,
                                      const struct proposal *proposal, const struct ending *ending,
                                      struct trial **out) {
  (void)ending;
  return trial_begin(task, in->space->templates[proposal->template_index], proposal, &task->grid, out);
}

/* Find the first grid on which the rules keep the variant, and make its trial there. A run that has to end compiles
 * for one grid at most.
 *   ending        as for `make`
 *   task          receives the grid and its coefficients
 *   coefficients  room for these
 *   trial         receives the trial, which is over where it did not compile; NULL where there is no such grid
 *   reason        receives why the last grid was left out */
static halotune_status find_grid(const struct final_inputs *in, const struct proposal *proposal, trial_make *make,
                                 const struct ending *ending, struct task *task, double *coefficients,
                                 struct trial **trial, char reason[BACKEND_REASON_BYTES]) {
  struct grid grids[AWKWARD_GRIDS_MOST];
  const int count = awkward_grids(&in->task->grid, grids);
  *trial = NULL;
  for (int i = 0; i < count; i++) {
    if (!can_compute(task, &grids[i], reason)) continue;
    task->grid = grids[i];
    task->coefficients = coefficients;
    halotune_status status = scene_coefficients(task->stencil, &task->grid, task->dtype, coefficients);
    if (status == HALOTUNE_OK) status = make(in, task, proposal, ending, trial);
    if (status != HALOTUNE_OK || !(*trial)->is_over || (*trial)->result.outcome != OUTCOME_PRUNED) return status;
    const bool was_compiled = (*trial)->generated.source != NULL; /* no multiprocessor has room for a block of it */
    snprintf(reason, BACKEND_REASON_BYTES, "%.*s", BACKEND_REASON_BYTES - 1, (*trial)->reason);
    trial_free(*trial);
    *trial = NULL;
    if (was_compiled && schedule_is_stopped(in->schedule)) break;
  }
  return HALOTUNE_OK;
}

static double *coefficients_make(const struct task *task) {
  return calloc((size_t)task->stencil->coefficient_count + 1, sizeof(double));
}

/* Begin the compile of one variant. */
static halotune_status begin_compile(const struct final_inputs *in, const struct proposal *proposal,
                                     struct second_ahead *out) {
  struct second_compile *compile = &out->list[out->count];
  struct trial *trial;
  char reason[BACKEND_REASON_BYTES];
  *compile = (struct second_compile){.task = *in->task, .coefficients = coefficients_make(in->task)};
  if (!compile->coefficients) return fail_memory();
  out->count++;
  halotune_status status =
      find_grid(in, proposal, make_generated, NULL, &compile->task, compile->coefficients, &trial, reason);
  if (status == HALOTUNE_OK && trial && !trial->is_over) return pipeline_put(in->pipeline, trial, &compile->task);
  trial_free(trial);
  return status;
}

halotune_status second_grid_begin(const struct final_inputs *in, struct second_ahead *out) {
  const struct backend_facts *facts = &in->backend->facts;
  const int most = sizeof out->list / sizeof *out->list;
  *out = (struct second_ahead){.count = 0};
  if (facts->is_recording || facts->is_emulation || timed_best_ms(in->timed) < least_ahead_ms) return HALOTUNE_OK;
  const struct timed_variant **fastest = timed_by_time(in->timed);
  halotune_status status = fastest ? HALOTUNE_OK : fail_memory();
  for (long i = 0; i < in->timed->count && out->count < most && status == HALOTUNE_OK; i++) {
    if (fastest[i]->outcome == OUTCOME_MEASURED && pipeline_has_room(in->pipeline))
      status = begin_compile(in, &fastest[i]->proposal, out);
  }
  free(fastest);
  return status;
}

void second_grid_end(const struct final_inputs *in, struct second_ahead *ahead) {
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && !pipeline_is_empty(in->pipeline) && !schedule_is_stopped(in->schedule)) {
    enum { WAIT_MS = 20 };
    struct trial *trial;
    status = pipeline_take(in->pipeline, WAIT_MS, &trial);
    trial_free(trial);
  }
  pipeline_clear(in->pipeline);
  for (int i = 0; i < ahead->count; i++) free(ahead->list[i].coefficients);
  ahead->count = 0;
}

/* Judge a variant that does not compile for its second grid. If the compiler crashed or took too long, that says
 * nothing about the variant: then there is no second grid, and the reason says why. */
static void judge_compile(const struct trial *trial, char grid[GRID_TEXT_BYTES], struct verdict *verdict) {
  const enum outcome outcome = trial->result.outcome;
  if (outcome == OUTCOME_COMPILE_FAILED) {
    verdict_say(verdict, outcome, trial->reason);
    return;
  }
  snprintf(verdict->reason, sizeof verdict->reason, "%s on the grid %s: %.400s", outcome_name(outcome), grid,
           trial->reason);
  grid[0] = '\0';
}

halotune_status second_grid_check(const struct final_inputs *in, const struct proposal *proposal,
                                  const struct ending *ending, struct text *warnings, char grid[GRID_TEXT_BYTES],
                                  struct verdict *verdict) {
  enum { SEED = 2 };
  struct task task = *in->task;
  struct second second = {.trial = NULL};
  grid[0] = '\0';
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  second.coefficients = coefficients_make(&task);
  if (!second.coefficients) return fail_memory();
  halotune_status status =
      find_grid(in, proposal, make_compiled, ending, &task, second.coefficients, &second.trial, verdict->reason);
  if (status == HALOTUNE_OK && second.trial) {
    grid_write(&task.grid, task.stencil->dims, grid);
    if (second.trial->is_over) judge_compile(second.trial, grid, verdict);
    else status = grid_check(in, &task, SEED, second.trial, ending, &second.scene, warnings, verdict);
  }
  if (status == HALOTUNE_CANCELLED && ending_has_come(ending)) { /* this says nothing about the variant */
    *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
    snprintf(verdict->reason, sizeof verdict->reason, "%s before its check ended", schedule_stop_reason(in->schedule));
    grid[0] = '\0';
    status = HALOTUNE_OK;
  }
  scene_free(&second.scene);
  trial_free(second.trial);
  free(second.coefficients);
  return status;
}
