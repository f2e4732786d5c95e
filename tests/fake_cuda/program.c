/* program.c: functions of the driver that programs of users call, and the library does not: pinned memory, copies
 * between host and device on a stream, priorities, waits for events. */
#include <stdlib.h>
#include <string.h>

#include "tests/fake_cuda/fake.h"

#define EXPORT(name, symbol, params)                                           \
  __attribute__((visibility("default"))) CUresult name params __asm__(symbol); \
  CUresult name params

EXPORT(fake_host_alloc, "cuMemHostAlloc", (void **pointer, size_t bytes, unsigned flags)) {
  (void)flags;
  ENTER("cuMemHostAlloc");
  NEED_CONTEXT();
  *pointer = bytes > 0 ? malloc(bytes) : NULL;
  return *pointer ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT(fake_host_free, "cuMemFreeHost", (void *pointer)) {
  ENTER("cuMemFreeHost");
  free(pointer);
  return CUDA_SUCCESS;
}

EXPORT(fake_priorities, "cuCtxGetStreamPriorityRange", (int *least, int *greatest)) {
  ENTER("cuCtxGetStreamPriorityRange");
  NEED_CONTEXT();
  *least = 0, *greatest = -5;
  return CUDA_SUCCESS;
}

EXPORT(fake_stream_with_priority, "cuStreamCreateWithPriority", (CUstream * stream, unsigned flags, int priority)) {
  (void)priority;
  return fake_stream_create(stream, flags);
}

EXPORT(fake_to_device_async, "cuMemcpyHtoDAsync_v2",
       (CUdeviceptr to, const void *from, size_t bytes, CUstream stream)) {
  ENTER("cuMemcpyHtoDAsync_v2");
  NEED_CONTEXT();
  return fake_submit_host_copy(to, (void *)(uintptr_t)from, bytes, false, stream);
}

EXPORT(fake_to_host_async, "cuMemcpyDtoHAsync_v2", (void *to, CUdeviceptr from, size_t bytes, CUstream stream)) {
  ENTER("cuMemcpyDtoHAsync_v2");
  NEED_CONTEXT();
  return fake_submit_host_copy(from, to, bytes, true, stream);
}

EXPORT(fake_stream_wait_event, "cuStreamWaitEvent", (CUstream stream, CUevent event, unsigned flags)) {
  (void)flags;
  ENTER("cuStreamWaitEvent");
  NEED_CONTEXT();
  return fake_stream_wait(stream, event);
}
