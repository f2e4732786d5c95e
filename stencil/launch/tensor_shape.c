/* tensor_shape.c: computes the numbers of tensor maps, and checks them against the limits that the driver's
 * documentation of cuTensorMapEncodeTiled gives. */
#include "stencil/launch/tensor_shape.h"

void tensor_shape_make(const struct tensor_maps *maps, int dims, const struct domain *domain, enum dtype dtype,
                       struct tensor_shape *out) {
  size_t element = dtype_bytes(dtype);
  *out = (struct tensor_shape){.rank = dims == 3 ? 3 : 2,
                               .row_bytes = (unsigned long long)domain->row * element,
                               .plane_bytes = (unsigned long long)domain->plane * element,
                               .element_bytes = (int)element,
                               .promotion_bytes = maps->promotion_bytes};
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    out->extents[axis] = (unsigned long long)domain->grid.n[axis];
    out->box[axis] = (unsigned)maps->box[axis];
  }
}

const char *tensor_shape_error(const struct tensor_shape *s) {
  const unsigned long long most_stride = 1ULL << 40;
  const unsigned long long most_extent = 1ULL << 31; /* coordinates are signed 32-bit numbers */
  const unsigned most_box = 256;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (s->box[axis] < 1 || s->box[axis] > most_box) return "a box must have 1 to 256 elements along each axis";
    if (s->extents[axis] >= most_extent) return "the grid is too long";
  }
  if (s->rank < MAX_DIMS && s->box[2] != 1) return "a box of fewer than three dimensions must have 1 element in z";
  if (s->box[0] * (unsigned)s->element_bytes % TENSOR_ALIGNMENT_BYTES != 0)
    return "the rows of a box are not multiples of 16 bytes";
  if (s->row_bytes % TENSOR_ALIGNMENT_BYTES != 0) return "the grid's rows are not multiples of 16 bytes";
  if (s->rank == MAX_DIMS && s->plane_bytes % TENSOR_ALIGNMENT_BYTES != 0)
    return "the grid's planes are not multiples of 16 bytes";
  return s->row_bytes >= most_stride || s->plane_bytes >= most_stride ? "the grid's planes are too large" : NULL;
}
