/* device.h: one GPU: its facts, and a context on it. */
#ifndef GPU_DRIVER_DEVICE_H
#define GPU_DRIVER_DEVICE_H

#include <stddef.h>

#include "gpu/architecture/arch.h"
#include "gpu/driver/cu.h"

enum { DEVICE_NAME_BYTES = 256, DEVICE_UUID_BYTES = 41 };

struct device_facts {
  char name[DEVICE_NAME_BYTES];
  char uuid[DEVICE_UUID_BYTES]; /* "GPU-" and 36 characters, as nvidia-smi prints it */
  int capability;               /* 90 for sm_90 */
  int sm_count;
  int clock_khz, memory_clock_khz, bus_bits;
  int l2_bytes;
  size_t memory_bytes;
  struct device_limits limits;
};

/* Start with {0}; end with device_close. */
struct device {
  const struct cu *cu;
  int ordinal;
  CUdevice handle;
  CUcontext context; /* the primary context, current in the thread that opened the device */
  struct device_facts facts;
};

/* The length of a UUID without the words that a database may write behind it (store_device). */
size_t device_uuid_length(const char *uuid);

/* The peak rate of a memory in GB/s: both edges of its clock move data. */
double device_memory_gbs(int memory_clock_khz, int bus_bits);

/* The UUIDs of device_recorded begin with this. */
#define RECORDED_UUID "recording-"

/* Copy the facts of a GPU that a recording describes, with a UUID of its own. So what a file says of a GPU changes
 * nothing for a GPU of this machine. */
struct device_facts device_recorded(const struct device_facts *recorded);

/* Read the facts of a GPU, without making a context.
 * Returns HALOTUNE_OK, HALOTUNE_ARGUMENT if there is no GPU with this ordinal, or HALOTUNE_NO_GPU. */
halotune_status device_ask(const struct cu *cu, int ordinal, struct device_facts *out);

/* Open a GPU for this thread.
 *   out  filled on success; after a failure device_close is harmless
 * Returns the same errors as device_ask. */
halotune_status device_open(const struct cu *cu, int ordinal, struct device *out);

void device_close(struct device *device);

#endif
