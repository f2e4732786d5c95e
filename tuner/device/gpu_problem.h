/* gpu_problem.h: a problem as the GPU's worker process needs it: numbers only, so that it may cross as it is. */
#ifndef DEVICE_GPU_PROBLEM_H
#define DEVICE_GPU_PROBLEM_H

#include "db/store/store.h"
#include "stencil/launch/domain.h"

/* Where a stencil is iterated, buffers change places from step to step, until they are where they were. */
enum { GPU_MOST_PHASES = 32 };

struct gpu_phase {
  int inputs[MAX_FIELDS], outputs[MAX_FIELDS]; /* number of the buffer that holds each field; inputs come first */
};

struct gpu_problem {
  int input_count, output_count;
  enum dtype dtype;
  struct domain domain; /* dense: no gaps between rows */
  int phase_count;      /* 1 where the stencil is not iterated */
  struct gpu_phase phases[GPU_MOST_PHASES];
  enum launch_mode launch;
  enum cache_mode cache;
  size_t guard_bytes;
  long long roof_elements;
  double rounding, allowed_units; /* as compare_fields takes them */
  long finite_steps;              /* for so many, at least, no right result can overflow; 0 where that is not known */
};

/* Fill in all but `rounding` and `allowed_units`.
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for a domain with gaps, or fields that take more than GPU_MOST_PHASES
 * steps to come back to their places. */
halotune_status gpu_problem_make(const struct stencil *stencil, const struct analysis *analysis, enum dtype dtype,
                                 const struct domain *domain, struct gpu_problem *out);

/* For how many steps inputs of at most 1 cannot overflow, where the weights of each output are at most so many times those
 * of the analysis: a step of a linear stencil multiplies the largest value by the sum of its weights' magnitudes, at
 * most. 0 where the stencil is not linear: a product of fields may grow faster than any number of steps tells. */
long gpu_problem_finite_steps(const struct analysis *analysis, enum dtype dtype, double factor);

/* What the fields are, by the numbers of buffers. */
static inline int gpu_problem_buffers(const struct gpu_problem *problem) {
  return problem->input_count + problem->output_count;
}
static inline size_t gpu_problem_bytes(const struct gpu_problem *problem) {
  return (size_t)domain_elements(&problem->domain) * dtype_bytes(problem->dtype);
}

/* Whether any step writes this buffer, and, of an input's, so that it does not stay as it is. */
bool gpu_problem_writes(const struct gpu_problem *problem, int buffer);

#endif
