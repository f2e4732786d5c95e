/* nvml.c: the functions of NVIDIA's management library that report clocks, heat, energy and other processes, from the
 * same state. Faults do not apply to them, but they may hang. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/driver/nvml.h"
#include "tests/fake_cuda/fake.h"

/* Declared from the list of functions that we use, as in fake.h. */
#define AS_EXPORT(member, symbol, params) \
  __attribute__((visibility("default"))) int fake_nvml_##member params __asm__(symbol);
NVML_LIST(AS_EXPORT)
#undef AS_EXPORT

enum { DRIVER_BUS = 0x18, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };

static unsigned device_count(void) { return (unsigned)fake_number("HALOTUNE_FAKE_DEVICES", 1); }

/* $HALOTUNE_FAKE_NVML names the call that never returns. */
static void hang_in(const char *call) {
  const char *named = getenv("HALOTUNE_FAKE_NVML");
  while (named && strcmp(named, call) == 0) pause();
}

int fake_nvml_init(void) {
  hang_in("init");
  return NVML_SUCCESS_RESULT;
}
int fake_nvml_shutdown(void) { return NVML_SUCCESS_RESULT; }

int fake_nvml_driver_version(char *version, unsigned bytes) {
  return snprintf(version, bytes, "580.00.00") < (int)bytes ? NVML_SUCCESS_RESULT : INSUFFICIENT_SIZE;
}

/* A handle is the ordinal + 1, so that none is NULL. */
static int make_handle(unsigned index, nvml_device *device) {
  if (index >= device_count()) return NOT_FOUND;
  *device = (nvml_device)(uintptr_t)(index + 1);
  return NVML_SUCCESS_RESULT;
}

/* Parse DOMAIN:BUS:DEVICE.FUNCTION. The driver puts the ordinal into the bus. The domain may have four or eight
 * digits. */
int fake_nvml_by_bus_id(const char *id, nvml_device *device) {
  const char *bus = strchr(id, ':');
  unsigned long number = bus ? strtoul(bus + 1, NULL, 16) : 0;
  return number < DRIVER_BUS ? NOT_FOUND : make_handle((unsigned)(number - DRIVER_BUS), device);
}

/* The last two digits are the ordinal. */
int fake_nvml_by_uuid(const char *uuid, nvml_device *device) {
  size_t length = strlen(uuid);
  bool is_ours = length >= 2 && strncmp(uuid, "GPU-fafafafa-", 13) == 0;
  return is_ours ? make_handle((unsigned)strtoul(uuid + length - 2, NULL, 16), device) : NOT_FOUND;
}

int fake_nvml_clock(nvml_device device, int clock, unsigned *mhz) {
  hang_in("clock");
  if (!device) return INVALID_ARGUMENT;
  fake_lock();
  *mhz = clock == NVML_CLOCK_MEMORY_TYPE ? 3201 : (unsigned)model_clock_mhz();
  fake_unlock(NULL);
  return NVML_SUCCESS_RESULT;
}

int fake_nvml_temperature(nvml_device device, int sensor, unsigned *celsius) {
  (void)sensor;
  fake_lock();
  *celsius = model_is_throttled() ? 92 : 41;
  fake_unlock(NULL);
  return device ? NVML_SUCCESS_RESULT : INVALID_ARGUMENT;
}

int fake_nvml_power(nvml_device device, unsigned *milliwatts) {
  return *milliwatts = 350000, device ? NVML_SUCCESS_RESULT : INVALID_ARGUMENT;
}

int fake_nvml_power_limit(nvml_device device, unsigned *milliwatts) {
  return *milliwatts = 700000, device ? NVML_SUCCESS_RESULT : INVALID_ARGUMENT;
}

int fake_nvml_energy(nvml_device device, unsigned long long *millijoules) {
  if (!device) return INVALID_ARGUMENT;
  if (fake_number("HALOTUNE_FAKE_ENERGY", 20000) == 0) return NOT_SUPPORTED;
  fake_lock();
  *millijoules = (unsigned long long)model_energy_mj();
  fake_unlock(NULL);
  return NVML_SUCCESS_RESULT;
}

int fake_nvml_event_reasons(nvml_device device, unsigned long long *bits) {
  fake_lock();
  *bits = model_is_throttled() ? NVML_THROTTLE_HW_THERMAL : NVML_THROTTLE_GPU_IDLE;
  fake_unlock(NULL);
  return device ? NVML_SUCCESS_RESULT : INVALID_ARGUMENT;
}

int fake_nvml_throttle_reasons(nvml_device device, unsigned long long *bits) {
  return fake_nvml_event_reasons(device, bits);
}

int fake_nvml_processes(nvml_device device, unsigned *count, struct nvml_process *processes) {
  static long looks;
  bool is_alone = looks++ < fake_number("HALOTUNE_FAKE_ALONE", 0);
  unsigned others = is_alone ? 0 : (unsigned)fake_number("HALOTUNE_FAKE_OTHERS", 0), room = *count;
  *count = others;
  if (!device) return INVALID_ARGUMENT;
  if (room < others) return INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < others; i++) {
    processes[i] =
        (struct nvml_process){.pid = 4000000 + i, .used_bytes = 1 << 30, .gpu_instance = ~0u, .compute_instance = ~0u};
  }
  return NVML_SUCCESS_RESULT;
}
