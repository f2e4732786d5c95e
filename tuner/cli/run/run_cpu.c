/* run_cpu.c: computes a run with the reference, in double precision. */
#include <stdlib.h>
#include <string.h>

#include "base/system/memory.h"
#include "base/system/parallel.h"
#include "stencil/analysis/iterate.h"
#include "tuner/cli/run/run_problem.h"
#include "tuner/verify/reference.h"

struct cpu_run {
  const struct run_problem *problem;
  struct reference reference;     /* the reference of one step */
  double *fields[2 * MAX_FIELDS]; /* inputs, then outputs */
};

static void cpu_close(void *state) {
  struct cpu_run *run = state;
  for (int i = 0; i < 2 * MAX_FIELDS && run; i++) free(run->fields[i]);
  free(run);
}

static int field_count(const struct stencil *stencil) { return stencil->input_count + stencil->output_count; }

static halotune_status cpu_open(const struct invocation *invocation, const struct run_problem *problem, void **state) {
  const struct stencil *stencil = problem->loaded.stencil;
  struct cpu_run *run = calloc(1, sizeof *run);
  long threads;
  bool fits = true;
  *state = NULL;
  if (!run) return fail_memory();
  halotune_status status = option_whole(invocation, "threads", 1, PARALLEL_MAX_THREADS, 0, &threads);
  if (status == HALOTUNE_OK) {
    run->problem = problem;
    run->reference = (struct reference){.stencil = stencil,
                                        .analysis = problem->loaded.analysis,
                                        .grid = problem->grid,
                                        .coefficients = problem->coefficients,
                                        .steps = 1,
                                        .threads = parallel_threads((int)threads),
                                        .ending = {.flag = problem->stop}};
    status = reference_check(&run->reference);
  }
  if (status == HALOTUNE_OK) status = memory_check("the fields", reference_bytes(&run->reference));
  for (int i = 0; i < field_count(stencil) && status == HALOTUNE_OK && fits; i++)
    fits = (run->fields[i] = calloc((size_t)problem->points, sizeof(double))) != NULL;
  if (!fits)
    status = fail(HALOTUNE_MEMORY, "the fields do not fit into memory: %d of %.3g GB", field_count(stencil),
                  (double)problem->points * sizeof(double) * 1e-9);
  if (status == HALOTUNE_OK) *state = run;
  else cpu_close(run);
  return status;
}

/* Give an element of an input the place or places that it has in the reference, whose fields lie along all axes. */
static void spread_element(const struct cpu_run *run, int input, const struct input_layout *layout, long element,
                           double value) {
  const struct grid *grid = &run->problem->grid;
  long low[MAX_DIMS], high[MAX_DIMS];
  for (int axis = MAX_DIMS - 1; axis >= 0; axis--) {
    const long stride = layout->strides[axis];
    low[axis] = stride > 0 ? element / stride : 0;
    high[axis] = stride > 0 ? low[axis] + 1 : grid->n[axis];
    element -= low[axis] * stride;
  }
  for (long z = low[2]; z < high[2]; z++) {
    for (long y = low[1]; y < high[1]; y++) {
      for (long x = low[0]; x < high[0]; x++) run->fields[input][grid_index(grid, x, y, z)] = value;
    }
  }
}

/* Write elements of an input that is not whole. */
static void put_beside(const struct cpu_run *run, int input, long first, long count, const void *values) {
  const struct input_layout layout = run_input_layout(run->problem, input);
  for (long i = 0; i < count; i++) {
    const double value = layout.element_bytes == 1               ? ((const unsigned char *)values)[i]
                         : layout.element_bytes == sizeof(float) ? (double)((const float *)values)[i]
                                                                 : ((const double *)values)[i];
    spread_element(run, input, &layout, first + i, value);
  }
}

static halotune_status cpu_put(void *state, int input, long first, long count, const void *values) {
  const struct cpu_run *run = state;
  const float *floats = values;
  const double *doubles = values;
  if (!input_is_whole(run->problem->loaded.stencil, input)) {
    put_beside(run, input, first, count, values);
    return HALOTUNE_OK;
  }
  double *to = run->fields[input] + first;
  for (long i = 0; i < count; i++) to[i] = run->problem->dtype == DTYPE_F32 ? (double)floats[i] : doubles[i];
  return HALOTUNE_OK;
}

static halotune_status cpu_start(void *state) {
  const struct cpu_run *run = state;
  const struct stencil *stencil = run->problem->loaded.stencil;
  int leader[2 * MAX_FIELDS];
  iterate_leaders(stencil, leader);
  for (int i = stencil->input_count; i < field_count(stencil); i++) {
    if (leader[i] != i) memcpy(run->fields[i], run->fields[leader[i]], (size_t)run->problem->points * sizeof(double));
  }
  return HALOTUNE_OK;
}

/* Apply the stencil once, and sort the fields as the next step needs them. */
static halotune_status step_once(struct cpu_run *run) {
  const struct stencil *stencil = run->problem->loaded.stencil;
  const double *inputs[MAX_FIELDS];
  double *outputs[MAX_FIELDS], *old[2 * MAX_FIELDS];
  int input_places[MAX_FIELDS], output_places[MAX_FIELDS];
  memcpy(old, run->fields, sizeof old);
  for (int i = 0; i < stencil->input_count; i++) inputs[i] = old[input_places[i] = i];
  for (int i = 0; i < stencil->output_count; i++) outputs[i] = old[output_places[i] = stencil->input_count + i];
  halotune_status status = reference_run(&run->reference, inputs, outputs, NULL);
  if (status != HALOTUNE_OK || !run->problem->loaded.analysis->can_iterate) return status;
  iterate_advance(stencil, 1, input_places, output_places);
  for (int i = 0; i < stencil->input_count; i++) run->fields[i] = old[input_places[i]];
  for (int i = 0; i < stencil->output_count; i++) run->fields[stencil->input_count + i] = old[output_places[i]];
  return HALOTUNE_OK;
}

static halotune_status cpu_advance(void *state, long steps) {
  halotune_status status = HALOTUNE_OK;
  for (long step = 0; step < steps && status == HALOTUNE_OK; step++) status = step_once(state);
  return status;
}

static halotune_status cpu_get(void *state, int result, long first, long count, void *values) {
  const struct cpu_run *run = state;
  const struct loaded *loaded = &run->problem->loaded;
  const double *from = run->fields[run_result_place(loaded->stencil, loaded->analysis, result)] + first;
  float *floats = values;
  double *doubles = values;
  for (long i = 0; i < count; i++) {
    if (run->problem->dtype == DTYPE_F32) floats[i] = (float)from[i];
    else doubles[i] = from[i];
  }
  return HALOTUNE_OK;
}

static struct run_facts cpu_facts(void *state) {
  const struct cpu_run *run = state;
  return (struct run_facts){.device = "CPU", .threads = run->reference.threads, .launch_steps = 1};
}

const struct run_backend run_backend_cpu = {
    "cpu", cpu_open, cpu_put, cpu_start, cpu_advance, cpu_get, cpu_facts, cpu_close,
};
