/* tensor_map.h: tensor maps as the driver encodes them. */
#ifndef GPU_DRIVER_TENSOR_MAP_H
#define GPU_DRIVER_TENSOR_MAP_H

#include "gpu/driver/cu.h"
#include "stencil/launch/tensor.h"

/* Encode a map of a field. No device is asked, and nothing has to be freed.
 *   field  its address, a multiple of TENSOR_ALIGNMENT_BYTES
 *   out    at a multiple of 64 bytes, as its type is in C11
 * Returns HALOTUNE_OK, or HALOTUNE_NO_GPU with what the driver said. */
halotune_status tensor_map_make(const struct cu *cu, const struct tensor_shape *shape, CUdeviceptr field,
                                CUtensorMap *out);

#endif
