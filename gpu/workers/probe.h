/* probe.h: which GPUs there are, asked of the driver in a process of its own, so that this one never loads it. */
#ifndef GPU_WORKERS_PROBE_H
#define GPU_WORKERS_PROBE_H

#include "gpu/driver/device.h"

enum { PROBE_MOST_DEVICES = 64, PROBE_TEXT_BYTES = 512 };

struct probe {
  int cuda; /* the newest CUDA that the driver runs: 13000 is 13.0 */
  int device_count;
  struct device_facts devices[PROBE_MOST_DEVICES]; /* the first ones */
};

/* Ask. No context is made.
 *   out  filled on success
 * Returns HALOTUNE_OK; HALOTUNE_NO_GPU with what to do, also where the driver crashes or does not answer; HALOTUNE_IO.
 * Threads: call it before the program has any, since it forks. */
halotune_status probe_gpus(struct probe *out);

#endif
