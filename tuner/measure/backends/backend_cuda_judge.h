/* backend_cuda_judge.h: makes a session's problem from the backend's, and verdicts from what the session saw after a
 * run. */
#ifndef MEASURE_BACKENDS_BACKEND_CUDA_JUDGE_H
#define MEASURE_BACKENDS_BACKEND_CUDA_JUDGE_H

#include "tuner/device/gpu_session.h"
#include "tuner/measure/backends/backend.h"

/* Make the problem as a session needs it. Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for a scene of several launches; else
 * what gpu_problem_make returns. */
halotune_status cuda_problem_make(const struct backend_problem *problem, struct gpu_problem *out);

/* Judge what was seen: first whether something was written outside of the outputs, then whether inputs changed, then
 * the values.
 *   out  receives outcome and reason, and also `worst` and `run_ms` if outputs were compared */
void cuda_judge(const struct scene *scene, const struct gpu_problem *problem, const struct gpu_look_back *seen,
                struct verdict *out);

#endif
