/* gpu_problem.c: computes the phases of an iterated stencil, and the size of guards that its reach requires. */
#include "tuner/device/gpu_problem.h"

#include <string.h>

#include "stencil/analysis/iterate.h"

enum {
  LEAST_GUARD_BYTES = 1 << 20,
  MOST_GUARD_BYTES = 64 << 20,
  /* Checks compare words of 32 bits. A mask ends with a whole one, and the guard begins behind it. The word has an
   * element of the mask, so a store anywhere in it is told at a point that exists. */
  CHECKED_BYTES = 4,
};

/* The guards are as wide as taps reach in a launch, along the axis with the longest stride. */
static size_t guard_bytes(const struct stencil *stencil, const struct analysis *analysis, enum dtype dtype,
                          const struct domain *domain, int steps) {
  const long strides[MAX_DIMS] = {1, domain->row, domain->plane};
  double widest = 0;
  for (int axis = 0; axis < stencil->dims && axis < MAX_DIMS; axis++) {
    double bytes = (double)steps * (double)analysis->radius[axis] * (double)strides[axis] * (double)dtype_bytes(dtype);
    if (bytes > widest) widest = bytes;
  }
  return widest < LEAST_GUARD_BYTES ? LEAST_GUARD_BYTES : widest > MOST_GUARD_BYTES ? MOST_GUARD_BYTES : (size_t)widest;
}

/* Find the points of an output, among those of the domain's box, that a launch writes. */
static void find_written(const struct stencil *stencil, const struct analysis *analysis, int output,
                         const struct domain *domain, long low[MAX_DIMS], long high[MAX_DIMS]) {
  analysis_written(analysis, stencil, &domain->grid, output, low, high);
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (low[axis] < domain->low[axis]) low[axis] = domain->low[axis];
    if (high[axis] > domain->high[axis]) high[axis] = domain->high[axis];
  }
}

halotune_status gpu_problem_make(const struct stencil *stencil, const struct analysis *analysis, enum dtype dtype,
                                 const struct domain *domain, int launch_steps, struct gpu_problem *out) {
  struct carried carried[MAX_FIELDS];
  memset(out, 0, sizeof *out); /* it is sent as bytes, so its padding is cleared, too */
  if (domain->row != domain->grid.n[0] || domain->plane != domain->row * domain->grid.n[1]) {
    return fail(HALOTUNE_ARGUMENT, "fields with gaps between rows or planes are not measured on a GPU");
  }
  if (iterate_most_steps(stencil, launch_steps) < launch_steps)
    return fail(HALOTUNE_ARGUMENT, "%d steps write more than %d arrays", launch_steps, MAX_FIELDS);
  out->input_count = stencil->input_count;
  out->output_count = stencil->output_count + iterate_carried(stencil, launch_steps, carried);
  out->launch_steps = launch_steps;
  out->dtype = dtype;
  out->domain = *domain;
  for (int i = 0; i < gpu_problem_buffers(out); i++) out->buffer_bytes[i] = gpu_problem_bytes(out);
  for (int i = 0; i < out->input_count; i++) {
    const struct input_layout layout = input_layout_of(stencil, i, dtype, domain);
    const size_t bytes = (size_t)layout.elements * layout.element_bytes;
    out->buffer_bytes[i] = (bytes + CHECKED_BYTES - 1) / CHECKED_BYTES * CHECKED_BYTES;
    out->element_bytes[i] = layout.element_bytes;
  }
  for (int o = 0; o < out->output_count; o++) {
    const int output = o < stencil->output_count ? o : carried[o - stencil->output_count].output;
    find_written(stencil, analysis, output, domain, out->written_low[o], out->written_high[o]);
  }
  for (int i = 0; i < stencil->in_place_count; i++) {
    out->in_place[stencil->in_place[i].output] = stencil->in_place[i].input + 1;
  }
  out->guard_bytes = guard_bytes(stencil, analysis, dtype, domain, launch_steps);
  struct gpu_phase phase = {{0}, {0}};
  for (int i = 0; i < stencil->input_count; i++) phase.inputs[i] = i;
  for (int i = 0; i < out->output_count; i++) phase.outputs[i] = stencil->input_count + i;
  do {
    if (out->phase_count == GPU_MOST_PHASES) {
      return fail(HALOTUNE_ARGUMENT, "the stencil's fields take more than %d launches to come back to their places",
                  GPU_MOST_PHASES);
    }
    out->phases[out->phase_count++] = phase;
    if (stencil->iterate_count > 0) iterate_advance(stencil, launch_steps, phase.inputs, phase.outputs);
  } while (memcmp(&phase, &out->phases[0], sizeof phase) != 0);
  return HALOTUNE_OK;
}

bool gpu_problem_allows_in_place(const struct gpu_problem *problem) {
  for (int o = 0; o < problem->output_count; o++) {
    if (problem->in_place[o] > 0) return true;
  }
  return false;
}

bool gpu_problem_writes(const struct gpu_problem *problem, int buffer) {
  for (int p = 0; p < problem->phase_count; p++) {
    for (int o = 0; o < problem->output_count; o++) {
      if (problem->phases[p].outputs[o] == buffer) return true;
    }
  }
  return false;
}
