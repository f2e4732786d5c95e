/* nvml.h: NVIDIA's management library, which is found and loaded at run time: clocks, temperature, power, energy, and
 * the reasons for lower clocks. It needs no CUDA context and changes nothing. Without the library every reading is -1,
 * and nothing fails.
 *
 * The types are declared here, because NVIDIA's own header is not part of every CUDA installation. */
#ifndef GPU_DRIVER_NVML_H
#define GPU_DRIVER_NVML_H

#include <stdbool.h>

#include "base/fail.h"

/* What NVML reported. A value that could not be read is negative. */
struct gpu_reading {
  int sm_mhz, memory_mhz, temperature_c;
  double power_w;
  long long throttle; /* bits of NVML_THROTTLE_LIST */
};

/* What a reason for lower clocks means for a sample that was taken at that time. */
enum nvml_effect {
  NVML_IGNORED, /* the GPU's normal state, or a setting of its owner */
  NVML_STORED,  /* the steady state under a heavy kernel */
  NVML_REPEATS, /* not caused by the kernel: take the sample again */
};

/* NVML's clocks event reasons: enumerator, bit, effect, name. */
#define NVML_THROTTLE_LIST(X)                                       \
  X(GPU_IDLE, 0x1, IGNORED, "idle")                                 \
  X(APPLICATION_CLOCKS, 0x2, IGNORED, "clocks set by the owner")    \
  X(SW_POWER_CAP, 0x4, STORED, "power limit")                       \
  X(HW_SLOWDOWN, 0x8, REPEATS, "hardware slowdown")                 \
  X(SYNC_BOOST, 0x10, STORED, "kept at the clocks of other GPUs")   \
  X(SW_THERMAL, 0x20, REPEATS, "temperature limit")                 \
  X(HW_THERMAL, 0x40, REPEATS, "temperature limit of the hardware") \
  X(HW_POWER_BRAKE, 0x80, REPEATS, "power brake")                   \
  X(DISPLAY_CLOCKS, 0x100, IGNORED, "clocks set for a display")

#define NVML_AS_ENUMERATOR(name, bit, effect, text) NVML_THROTTLE_##name = bit,
enum { NVML_THROTTLE_LIST(NVML_AS_ENUMERATOR) };
#undef NVML_AS_ENUMERATOR

/* The bits of the reasons that have this effect; 0 if the reasons are unknown (negative). */
long long nvml_throttle_bits(long long throttle, enum nvml_effect effect);

typedef struct nvml_device_of_the_library *nvml_device;

/* nvmlProcessInfo_t of version 2, which nvmlDeviceGetComputeRunningProcesses_v3 fills. */
struct nvml_process {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};

enum {
  NVML_SUCCESS_RESULT = 0,
  NVML_INSUFFICIENT_SIZE_RESULT = 7,
  NVML_CLOCK_SM_TYPE = 1,
  NVML_CLOCK_MEMORY_TYPE = 2,
  NVML_TEMPERATURE_GPU_SENSOR = 0
};

/* The functions that we use: member, exported name, parameters. All but the first three may be missing in the
 * library. */
#define NVML_LIST(X)                                                                                                  \
  X(init, "nvmlInit_v2", (void))                                                                                      \
  X(shutdown, "nvmlShutdown", (void))                                                                                 \
  X(by_uuid, "nvmlDeviceGetHandleByUUID", (const char *uuid, nvml_device *device))                                    \
  X(by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2", (const char *id, nvml_device *device))                             \
  X(driver_version, "nvmlSystemGetDriverVersion", (char *version, unsigned length))                                   \
  X(clock, "nvmlDeviceGetClockInfo", (nvml_device device, int type, unsigned *mhz))                                   \
  X(temperature, "nvmlDeviceGetTemperature", (nvml_device device, int sensor, unsigned *celsius))                     \
  X(power, "nvmlDeviceGetPowerUsage", (nvml_device device, unsigned *milliwatts))                                     \
  X(energy, "nvmlDeviceGetTotalEnergyConsumption", (nvml_device device, unsigned long long *millijoules))             \
  X(power_limit, "nvmlDeviceGetEnforcedPowerLimit", (nvml_device device, unsigned *milliwatts))                       \
  X(event_reasons, "nvmlDeviceGetCurrentClocksEventReasons", (nvml_device device, unsigned long long *reasons))       \
  X(throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons", (nvml_device device, unsigned long long *reasons)) \
  X(processes, "nvmlDeviceGetComputeRunningProcesses_v3",                                                             \
    (nvml_device device, unsigned *count, struct nvml_process *processes))

struct nvml {
  void *library; /* NULL if the library was not found */
  nvml_device device;
  bool has_device;
  char driver[64]; /* "580.159.04"; "" if it is unknown */
#define AS_MEMBER(member, symbol, params) int(*member) params;
  NVML_LIST(AS_MEMBER)
#undef AS_MEMBER
};

/* Load and initialise the library. If $HALOTUNE_LIBNVML is set, only the file that it names is tried, else
 * libnvidia-ml.so.1.
 *   out  receives the functions that exist; end with nvml_close after any outcome
 * Returns HALOTUNE_OK, or HALOTUNE_NO_GPU with what is missing; the other functions then do nothing. Threads: not while
 * another thread changes the environment. */
halotune_status nvml_open(struct nvml *out);
void nvml_close(struct nvml *nvml);

/* Choose the GPU for the functions below, by its UUID ("GPU-..."), else by its PCI bus id.
 * Returns HALOTUNE_OK or HALOTUNE_NOT_FOUND. */
halotune_status nvml_choose(struct nvml *nvml, const char *uuid, const char *pci_bus_id);

/* Read the GPU's present state. Threads: any number at once. */
void nvml_read(const struct nvml *nvml, struct gpu_reading *out);

/* Read how much energy the whole board has used since the driver was loaded, in millijoules. The GPU updates the
 * counter some ten to fifty times a second.
 * Returns whether the GPU has a counter: from Volta on, and not in a MIG instance. Threads: any number at once. */
bool nvml_energy(const struct nvml *nvml, double *energy_mj);

/* The power in watts at which the GPU lowers its clocks; 0 if it is unknown. */
double nvml_power_limit_w(const struct nvml *nvml);

/* The number of processes that compute on the GPU, including this one; -1 if it is unknown. */
int nvml_process_count(const struct nvml *nvml);

#endif
