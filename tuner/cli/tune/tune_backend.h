/* tune_backend.h: the options --backend, --device, --members, --in-flight and --hang-timeout of `halotune tune`. */
#ifndef CLI_TUNE_TUNE_BACKEND_H
#define CLI_TUNE_TUNE_BACKEND_H

#include "tuner/cli/options/option_value.h"
#include "tuner/measure/backends/backend.h"

enum { TUNE_MOST_DEVICES = 64, TUNE_MOST_PROCESSES = 256 };

enum tune_backend_kind { TUNE_ON_CUDA, TUNE_ON_HOST, TUNE_ON_RECORDING };

struct tune_backend {
  enum tune_backend_kind kind;
  const char *recording;                          /* file of a recording; NULL for other backends */
  int ordinal;                                    /* ordinal of this process's GPU */
  int ordinals[TUNE_MOST_DEVICES], ordinal_count; /* ordinals of the team's GPUs; the leader has the first one */
  /* processes of the team; if there are more than GPUs, GPUs are assigned in turn */
  int process_count;
  bool may_share;       /* --members asks for several processes on one GPU */
  int in_flight;        /* --in-flight: variants that a recording has waiting for their results */
  int hang_ms;          /* --hang-timeout */
  int member_option;    /* --members; 0: not given */
  bool is_every_device; /* --device all */
};

/* Choose the GPUs of the team: those of --device, or of one model with --device all. Returns HALOTUNE_OK, or
 * HALOTUNE_ARGUMENT where --members asks for fewer processes. */
halotune_status tune_backend_use(struct tune_backend *which, const int *ordinals, int count);

/* Read the five options. Returns HALOTUNE_OK or HALOTUNE_ARGUMENT. */
halotune_status tune_backend_read(const struct invocation *invocation, struct tune_backend *out);

/* Open the backend.
 *   compiler  NULL for a recording
 * Returns the errors of backend_cuda_open, backend_host_open or backend_replay_open. */
halotune_status tune_backend_open(const struct tune_backend *which, struct compiler *compiler,
                                  struct backend_handle *out);

/* Check that the backend could be opened, without giving the GPU work: the recording can be read, or the driver, if
 * there is one, has the GPU.
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT if there is no such GPU; the errors of backend_replay_open;
 * HALOTUNE_MEMORY. */
halotune_status tune_backend_check(const struct tune_backend *which);

#endif
