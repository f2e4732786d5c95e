/* throttle.h: what a slowdown of the GPU means for a measurement. gpu/driver/nvml.h lists the reasons and their effects. */
#ifndef MEASURE_SAMPLING_THROTTLE_H
#define MEASURE_SAMPLING_THROTTLE_H

#include <stdbool.h>

#include "gpu/driver/nvml.h"

/* How often a measurement is repeated for a slowdown that is not the kernel's doing, before it is kept and marked. */
enum { THROTTLE_REPEATS = 3 };

/* Whether what was measured up to this reading is spoilt; a reading that could not be taken spoils nothing. */
static inline bool reading_spoils(const struct gpu_reading *reading) {
  return nvml_throttle_bits(reading->throttle, NVML_REPEATS) != 0;
}

#endif
