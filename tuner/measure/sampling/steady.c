/* steady.c: gives the GPU work until its SM clock no longer changes. */
#include "tuner/measure/sampling/steady.h"

#include <stdlib.h>

#define CLOCK_TOLERANCE 0.01

halotune_status steady_pause(struct backend_handle *backend) {
  return backend->table->keep_warm(backend->state, STEADY_WORK_MS);
}

halotune_status steady_wait(struct backend_handle *backend) {
  int last_mhz = -1;
  for (int look = 0; look < STEADY_LOOKS; look++) {
    struct gpu_reading reading;
    halotune_status st = backend->table->keep_warm(backend->state, STEADY_WORK_MS);
    if (st != HALOTUNE_OK) return st;
    backend->table->read(backend->state, &reading);
    if (look > 0 && (reading.sm_mhz < 0 || abs(reading.sm_mhz - last_mhz) <= CLOCK_TOLERANCE * last_mhz)) break;
    last_mhz = reading.sm_mhz;
  }
  return HALOTUNE_OK;
}
