/* tensor.c: tensor maps. The contents of a GPU's 128 bytes are unknown. Here they hold the numbers from which the map
 * was made. */
#include <string.h>

#include "tests/fake_cuda/fake.h"

static const uint64_t mark = 0x7e45012a9d5e11ffull; /* neither an address nor a texture's handle */

struct encoded {
  uint64_t mark;
  CUdeviceptr array;
  struct emulation_wire_tensor shape;
};
_Static_assert(sizeof(struct encoded) <= sizeof(CUtensorMap), "a tensor map has room for its numbers");

bool fake_tensor_find(const void *bytes, size_t byte_count, CUdeviceptr *array, struct emulation_wire_tensor *shape) {
  struct encoded encoded;
  if (byte_count != sizeof(CUtensorMap)) return false;
  memcpy(&encoded, bytes, sizeof encoded);
  if (encoded.mark != mark) return false;
  *array = encoded.array;
  *shape = encoded.shape;
  return true;
}

/* Check what the driver's documentation requires, for maps as the tuner makes them: two or three dimensions, not
 * interleaved. */
static bool is_good(const struct encoded *new, const cuuint32_t *steps) {
  enum { ALIGNMENT = 16, MOST_BOX = 256 };
  const struct emulation_wire_tensor *shape = &new->shape;
  const uint64_t most_stride = 1ull << 40, most_extent = 1ull << 32;
  if (new->array == 0 || new->array % ALIGNMENT != 0 || shape->box[0] * shape->element_bytes % ALIGNMENT != 0)
    return false;
  for (uint32_t i = 0; i < shape->rank; i++) {
    if (shape->extents[i] < 1 || shape->extents[i] > most_extent || shape->box[i] < 1 || shape->box[i] > MOST_BOX)
      return false;
    if (steps[i] != 1) return false;
  }
  return shape->row_bytes % ALIGNMENT == 0 && shape->plane_bytes % ALIGNMENT == 0 && shape->row_bytes < most_stride &&
         shape->plane_bytes < most_stride;
}

CUresult fake_tensor_map_encode(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *extents, const cuuint64_t *strides_bytes, const cuuint32_t *box,
                                const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  enum { MAP_ALIGNMENT = 64 };
  ENTER("cuTensorMapEncodeTiled");
  bool single = type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  if (rank < 2 || rank > 3 || (uintptr_t)map % MAP_ALIGNMENT != 0) return CUDA_ERROR_INVALID_VALUE;
  if ((!single && type != CU_TENSOR_MAP_DATA_TYPE_FLOAT64) || interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
      swizzle != CU_TENSOR_MAP_SWIZZLE_NONE || fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  struct encoded new = {.mark = mark,
                        .array = (CUdeviceptr)(uintptr_t)address,
                        .shape = {.extents = {extents[0], extents[1], rank == 3 ? extents[2] : 1},
                                  .row_bytes = strides_bytes[0],
                                  .plane_bytes = rank == 3 ? strides_bytes[1] : 0,
                                  .box = {box[0], box[1], rank == 3 ? box[2] : 1},
                                  .rank = rank,
                                  .element_bytes = single ? 4 : 8}};
  if (!is_good(&new, steps) || promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B) return CUDA_ERROR_INVALID_VALUE;
  memset(map, 0, sizeof *map);
  memcpy(map, &new, sizeof new);
  return CUDA_SUCCESS;
}
