/* device.c: opens a GPU, and reads its facts from the driver's attributes. */
#include "gpu/driver/device.h"

#include <stdio.h>
#include <string.h>

#include "base/identity/hash.h"
#include "base/memory/array.h"

static halotune_status find_device(const struct cu *cu, int ordinal, CUdevice *out) {
  int count = 0;
  halotune_status status = cu_check(cu, cu->device_count(&count), "cuDeviceGetCount");
  if (status != HALOTUNE_OK) return status;
  if (ordinal < 0 || ordinal >= count) {
    return fail(HALOTUNE_ARGUMENT, "there is no GPU %d; the driver has %d, counted from 0", ordinal, count);
  }
  return cu_check(cu, cu->device_get(out, ordinal), "cuDeviceGet");
}

static void write_uuid(const CUuuid *uuid, char out[DEVICE_UUID_BYTES]) {
  int length = snprintf(out, DEVICE_UUID_BYTES, "GPU-");
  for (int i = 0; i < (int)sizeof uuid->bytes; i++) {
    const char *dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
    length +=
        snprintf(out + length, (size_t)(DEVICE_UUID_BYTES - length), "%s%02x", dash, (unsigned char)uuid->bytes[i]);
  }
}

static halotune_status ask_attributes(const struct cu *cu, CUdevice device, struct device_facts *out) {
  int major = 0, minor = 0;
  const struct {
    CUdevice_attribute attribute;
    int *value;
  } rows[] = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &out->sm_count},
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &out->clock_khz},
      {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &out->memory_clock_khz},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &out->bus_bits},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &out->l2_bytes},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &out->limits.max_threads},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &out->limits.max_threads_sm},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &out->limits.max_shared_bytes},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, &out->limits.registers_sm},
      {CU_DEVICE_ATTRIBUTE_WARP_SIZE, &out->limits.warp_size},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    halotune_status status =
        cu_check(cu, cu->device_attribute(rows[i].value, rows[i].attribute, device), "cuDeviceGetAttribute");
    if (status != HALOTUNE_OK) return status;
  }
  enum { MAX_REGISTERS = 255 }; /* per thread, on every GPU from sm_35 on; the driver has no attribute for it */
  out->limits.max_registers = MAX_REGISTERS;
  out->limits.multiprocessors = out->sm_count;
  out->capability = out->limits.capability = 10 * major + minor;
  return HALOTUNE_OK;
}

double device_memory_gbs(int memory_clock_khz, int bus_bits) {
  const double edges = 2, bits_per_byte = 8, khz_per_ghz = 1e6;
  return edges * memory_clock_khz * (bus_bits / bits_per_byte) / khz_per_ghz;
}

size_t device_uuid_length(const char *uuid) { return strcspn(uuid, " "); }

struct device_facts device_recorded(const struct device_facts *recorded) {
  struct device_facts device = *recorded;
  char text[DEVICE_UUID_BYTES + DEVICE_NAME_BYTES + 32], hex[HASH_HEX_BYTES];
  const int length =
      snprintf(text, sizeof text, "%s %s %d %d", device.uuid, device.name, device.capability, device.sm_count);
  hash_hex(hash_bytes(text, (size_t)length), hex);
  snprintf(device.uuid, sizeof device.uuid, RECORDED_UUID "%.16s", hex);
  return device;
}

halotune_status device_ask(const struct cu *cu, int ordinal, struct device_facts *out) {
  CUdevice device = 0;
  CUuuid uuid = {{0}};
  *out = (struct device_facts){.sm_count = 0};
  halotune_status status = find_device(cu, ordinal, &device);
  if (status != HALOTUNE_OK) return status;
  if ((status = cu_check(cu, cu->device_name(out->name, sizeof out->name, device), "cuDeviceGetName")) != HALOTUNE_OK)
    return status;
  if ((status = cu_check(cu, cu->device_uuid(&uuid, device), "cuDeviceGetUuid")) != HALOTUNE_OK) return status;
  write_uuid(&uuid, out->uuid);
  if ((status = cu_check(cu, cu->device_memory(&out->memory_bytes, device), "cuDeviceTotalMem")) != HALOTUNE_OK)
    return status;
  return ask_attributes(cu, device, out);
}

halotune_status device_open(const struct cu *cu, int ordinal, struct device *out) {
  *out = (struct device){.cu = cu, .ordinal = ordinal};
  halotune_status status = device_ask(cu, ordinal, &out->facts);
  if (status == HALOTUNE_OK) status = find_device(cu, ordinal, &out->handle);
  if (status == HALOTUNE_OK) {
    status = cu_check(cu, cu->primary_retain(&out->context, out->handle), "cuDevicePrimaryCtxRetain");
  }
  if (status == HALOTUNE_OK) status = cu_check(cu, cu->ctx_set(out->context), "cuCtxSetCurrent");
  return status;
}

void device_close(struct device *device) {
  if (device->context) device->cu->primary_release(device->handle);
  *device = (struct device){.cu = NULL};
}
