/* gpu_error.c: maps the driver's errors to outcomes of a variant. */
#include "tuner/device/gpu_error.h"

#include <stddef.h>

#include "base/memory/array.h"

/* Errors of a kernel that ran. They destroy the context. All other errors mean that the driver refused and nothing
 * ran. */
static const struct {
  CUresult result;
  enum outcome outcome;
} fatal[] = {
    {CUDA_ERROR_ILLEGAL_ADDRESS, OUTCOME_OUT_OF_BOUNDS},
    {CUDA_ERROR_MISALIGNED_ADDRESS, OUTCOME_OUT_OF_BOUNDS},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, OUTCOME_OUT_OF_BOUNDS},
    {CUDA_ERROR_LAUNCH_TIMEOUT, OUTCOME_HUNG},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, OUTCOME_CRASHED},
    {CUDA_ERROR_INVALID_PC, OUTCOME_CRASHED},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, OUTCOME_CRASHED},
    {CUDA_ERROR_LAUNCH_FAILED, OUTCOME_CRASHED},
    {CUDA_ERROR_ASSERT, OUTCOME_CRASHED},
    {CUDA_ERROR_ECC_UNCORRECTABLE, OUTCOME_CRASHED},
    {CUDA_ERROR_NVLINK_UNCORRECTABLE, OUTCOME_CRASHED},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, OUTCOME_CRASHED},
    {CUDA_ERROR_EXTERNAL_DEVICE, OUTCOME_CRASHED},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, OUTCOME_CRASHED},
    {CUDA_ERROR_DEINITIALIZED, OUTCOME_CRASHED},
    {CUDA_ERROR_UNKNOWN, OUTCOME_CRASHED},
};

halotune_status gpu_did(struct gpu *gpu, CUresult result, const char *what) {
  if (result != CUDA_SUCCESS) gpu->failed = result;
  return cu_check(gpu->cu, result, what);
}

enum outcome gpu_outcome(CUresult result) {
  for (size_t i = 0; i < COUNT(fatal); i++) {
    if (fatal[i].result == result) return fatal[i].outcome;
  }
  return OUTCOME_LAUNCH_FAILED;
}

bool gpu_is_dead(const struct gpu *gpu) {
  if (gpu->is_stuck || gpu_outcome(gpu->failed) != OUTCOME_LAUNCH_FAILED) return true;
  return gpu->cu->ctx_synchronize() != CUDA_SUCCESS;
}
