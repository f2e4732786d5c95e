/* probe.h: finds the machine's GPUs. A child process asks the driver, so that this process never loads it. */
#ifndef GPU_WORKERS_PROBE_H
#define GPU_WORKERS_PROBE_H

#include "gpu/driver/device.h"

enum { PROBE_MOST_DEVICES = 64, PROBE_TEXT_BYTES = 512 };

struct probe {
  int cuda; /* the newest CUDA version that the driver supports: 13000 is 13.0 */
  int device_count;
  struct device_facts devices[PROBE_MOST_DEVICES]; /* the first device_count GPUs */
};

/* Ask the driver for its GPUs, without making a context.
 *   out  filled on success
 * Returns HALOTUNE_OK; HALOTUNE_NO_GPU with what to do, also if the driver crashes or does not answer; HALOTUNE_IO.
 * Threads: call it before the program starts any, since it forks. */
halotune_status probe_gpus(struct probe *out);

/* The same with another limit for the driver's answer, for tests. */
enum { PROBE_ANSWER_MS = 60000 };
halotune_status probe_gpus_within(int answer_ms, struct probe *out);

#endif
