/* nvml.c: finds libnvidia-ml, loads its symbols, and reads clocks, temperature, power and energy. */
#include "gpu/driver/nvml.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"

#define AS_ROW(name, bit, effect, text) {bit, NVML_##effect, text},
static const struct {
  long long bit;
  enum nvml_effect effect;
  const char *text;
} reasons[] = {NVML_THROTTLE_LIST(AS_ROW)};

long long nvml_throttle_bits(long long throttle, enum nvml_effect effect) {
  long long bits = 0;
  for (size_t i = 0; i < COUNT(reasons) && throttle > 0; i++) {
    if (reasons[i].effect == effect) bits |= throttle & reasons[i].bit;
  }
  return bits;
}

static halotune_status load_library(struct nvml *nvml) {
  const char *named = getenv("HALOTUNE_LIBNVML");
  const char *file = named && *named ? named : "libnvidia-ml.so.1";
  nvml->library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!nvml->library)
    return fail(HALOTUNE_NO_GPU, "NVML was not found (%s): clocks and temperatures are not read", dlerror());
#define AS_LOAD(member, symbol, params)                            \
  {                                                                \
    void *found = dlsym(nvml->library, symbol);                    \
    memcpy(&nvml->member, &found, sizeof found); /* may be NULL */ \
  }
  NVML_LIST(AS_LOAD)
#undef AS_LOAD
  if (nvml->init && nvml->shutdown && nvml->by_uuid) return HALOTUNE_OK;
  return fail(HALOTUNE_NO_GPU, "%s lacks the functions of NVML", file);
}

halotune_status nvml_open(struct nvml *out) {
  *out = (struct nvml){.library = NULL};
  halotune_status status = load_library(out);
  if (status == HALOTUNE_OK && out->init() != NVML_SUCCESS_RESULT) {
    status = fail(HALOTUNE_NO_GPU, "NVML does not start; is the driver's kernel module loaded?");
  }
  if (status != HALOTUNE_OK) {
    if (out->library) dlclose(out->library);
    *out = (struct nvml){.library = NULL};
    return status;
  }
  if (!out->driver_version || out->driver_version(out->driver, sizeof out->driver) != NVML_SUCCESS_RESULT)
    out->driver[0] = '\0';
  return HALOTUNE_OK;
}

void nvml_close(struct nvml *nvml) {
  if (nvml->library) {
    nvml->shutdown();
    dlclose(nvml->library);
  }
  *nvml = (struct nvml){.library = NULL};
}

halotune_status nvml_choose(struct nvml *nvml, const char *uuid, const char *pci_bus_id) {
  nvml->has_device = nvml->library && uuid && nvml->by_uuid(uuid, &nvml->device) == NVML_SUCCESS_RESULT;
  if (!nvml->has_device && nvml->library && nvml->by_bus_id && pci_bus_id) {
    nvml->has_device = nvml->by_bus_id(pci_bus_id, &nvml->device) == NVML_SUCCESS_RESULT;
  }
  return nvml->has_device ? HALOTUNE_OK : fail(HALOTUNE_NOT_FOUND, "NVML does not know the GPU %s", uuid ? uuid : "");
}

static int read_clock(const struct nvml *nvml, int type) {
  unsigned mhz = 0;
  return nvml->clock && nvml->clock(nvml->device, type, &mhz) == NVML_SUCCESS_RESULT ? (int)mhz : -1;
}

void nvml_read(const struct nvml *nvml, struct gpu_reading *out) {
  const double milli = 1e-3;
  unsigned number = 0;
  unsigned long long bits = 0;
  *out = (struct gpu_reading){-1, -1, -1, -1, -1};
  if (!nvml->has_device) return;
  out->sm_mhz = read_clock(nvml, NVML_CLOCK_SM_TYPE);
  out->memory_mhz = read_clock(nvml, NVML_CLOCK_MEMORY_TYPE);
  if (nvml->temperature &&
      nvml->temperature(nvml->device, NVML_TEMPERATURE_GPU_SENSOR, &number) == NVML_SUCCESS_RESULT) {
    out->temperature_c = (int)number;
  }
  if (nvml->power && nvml->power(nvml->device, &number) == NVML_SUCCESS_RESULT) out->power_w = milli * number;
  /* Older libraries have the same function under another name. */
  if ((nvml->event_reasons && nvml->event_reasons(nvml->device, &bits) == NVML_SUCCESS_RESULT) ||
      (nvml->throttle_reasons && nvml->throttle_reasons(nvml->device, &bits) == NVML_SUCCESS_RESULT)) {
    out->throttle = (long long)bits;
  }
}

bool nvml_energy(const struct nvml *nvml, double *energy_mj) {
  unsigned long long millijoules = 0;
  if (!nvml->has_device || !nvml->energy) return false;
  if (nvml->energy(nvml->device, &millijoules) != NVML_SUCCESS_RESULT) return false;
  *energy_mj = (double)millijoules;
  return true;
}

double nvml_power_limit_w(const struct nvml *nvml) {
  const double milli = 1e-3;
  unsigned milliwatts = 0;
  if (!nvml->has_device || !nvml->power_limit) return 0;
  return nvml->power_limit(nvml->device, &milliwatts) == NVML_SUCCESS_RESULT ? milli * milliwatts : 0;
}

int nvml_process_count(const struct nvml *nvml) {
  unsigned count = 0; /* a list of 0 entries: NVML then returns the number of processes */
  if (!nvml->has_device || !nvml->processes) return -1;
  const int result = nvml->processes(nvml->device, &count, NULL);
  return result == NVML_SUCCESS_RESULT || result == NVML_INSUFFICIENT_SIZE_RESULT ? (int)count : -1;
}
