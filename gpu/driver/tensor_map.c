/* tensor_map.c: encodes a tensor's shape with the driver: dense boxes, no swizzle, zeros outside the array. */
#include "gpu/driver/tensor_map.h"

#include <stdio.h>

static CUtensorMapL2promotion promotion_of(int bytes) {
  switch (bytes) {
  case 64: return CU_TENSOR_MAP_L2_PROMOTION_L2_64B;
  case 128: return CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
  case 256: return CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
  default: return CU_TENSOR_MAP_L2_PROMOTION_NONE;
  }
}

halotune_status tensor_map_make(const struct cu *cu, const struct tensor_shape *shape, CUdeviceptr field,
                                CUtensorMap *out) {
  const cuuint64_t extents[MAX_DIMS] = {shape->extents[0], shape->extents[1], shape->extents[2]};
  const cuuint64_t strides_bytes[MAX_DIMS - 1] = {shape->row_bytes, shape->plane_bytes};
  const cuuint32_t steps[MAX_DIMS] = {1, 1, 1};
  CUtensorMapDataType type =
      shape->element_bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  char what[128];
  CUresult result = cu->tensor_map_encode(out, type, (cuuint32_t)shape->rank, (void *)(uintptr_t)field, extents,
                                          strides_bytes, shape->box, steps, // NOLINT: the integer is a device address
                                          CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                          promotion_of(shape->promotion_bytes), CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS) return HALOTUNE_OK;
  snprintf(what, sizeof what, "cuTensorMapEncodeTiled of boxes of %ux%ux%u elements", shape->box[0], shape->box[1],
           shape->box[2]);
  return cu_check(cu, result, what);
}
