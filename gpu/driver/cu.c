/* cu.c: finds libcuda, loads its symbols, and turns its errors into text. */
#include "gpu/driver/cu.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST_DRIVER = 12000 };

#define AS_LOAD(member, symbol, params)                                                           \
  {                                                                                               \
    void *found = dlsym(cu->library, symbol);                                                     \
    if (!found) return fail(HALOTUNE_NO_GPU, "the driver lacks " symbol "; install a newer one"); \
    memcpy(&cu->member, &found, sizeof found);                                                    \
  }

#define AS_LOAD_OPTIONAL(member, symbol, params)          \
  {                                                       \
    void *found = dlsym(cu->library, symbol);             \
    if (found) memcpy(&cu->member, &found, sizeof found); \
  }

static halotune_status load_library(struct cu *cu) {
  const char *named = getenv("HALOTUNE_LIBCUDA");
  const char *file = named && *named ? named : "libcuda.so.1";
  cu->library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!cu->library) {
    return fail(HALOTUNE_NO_GPU, "no CUDA driver (%s): install NVIDIA's driver on a machine with one of its GPUs",
                dlerror());
  }
  CU_LIST(AS_LOAD)
  CU_OPTIONAL_LIST(AS_LOAD_OPTIONAL)
  return HALOTUNE_OK;
}

/* Fail for a driver without a GPU, with the usual reasons that a user can check. */
static halotune_status fail_without_device(void) {
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  return fail(
      HALOTUNE_NO_GPU,
      "the CUDA driver finds no GPU: check that 'nvidia-smi -L' lists one, that a container may use it (docker run --gpus all), and that $CUDA_VISIBLE_DEVICES does not hide it (it is %s%s%s)",
      visible ? "\"" : "", visible ? visible : "not set", visible ? "\"" : "");
}

static halotune_status start_driver(struct cu *cu) {
  int devices = 0;
  CUresult result = cu->init(0);
  if (result == CUDA_ERROR_NO_DEVICE) return fail_without_device();
  halotune_status status = cu_check(cu, result, "cuInit");
  if (status == HALOTUNE_OK) status = cu_check(cu, cu->driver_version(&cu->cuda_version), "cuDriverGetVersion");
  if (status == HALOTUNE_OK) status = cu_check(cu, cu->device_count(&devices), "cuDeviceGetCount");
  if (status != HALOTUNE_OK) return status;
  if (devices == 0) return fail_without_device();
  if (cu->cuda_version >= OLDEST_DRIVER) return HALOTUNE_OK;
  return fail(HALOTUNE_NO_GPU, "the driver runs CUDA %d.%d only; install one for CUDA 12 or later",
              cu->cuda_version / 1000, cu->cuda_version % 1000 / 10);
}

halotune_status cu_open(struct cu *out) {
  *out = (struct cu){0};
  halotune_status status = load_library(out);
  return status == HALOTUNE_OK ? start_driver(out) : status;
}

void cu_close(struct cu *cu) {
  if (cu->library) dlclose(cu->library);
  *cu = (struct cu){0};
}

halotune_status cu_check(const struct cu *cu, CUresult result, const char *what) {
  const char *name = "unknown error", *text = "";
  if (result == CUDA_SUCCESS) return HALOTUNE_OK;
  if (cu->error_name(result, &name) != CUDA_SUCCESS) name = "unknown error";
  if (cu->error_string(result, &text) != CUDA_SUCCESS) text = "";
  return fail(HALOTUNE_NO_GPU, "%s: %s (%s)", what, name, text);
}
