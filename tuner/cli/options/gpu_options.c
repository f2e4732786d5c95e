/* gpu_options.c: reads the options with which a command opens one GPU. */
#include "tuner/cli/options/gpu_options.h"

#include "tuner/cli/options/option_value.h"

halotune_status gpu_options_read(const struct invocation *invocation, struct backend_cuda_options *out) {
  long ordinal;
  *out = (struct backend_cuda_options){.compiler = NULL};
  halotune_status status = option_whole(invocation, "device", 0, 255, 0, &ordinal);
  if (status == HALOTUNE_OK) status = option_milliseconds(invocation, "hang-timeout", BACKEND_HANG_MS, &out->hang_ms);
  if (status == HALOTUNE_OK) out->ordinal = (int)ordinal;
  return status;
}
