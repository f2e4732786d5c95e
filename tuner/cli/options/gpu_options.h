/* gpu_options.h: the options with which a command opens one GPU for variants. */
#ifndef CLI_OPTIONS_GPU_OPTIONS_H
#define CLI_OPTIONS_GPU_OPTIONS_H

#include "tuner/cli/options/command.h"
#include "tuner/measure/backends/backend.h"

/* The options that gpu_options_read reads. */
#define GPU_OPTIONS                                                                                              \
  {"device", "N", "which GPU, from 0; 0 by default"}, {                                                          \
    "hang-timeout", "TIME", "time for one run of a variant, 5s by default; a variant that takes longer has hung" \
  }

/* Read --device and --hang-timeout into `out`, which has no compiler yet.
 * Returns HALOTUNE_OK, or HALOTUNE_ARGUMENT with a message that names the option. */
halotune_status gpu_options_read(const struct invocation *invocation, struct backend_cuda_options *out);

#endif
