/* gpu_error.h: what a failed call of the driver says about the variant for which it was made. */
#ifndef DEVICE_GPU_ERROR_H
#define DEVICE_GPU_ERROR_H

#include "db/store/outcome.h"
#include "gpu/driver/device.h"

/* The driver, and its last call that failed. */
struct gpu {
  const struct cu *cu;
  CUresult failed; /* CUDA_SUCCESS: no call failed since gpu_clear */
  bool is_stuck;   /* a stream capture did not end, so all later work would be captured */
};

/* Check the result of a call, and remember a failure. Returns what cu_check returns. */
halotune_status gpu_did(struct gpu *gpu, CUresult result, const char *what);

static inline void gpu_clear(struct gpu *gpu) { gpu->failed = CUDA_SUCCESS; }

/* What a failed call says about the variant that was loaded, launched or waited for: out of bounds, crashed, hung, or
 * refused by the driver. */
enum outcome gpu_outcome(CUresult result);

/* Whether the context is unusable, as it is after a kernel died, or the stream, because it is stuck in a capture. Every
 * later call then fails. */
bool gpu_is_dead(const struct gpu *gpu);

#endif
