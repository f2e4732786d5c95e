/* steady.h: whether the GPU runs at its full clocks: it lowers them when it is idle, and when it is too hot or takes
 * too much power. gpu/driver/nvml.h lists the reasons for a slowdown. */
#ifndef MEASURE_SAMPLING_STEADY_H
#define MEASURE_SAMPLING_STEADY_H

#include <stdbool.h>

#include "gpu/driver/nvml.h"
#include "tuner/measure/backends/backend.h"

enum {
  STEADY_WORK_MS = 20, /* length of the work between two readings of the clock */
  STEADY_LOOKS = 15    /* most readings: 300 ms in all */
};

/* Keep the GPU busy until two readings of the SM clock are within 1 %. If the clock cannot be read, two readings are
 * taken. */
halotune_status steady_wait(struct backend_handle *backend);

/* Keep the GPU busy before a measurement is repeated. A short slowdown may end meanwhile, and the clocks stay up. */
halotune_status steady_pause(struct backend_handle *backend);

/* How often a measurement is repeated for a slowdown that the kernel did not cause. Then it is kept and marked. */
enum { THROTTLE_REPEATS = 3 };

/* Whether a slowdown spoilt the samples before this reading. A reading that could not be taken spoils nothing. */
static inline bool reading_spoils(const struct gpu_reading *reading) {
  return nvml_throttle_bits(reading->throttle, NVML_REPEATS) != 0;
}

#endif
