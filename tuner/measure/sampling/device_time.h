/* device_time.h: a first idea of how long a loaded slot takes. */
#ifndef MEASURE_SAMPLING_DEVICE_TIME_H
#define MEASURE_SAMPLING_DEVICE_TIME_H

#include "tuner/measure/backends/backend.h"

/* The shortest of a few samples of a loaded slot, or of one that every backend has; the clock of a GPU that idled is
 * raised first. out_ms  receives the time of one application; NaN where it fails, and the slot is empty then Returns
 * HALOTUNE_OK or what the backend returns. */
halotune_status device_time(struct backend_handle *backend, int slot, double *out_ms);

#endif
