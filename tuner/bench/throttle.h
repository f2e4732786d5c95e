/* throttle.h: which of NVML's reasons for lower clocks spoil a measurement. */
#ifndef TUNER_BENCH_THROTTLE_H
#define TUNER_BENCH_THROTTLE_H

#include <stdbool.h>

#include "db/store.h"

/* Bits of nvmlClocksEventReasons. Not among them: idle (0x1), application clocks (0x2) and display clocks (0x100)
 * say nothing about a fault; the software power cap (0x4) is the steady state of a kernel that draws much power, and
 * so belongs to its time. */
enum throttle_reason {
  THROTTLE_HARDWARE_SLOWDOWN = 0x8,
  THROTTLE_SOFTWARE_THERMAL = 0x20,
  THROTTLE_HARDWARE_THERMAL = 0x40,
  THROTTLE_POWER_BRAKE = 0x80,
  THROTTLE_SPOILS =
      THROTTLE_HARDWARE_SLOWDOWN | THROTTLE_SOFTWARE_THERMAL | THROTTLE_HARDWARE_THERMAL | THROTTLE_POWER_BRAKE
};

/* How often a measurement is repeated for one of these reasons before it is kept and marked. */
enum { THROTTLE_REPEATS = 3 };

/* Whether what was measured up to this reading is spoilt; a reading that could not be taken spoils nothing. */
static inline bool reading_spoils(const struct gpu_reading *reading) {
  return reading->throttle > 0 && (reading->throttle & THROTTLE_SPOILS) != 0;
}

#endif
