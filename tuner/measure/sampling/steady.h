/* steady.h: a GPU that has had nothing to do lowers its clocks, and takes a while to raise them again. */
#ifndef MEASURE_SAMPLING_STEADY_H
#define MEASURE_SAMPLING_STEADY_H

#include "tuner/measure/backends/backend.h"

enum {
  STEADY_WORK_MS = 20, /* between two looks at the clock */
  STEADY_LOOKS = 15    /* at most: 300 ms */
};

/* Keep the GPU busy until two looks at the SM clock are within 1 %; where it cannot be read, for two looks. */
halotune_status steady_wait(struct backend_handle *backend);

/* Before what was slowed down is repeated: some work, in which a short slowdown may end and the clocks stay up. */
halotune_status steady_pause(struct backend_handle *backend);

#endif
