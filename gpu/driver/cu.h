/* cu.h: NVIDIA's driver, libcuda, which is found and loaded at run time. */
#ifndef GPU_DRIVER_CU_H
#define GPU_DRIVER_CU_H

#include <cuda.h>

#include "base/fail.h"

/* The functions that we use: member, exported name, parameters. The exported names have the version suffixes that
 * cuda.h hides behind macros, so that a later header cannot change which function is called. */
#define CU_LIST(X)                                                                                                   \
  X(init, "cuInit", (unsigned flags))                                                                                \
  X(error_name, "cuGetErrorName", (CUresult result, const char **name))                                              \
  X(error_string, "cuGetErrorString", (CUresult result, const char **text))                                          \
  X(driver_version, "cuDriverGetVersion", (int *version))                                                            \
  X(device_count, "cuDeviceGetCount", (int *count))                                                                  \
  X(device_get, "cuDeviceGet", (CUdevice * device, int ordinal))                                                     \
  X(device_name, "cuDeviceGetName", (char *name, int bytes, CUdevice device))                                        \
  X(device_uuid, "cuDeviceGetUuid_v2", (CUuuid * uuid, CUdevice device))                                             \
  X(device_memory, "cuDeviceTotalMem_v2", (size_t * bytes, CUdevice device))                                         \
  X(device_attribute, "cuDeviceGetAttribute", (int *value, CUdevice_attribute attribute, CUdevice device))           \
  X(primary_retain, "cuDevicePrimaryCtxRetain", (CUcontext * context, CUdevice device))                              \
  X(primary_release, "cuDevicePrimaryCtxRelease_v2", (CUdevice device))                                              \
  X(ctx_set, "cuCtxSetCurrent", (CUcontext context))                                                                 \
  X(ctx_synchronize, "cuCtxSynchronize", (void))                                                                     \
  X(mem_alloc, "cuMemAlloc_v2", (CUdeviceptr * pointer, size_t bytes))                                               \
  X(mem_free, "cuMemFree_v2", (CUdeviceptr pointer))                                                                 \
  X(mem_alloc_async, "cuMemAllocAsync", (CUdeviceptr * pointer, size_t bytes, CUstream stream))                      \
  X(mem_free_async, "cuMemFreeAsync", (CUdeviceptr pointer, CUstream stream))                                        \
  X(mem_info, "cuMemGetInfo_v2", (size_t * free_bytes, size_t * total_bytes))                                        \
  X(to_device, "cuMemcpyHtoD_v2", (CUdeviceptr to, const void *from, size_t bytes))                                  \
  X(to_host, "cuMemcpyDtoH_v2", (void *to, CUdeviceptr from, size_t bytes))                                          \
  X(copy_async, "cuMemcpyDtoDAsync_v2", (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))           \
  X(fill_words, "cuMemsetD32Async", (CUdeviceptr to, unsigned word, size_t count, CUstream stream))                  \
  X(module_load, "cuModuleLoadData", (CUmodule * module, const void *image))                                         \
  X(module_unload, "cuModuleUnload", (CUmodule module))                                                              \
  X(module_function, "cuModuleGetFunction", (CUfunction * function, CUmodule module, const char *name))              \
  X(function_attribute, "cuFuncGetAttribute", (int *value, CUfunction_attribute attribute, CUfunction function))     \
  X(function_set, "cuFuncSetAttribute", (CUfunction function, CUfunction_attribute attribute, int value))            \
  X(launch, "cuLaunchKernel",                                                                                        \
    (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,     \
     unsigned block_z, unsigned shared_bytes, CUstream stream, void **arguments, void **extra))                      \
  X(launch_with, "cuLaunchKernelEx",                                                                                 \
    (const CUlaunchConfig *config, CUfunction function, void **arguments, void **extra))                             \
  X(tensor_map_encode, "cuTensorMapEncodeTiled",                                                                     \
    (CUtensorMap * map, CUtensorMapDataType type, cuuint32_t rank, void *address, const cuuint64_t *extents,         \
     const cuuint64_t *strides_bytes, const cuuint32_t *box, const cuuint32_t *steps,                                \
     CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,                 \
     CUtensorMapFloatOOBfill fill))                                                                                  \
  X(stream_create, "cuStreamCreate", (CUstream * stream, unsigned flags))                                            \
  X(stream_destroy, "cuStreamDestroy_v2", (CUstream stream))                                                         \
  X(stream_synchronize, "cuStreamSynchronize", (CUstream stream))                                                    \
  X(event_create, "cuEventCreate", (CUevent * event, unsigned flags))                                                \
  X(event_destroy, "cuEventDestroy_v2", (CUevent event))                                                             \
  X(event_record, "cuEventRecord", (CUevent event, CUstream stream))                                                 \
  X(event_synchronize, "cuEventSynchronize", (CUevent event))                                                        \
  X(event_time, "cuEventElapsedTime", (float *time_ms, CUevent start, CUevent end))                                  \
  X(texture_create, "cuTexObjectCreate",                                                                             \
    (CUtexObject * texture, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *texture_description,        \
     const CUDA_RESOURCE_VIEW_DESC *view))                                                                           \
  X(texture_destroy, "cuTexObjectDestroy", (CUtexObject texture))                                                    \
  X(ctx_get, "cuCtxGetCurrent", (CUcontext * context))                                                               \
  X(ctx_device, "cuCtxGetDevice", (CUdevice * device))                                                               \
  X(pci_bus_id, "cuDeviceGetPCIBusId", (char *id, int bytes, CUdevice device))                                       \
  X(occupancy_blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                                                 \
    (int *blocks, CUfunction function, int threads, size_t shared_bytes))                                            \
  X(capture_begin, "cuStreamBeginCapture_v2", (CUstream stream, CUstreamCaptureMode mode))                           \
  X(capture_end, "cuStreamEndCapture", (CUstream stream, CUgraph * graph))                                           \
  X(stream_is_capturing, "cuStreamIsCapturing", (CUstream stream, CUstreamCaptureStatus * status))                   \
  X(graph_instantiate, "cuGraphInstantiateWithFlags", (CUgraphExec * exec, CUgraph graph, unsigned long long flags)) \
  X(graph_launch, "cuGraphLaunch", (CUgraphExec exec, CUstream stream))                                              \
  X(graph_exec_destroy, "cuGraphExecDestroy", (CUgraphExec exec))                                                    \
  X(graph_destroy, "cuGraphDestroy", (CUgraph graph))

/* Functions that older drivers lack. The member is NULL then. */
#define CU_OPTIONAL_LIST(X)                   \
  X(function_parameter, "cuFuncGetParamInfo", \
    (CUfunction function, size_t number, size_t * offset, size_t * bytes)) /* since CUDA 12.4 */

struct cu {
  void *library;
  int cuda_version; /* the newest CUDA version that it supports: 13000 is 13.0 */
#define AS_MEMBER(member, symbol, params) CUresult(*member) params;
  CU_LIST(AS_MEMBER)
  CU_OPTIONAL_LIST(AS_MEMBER)
#undef AS_MEMBER
};

/* Load and initialise the driver. If $HALOTUNE_LIBCUDA is set, only the file that it names is tried, else libcuda.so.1.
 *   out  after any outcome cu_close() tidies up
 * Returns HALOTUNE_OK, or HALOTUNE_NO_GPU with a sentence that says what to do: no driver, a driver that is too old, no
 * device. Threads: not while another thread changes the environment. */
halotune_status cu_open(struct cu *out);

void cu_close(struct cu *cu);

/* Turn a result of the driver into a status: HALOTUNE_OK, or HALOTUNE_NO_GPU with the driver's name and text for the
 * error.
 *   what  the failed call, for the message: "cuMemAlloc of 4 GB" */
halotune_status cu_check(const struct cu *cu, CUresult result, const char *what);

#endif
