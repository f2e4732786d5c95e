/* tensor_map.h: encodes tensor maps with the driver. */
#ifndef GPU_DRIVER_TENSOR_MAP_H
#define GPU_DRIVER_TENSOR_MAP_H

#include "gpu/driver/cu.h"
#include "stencil/launch/tensor.h"

/* Encode a tensor map of a field. It needs no device, and nothing has to be freed.
 *   field  the field's address, a multiple of TENSOR_ALIGNMENT_BYTES
 *   out    aligned to 64 bytes, as its type is in C11
 * Returns HALOTUNE_OK, or HALOTUNE_NO_GPU with the driver's error. */
halotune_status tensor_map_make(const struct cu *cu, const struct tensor_shape *shape, CUdeviceptr field,
                                CUtensorMap *out);

#endif
