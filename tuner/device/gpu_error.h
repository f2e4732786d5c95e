/* gpu_error.h: calls of the driver that belong to one variant, and what a failure of them says about it. */
#ifndef DEVICE_GPU_ERROR_H
#define DEVICE_GPU_ERROR_H

#include "db/store/outcome.h"
#include "gpu/driver/device.h"

/* The driver, and the last call of it that failed. */
struct gpu {
  const struct cu *cu;
  CUresult failed; /* CUDA_SUCCESS: none did since gpu_clear */
  bool is_stuck;   /* a capture did not end, so that all later work would go into it */
};

/* Look at what a call came to, and remember a failure. Returns as cu_check. */
halotune_status gpu_did(struct gpu *gpu, CUresult result, const char *what);

static inline void gpu_clear(struct gpu *gpu) { gpu->failed = CUDA_SUCCESS; }

/* What a failed call says about the variant that was loaded, launched or waited for: out of bounds, crashed, hung,
 * or that the driver refused it. */
enum outcome gpu_outcome(CUresult result);

/* Whether the context can no longer be used, as is so after a kernel died: every call fails from then on. Or its stream, which is
 * stuck in a capture. */
bool gpu_is_dead(const struct gpu *gpu);

#endif
