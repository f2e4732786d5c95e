/* errors.c: the driver's errors: number, name and text. */
#include <string.h>

#include "tests/fake_cuda/fake.h"

/* The name without CUDA_ERROR_, whether the error destroys the context, and the text. */
#define ERROR_LIST(X)                                                                                 \
  X(INVALID_VALUE, false, "invalid argument")                                                         \
  X(OUT_OF_MEMORY, false, "out of memory")                                                            \
  X(NOT_INITIALIZED, false, "initialization error")                                                   \
  X(DEINITIALIZED, false, "driver shutting down")                                                     \
  X(DEVICE_UNAVAILABLE, true, "CUDA-capable device(s) is/are busy or unavailable")                    \
  X(NO_DEVICE, false, "no CUDA-capable device is detected")                                           \
  X(INVALID_DEVICE, false, "invalid device ordinal")                                                  \
  X(INVALID_IMAGE, false, "device kernel image is invalid")                                           \
  X(INVALID_CONTEXT, false, "invalid device context")                                                 \
  X(NO_BINARY_FOR_GPU, false, "no kernel image is available for execution on the device")             \
  X(ECC_UNCORRECTABLE, true, "uncorrectable ECC error encountered")                                   \
  X(INVALID_PTX, false, "a PTX JIT compilation failed")                                               \
  X(JIT_COMPILER_NOT_FOUND, false, "PTX JIT compiler library not found")                              \
  X(INVALID_SOURCE, false, "device kernel image is invalid")                                          \
  X(SHARED_OBJECT_INIT_FAILED, false, "shared object initialization failed")                          \
  X(OPERATING_SYSTEM, false, "OS call failed or operation not supported on this OS")                  \
  X(INVALID_HANDLE, false, "invalid resource handle")                                                 \
  X(ILLEGAL_STATE, false, "the operation cannot be performed in the present state")                   \
  X(NOT_FOUND, false, "named symbol not found")                                                       \
  X(NOT_READY, false, "device not ready")                                                             \
  X(ILLEGAL_ADDRESS, true, "an illegal memory access was encountered")                                \
  X(LAUNCH_OUT_OF_RESOURCES, false, "too many resources requested for launch")                        \
  X(LAUNCH_TIMEOUT, true, "the launch timed out and was terminated")                                  \
  X(ASSERT, true, "device-side assert triggered")                                                     \
  X(HARDWARE_STACK_ERROR, true, "hardware stack error")                                               \
  X(ILLEGAL_INSTRUCTION, true, "an illegal instruction was encountered")                              \
  X(MISALIGNED_ADDRESS, true, "misaligned address")                                                   \
  X(INVALID_ADDRESS_SPACE, true, "operation not supported on global/shared address space")            \
  X(INVALID_PC, true, "invalid program counter")                                                      \
  X(LAUNCH_FAILED, true, "unspecified launch failure")                                                \
  X(INVALID_CLUSTER_SIZE, false, "cluster misconfiguration")                                          \
  X(NOT_PERMITTED, false, "operation not permitted")                                                  \
  X(NOT_SUPPORTED, false, "operation not supported")                                                  \
  X(SYSTEM_NOT_READY, false, "system not yet initialized")                                            \
  X(SYSTEM_DRIVER_MISMATCH, false, "system has unsupported display driver / cuda driver combination") \
  X(STREAM_CAPTURE_UNSUPPORTED, false, "operation not permitted when stream is capturing")            \
  X(STREAM_CAPTURE_INVALIDATED, false, "operation failed due to a previous error during capture")     \
  X(EXTERNAL_DEVICE, false, "there was an error on an external device")                               \
  X(UNKNOWN, true, "unknown error")

#define AS_ROW(name, sticks, text) {CUDA_ERROR_##name, sticks, "CUDA_ERROR_" #name, text},
static const struct {
  CUresult result;
  bool sticks;
  const char *name, *text;
} errors[] = {{CUDA_SUCCESS, false, "CUDA_SUCCESS", "no error"}, ERROR_LIST(AS_ROW)};

enum { ERROR_COUNT = sizeof errors / sizeof *errors, PREFIX = sizeof "CUDA_ERROR_" - 1 };

CUresult fake_error_name(CUresult result, const char **name) {
  for (int i = 0; i < ERROR_COUNT; i++) {
    if (errors[i].result == result) return *name = errors[i].name, CUDA_SUCCESS;
  }
  return *name = NULL, CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_error_string(CUresult result, const char **text) {
  for (int i = 0; i < ERROR_COUNT; i++) {
    if (errors[i].result == result) return *text = errors[i].text, CUDA_SUCCESS;
  }
  return *text = NULL, CUDA_ERROR_INVALID_VALUE;
}

bool fake_error_find(const char *name, CUresult *out) {
  for (int i = 1; i < ERROR_COUNT; i++) {
    if (strcmp(errors[i].name + PREFIX, name) == 0) return *out = errors[i].result, true;
  }
  return false;
}

bool fake_error_sticks(CUresult result) {
  for (int i = 0; i < ERROR_COUNT; i++) {
    if (errors[i].result == result) return errors[i].sticks;
  }
  return false;
}
