/* gpu_problem.h: a problem as the GPU's worker process needs it. It contains only numbers, so it can be sent as
 * bytes. */
#ifndef DEVICE_GPU_PROBLEM_H
#define DEVICE_GPU_PROBLEM_H

#include "db/store/store.h"
#include "stencil/launch/domain.h"

/* In an iterated stencil, buffers exchange their places in each step. The phases end when the buffers are back in their
 * first places. */
enum { GPU_MOST_PHASES = 32 };

struct gpu_phase {
  /* number of the buffer that holds each field; buffers of inputs come first */
  int inputs[MAX_FIELDS], outputs[MAX_FIELDS];
};

struct gpu_problem {
  int input_count, output_count; /* outputs: with the arrays that a launch carries; see iterate.h */
  int launch_steps;              /* time steps of a launch */
  enum dtype dtype;
  struct domain domain;                /* dense: no gaps between rows */
  size_t buffer_bytes[2 * MAX_FIELDS]; /* bytes of each buffer; for a mask rounded up to a multiple of 4 */
  size_t element_bytes[MAX_FIELDS];    /* bytes of an element of each input */
  /* the points of each output that a launch writes: low <= point < high */
  long written_low[MAX_FIELDS][MAX_DIMS], written_high[MAX_FIELDS][MAX_DIMS];
  /* for each output: the number of the input in whose memory it may lie, plus 1; 0 for none */
  int in_place[MAX_FIELDS];
  int phase_count; /* 1 if the stencil is not iterated */
  struct gpu_phase phases[GPU_MOST_PHASES];
  enum launch_mode launch;
  enum cache_mode cache;
  size_t guard_bytes;
  long long roof_elements;
  double rounding, allowed_units; /* see compare_fields */
  bool is_made_here;              /* a recipe makes the fields on the GPU, so copies of them are not needed */
  uint64_t seed;                  /* of the boxes that are compared if there is no memory for a whole reference */
  long finite_steps;              /* no right result can overflow for at least this many steps; 0 if that is unknown */
};

/* Fill in all members that follow from these arguments. The others, from `launch` on except `guard_bytes`, are 0.
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for a domain with gaps, or for fields that need more than GPU_MOST_PHASES
 * launches to come back to their places. */
halotune_status gpu_problem_make(const struct stencil *stencil, const struct analysis *analysis, enum dtype dtype,
                                 const struct domain *domain, int launch_steps, struct gpu_problem *out);

/* The number of buffers: those of inputs, then those of outputs. */
static inline int gpu_problem_buffers(const struct gpu_problem *problem) {
  return problem->input_count + problem->output_count;
}

/* Whether a buffer's first content is known. It is known for inputs, and for outputs that become inputs. */
static inline bool gpu_problem_has_start(const struct gpu_problem *problem, int buffer) {
  return buffer < problem->input_count || problem->phase_count > 1;
}

/* The bytes of a field that lies along all axes. */
static inline size_t gpu_problem_bytes(const struct gpu_problem *problem) {
  return (size_t)domain_elements(&problem->domain) * dtype_bytes(problem->dtype);
}

/* The bytes of all buffers together. */
static inline size_t gpu_problem_set_bytes(const struct gpu_problem *problem) {
  size_t bytes = 0;
  for (int i = 0; i < gpu_problem_buffers(problem); i++) bytes += problem->buffer_bytes[i];
  return bytes;
}

/* Whether an output may lie in the memory of an input. A verification then runs the variant twice. */
bool gpu_problem_allows_in_place(const struct gpu_problem *problem);

/* Whether any step writes this buffer. An input's buffer that is written does not keep its content. */
bool gpu_problem_writes(const struct gpu_problem *problem, int buffer);

#endif
