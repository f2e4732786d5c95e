/* gpu_energy.h: the energy of applications, by the GPU's own counter, and the power of a GPU that waits.
 *
 * NVML's counter shows a new value every 20 to 100 ms, so that it cannot tell the energy of one launch. A variant runs
 * without a pause, two units of work in the queue, while the counter is read after each unit. From the first new value
 * after the warm-up to the last one, the difference of the values over the number of applications in between is the
 * energy of one. Each end is off by one unit at most. */
#ifndef DEVICE_GPU_ENERGY_H
#define DEVICE_GPU_ENERGY_H

#include "gpu/driver/nvml.h"
#include "tuner/device/gpu_session.h"

/* The loop lasts GPU_ENERGY_UNITS units at least, so that a unit is less than 2 % of it. After GPU_ENERGY_MOST_MS, or
 * three times as many units where that is longer, the loop gives up: it ends with HALOTUNE_NOT_FOUND at the next
 * reading without a new value. */
enum { GPU_ENERGY_IDLE = -1, GPU_ENERGY_MOST_MS = 8000, GPU_ENERGY_UNITS = 64 };

struct gpu_energy_plan {
  int slot;       /* GPU_ENERGY_IDLE: nothing runs */
  double time_ms; /* time of one application, roughly; more than 0 */
  /* least time between the first and the last value that count. A quarter of it before them is the warm-up */
  double least_ms;
  long least_changes; /* least number of changes of the counter between them */
};

/* The energy that the GPU used between two changes of its counter. */
struct gpu_energy {
  double energy_mj, span_ms;
  long applications; /* 0 for GPU_ENERGY_IDLE */
  long changes;      /* changes of the counter */
};

/* Run a slot, and read the counter.
 *   nvml  with the session's GPU
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND if there is no counter, or if it has not changed enough when
 * the loop ends; else as gpu_session_sample. Threads: one. */
halotune_status gpu_session_energy(struct gpu_session *s, const struct nvml *nvml, const struct gpu_energy_plan *plan,
                                   struct gpu_energy *out);

#endif
