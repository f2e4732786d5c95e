/* nvml.c: the calls of NVIDIA's management library that tell clocks, heat and who else is there, from the same state. It takes no
 * faults. */
#include <stdio.h>
#include <string.h>

#include "tests/fake_cuda/fake.h"

/* As in nvml.h, which is not part of the Toolkit everywhere. */
typedef struct nvmlDevice_st *nvmlDevice_t;
enum { NVML_SUCCESS = 0, NVML_ERROR_INVALID_ARGUMENT = 2, NVML_ERROR_NOT_FOUND = 6, NVML_ERROR_INSUFFICIENT_SIZE = 7 };
enum { CLOCK_MEMORY = 2, REASON_GPU_IDLE = 1, REASON_HW_THERMAL = 0x40 };

struct process_info {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};

#define NVML_LIST(X)                                                                             \
  X(nvmlInit_v2, (void))                                                                         \
  X(nvmlShutdown, (void))                                                                        \
  X(nvmlSystemGetDriverVersion, (char *version, unsigned bytes))                                 \
  X(nvmlDeviceGetCount_v2, (unsigned *count))                                                    \
  X(nvmlDeviceGetHandleByIndex_v2, (unsigned index, nvmlDevice_t *device))                       \
  X(nvmlDeviceGetHandleByPciBusId_v2, (const char *id, nvmlDevice_t *device))                    \
  X(nvmlDeviceGetHandleByUUID, (const char *uuid, nvmlDevice_t *device))                         \
  X(nvmlDeviceGetClockInfo, (nvmlDevice_t device, int clock, unsigned *mhz))                     \
  X(nvmlDeviceGetMaxClockInfo, (nvmlDevice_t device, int clock, unsigned *mhz))                  \
  X(nvmlDeviceGetTemperature, (nvmlDevice_t device, int sensor, unsigned *celsius))              \
  X(nvmlDeviceGetPowerUsage, (nvmlDevice_t device, unsigned *milliwatts))                        \
  X(nvmlDeviceGetCurrentClocksThrottleReasons, (nvmlDevice_t device, unsigned long long *bits))  \
  X(nvmlDeviceGetCurrentClocksEventReasons, (nvmlDevice_t device, unsigned long long *bits))     \
  X(nvmlDeviceGetComputeRunningProcesses_v3, (nvmlDevice_t device, unsigned *count, struct process_info *processes))
#define AS_PROTOTYPE(name, params) __attribute__((visibility("default"))) int name params;
NVML_LIST(AS_PROTOTYPE)
__attribute__((visibility("default"))) const char *nvmlErrorString(int result);

static unsigned device_count(void) { return (unsigned)fake_number("HALOTUNE_FAKE_DEVICES", 1); }

int nvmlInit_v2(void) { return NVML_SUCCESS; }
int nvmlShutdown(void) { return NVML_SUCCESS; }

const char *nvmlErrorString(int result) {
  switch (result) {
  case NVML_SUCCESS: return "The operation was successful";
  case NVML_ERROR_INVALID_ARGUMENT: return "Invalid Argument";
  case NVML_ERROR_NOT_FOUND: return "Not Found";
  case NVML_ERROR_INSUFFICIENT_SIZE: return "Insufficient Size";
  default: return "Unknown Error";
  }
}

int nvmlSystemGetDriverVersion(char *version, unsigned bytes) {
  return snprintf(version, bytes, "580.00.00") < (int)bytes ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
}

int nvmlDeviceGetCount_v2(unsigned *count) { return *count = device_count(), NVML_SUCCESS; }

/* A handle is the ordinal and one, so that none is NULL. */
static int make_handle(unsigned index, nvmlDevice_t *device) {
  if (index >= device_count()) return NVML_ERROR_NOT_FOUND;
  *device = (nvmlDevice_t)(uintptr_t)(index + 1);
  return NVML_SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device) { return make_handle(index, device); }

/* The driver's tells the ordinal in its bus, 0x18 and on; the domain may have four or eight digits. */
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, nvmlDevice_t *device) {
  unsigned domain, bus;
  if (sscanf(id, "%x:%x:", &domain, &bus) != 2 || bus < 0x18) return NVML_ERROR_NOT_FOUND;
  return make_handle(bus - 0x18, device);
}

int nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
  unsigned last;
  size_t length = strlen(uuid);
  if (length < 2 || sscanf(uuid + length - 2, "%x", &last) != 1) return NVML_ERROR_NOT_FOUND;
  return make_handle(last, device);
}

int nvmlDeviceGetClockInfo(nvmlDevice_t device, int clock, unsigned *mhz) {
  if (!device) return NVML_ERROR_INVALID_ARGUMENT;
  fake_lock();
  *mhz = clock == CLOCK_MEMORY ? 3201 : (unsigned)model_clock_mhz();
  fake_unlock(NULL);
  return NVML_SUCCESS;
}

int nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, int clock, unsigned *mhz) {
  return *mhz = clock == CLOCK_MEMORY ? 3201 : 1980, device ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

int nvmlDeviceGetTemperature(nvmlDevice_t device, int sensor, unsigned *celsius) {
  (void)sensor;
  fake_lock();
  *celsius = model_is_throttled() ? 92 : 41;
  fake_unlock(NULL);
  return device ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

int nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned *milliwatts) {
  return *milliwatts = 350000, device ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

int nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long *bits) {
  fake_lock();
  *bits = model_is_throttled() ? REASON_HW_THERMAL : REASON_GPU_IDLE;
  fake_unlock(NULL);
  return device ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long *bits) {
  return nvmlDeviceGetCurrentClocksEventReasons(device, bits);
}

int nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned *count, struct process_info *processes) {
  unsigned others = (unsigned)fake_number("HALOTUNE_FAKE_OTHERS", 0), room = *count;
  *count = others;
  if (!device) return NVML_ERROR_INVALID_ARGUMENT;
  if (room < others) return NVML_ERROR_INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < others; i++) {
    processes[i] = (struct process_info){.pid = 4000000 + i, .used_bytes = 1 << 30, .gpu_instance = ~0u, .compute_instance = ~0u};
  }
  return NVML_SUCCESS;
}
