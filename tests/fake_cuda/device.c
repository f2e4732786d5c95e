/* device.c: the facts of the GPU, and its contexts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/architecture/occupancy.h"
#include "tests/fake_cuda/fake.h"

enum { MAX_DEVICES = 8 };

/* A context is the address of its device's element. */
static struct { int references; } contexts[MAX_DEVICES];
static _Thread_local CUcontext current;
static bool is_initialised;

static int device_count(void) {
  long long count = fake_number("HALOTUNE_FAKE_DEVICES", 1);
  return count < 0 ? 0 : count > MAX_DEVICES ? MAX_DEVICES : (int)count;
}

static bool is_device(CUdevice device) { return device >= 0 && device < device_count(); }

static CUcontext context_of(CUdevice device) { return (CUcontext)(void *)&contexts[device]; }

bool fake_has_context(void) { return current != NULL; }

size_t fake_memory_bytes(void) { return (size_t)fake_number("HALOTUNE_FAKE_MEMORY_MB", 143771) << 20; }

int fake_capability(void) {
  static int capability;
  if (capability == 0) capability = (int)fake_number("HALOTUNE_FAKE_CAPABILITY", 90);
  return capability;
}

const struct sm_limits *fake_limits(void) {
  const struct arch_facts *arch = arch_find(fake_capability() / 10, fake_capability() % 10);
  return arch ? &arch->limits : &arch_find(9, 0)->limits;
}

CUresult fake_init(unsigned flags) {
  ENTER("cuInit");
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (device_count() == 0) return CUDA_ERROR_NO_DEVICE;
  is_initialised = true;
  return CUDA_SUCCESS;
}

CUresult fake_driver_version(int *version) {
  ENTER("cuDriverGetVersion");
  *version = (int)fake_number("HALOTUNE_FAKE_CUDA", 13000);
  return CUDA_SUCCESS;
}

CUresult fake_device_count(int *count) {
  ENTER("cuDeviceGetCount");
  if (!is_initialised) return CUDA_ERROR_NOT_INITIALIZED;
  *count = device_count();
  return CUDA_SUCCESS;
}

CUresult fake_device_get(CUdevice *device, int ordinal) {
  ENTER("cuDeviceGet");
  if (!is_initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult fake_device_name(char *name, int bytes, CUdevice device) {
  const char *given = getenv("HALOTUNE_FAKE_NAME");
  ENTER("cuDeviceGetName");
  if (!is_device(device) || bytes < 1) return CUDA_ERROR_INVALID_VALUE;
  snprintf(name, (size_t)bytes, "%s", given ? given : "NVIDIA H200");
  return CUDA_SUCCESS;
}

CUresult fake_device_uuid(CUuuid *uuid, CUdevice device) {
  ENTER("cuDeviceGetUuid_v2");
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  memset(uuid->bytes, 0xfa, sizeof uuid->bytes);
  uuid->bytes[14] = (char)fake_number("HALOTUNE_FAKE_HOST", 0xfa);
  uuid->bytes[15] = (char)device;
  return CUDA_SUCCESS;
}

CUresult fake_device_memory(size_t *bytes, CUdevice device) {
  ENTER("cuDeviceTotalMem_v2");
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = fake_memory_bytes();
  return CUDA_SUCCESS;
}

CUresult fake_pci_bus_id(char *id, int bytes, CUdevice device) {
  ENTER("cuDeviceGetPCIBusId");
  if (!is_device(device) || bytes < 13) return CUDA_ERROR_INVALID_VALUE;
  snprintf(id, (size_t)bytes, "0000:%02X:00.0", 0x18 + device);
  return CUDA_SUCCESS;
}

CUresult fake_device_attribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  ENTER("cuDeviceGetAttribute");
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  const struct sm_limits *limits = fake_limits();
  switch ((int)attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = fake_capability() / 10; break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = fake_capability() % 10; break;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = (int)fake_number("HALOTUNE_FAKE_SMS", 132); break;
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: *value = 1980000; break;
  case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: *value = 3201000; break;
  case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: *value = 6144; break;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *value = (int)fake_number("HALOTUNE_FAKE_L2_MB", 60) << 20; break;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = limits->max_threads_per_block; break;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: *value = limits->max_threads_per_sm; break;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: *value = limits->max_blocks_per_sm; break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *value = 48 << 10; break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = limits->shared_per_block_bytes; break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: *value = limits->shared_per_sm_bytes; break;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: *value = limits->registers_per_sm; break;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK: *value = limits->registers_per_block; break;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = limits->warp_size; break;
  case CU_DEVICE_ATTRIBUTE_INTEGRATED: *value = 0; break;
  case CU_DEVICE_ATTRIBUTE_ECC_ENABLED: *value = 1; break;
  default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult fake_primary_retain(CUcontext *context, CUdevice device) {
  ENTER("cuDevicePrimaryCtxRetain");
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  contexts[device].references++;
  *context = context_of(device);
  return CUDA_SUCCESS;
}

CUresult fake_primary_release(CUdevice device) {
  ENTER("cuDevicePrimaryCtxRelease_v2");
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (contexts[device].references == 0) return CUDA_ERROR_INVALID_CONTEXT;
  contexts[device].references--;
  return CUDA_SUCCESS;
}

CUresult fake_ctx_set(CUcontext context) {
  ENTER("cuCtxSetCurrent");
  current = context;
  return CUDA_SUCCESS;
}

CUresult fake_ctx_get(CUcontext *context) {
  ENTER("cuCtxGetCurrent");
  *context = current;
  return CUDA_SUCCESS;
}

CUresult fake_ctx_device(CUdevice *device) {
  ENTER("cuCtxGetDevice");
  NEED_CONTEXT();
  for (int i = 0; i < MAX_DEVICES; i++) {
    if (context_of(i) == current) return *device = i, CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_CONTEXT;
}

CUresult fake_ctx_synchronize(void) {
  ENTER("cuCtxSynchronize");
  NEED_CONTEXT();
  return fake_drain_all();
}
