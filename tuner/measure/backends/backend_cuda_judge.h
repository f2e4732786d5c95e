/* backend_cuda_judge.h: what a GPU session is told of a problem, and what it saw after a run, as a verdict in the
 * stencil's words. */
#ifndef MEASURE_BACKENDS_BACKEND_CUDA_JUDGE_H
#define MEASURE_BACKENDS_BACKEND_CUDA_JUDGE_H

#include "tuner/device/gpu_session.h"
#include "tuner/measure/backends/backend.h"

/* The problem as a session needs it.
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for a scene of several steps, or as gpu_problem_make. */
halotune_status cuda_problem_make(const struct backend_problem *problem, struct gpu_problem *out);

/* Judge what was seen: first whether anything was written that is not to be, then whether inputs are as they were, then
 * values.
 *   out  outcome and reason; `worst` and `run_ms` as well where outputs were compared */
void cuda_judge(const struct stencil *stencil, const struct gpu_problem *problem, const struct gpu_look_back *seen,
                struct verdict *out);

#endif
