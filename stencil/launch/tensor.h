/* tensor.h: a tensor map in numbers: what of an array the copy engine of sm_90 and later moves, and in which pieces. */
#ifndef STENCIL_LAUNCH_TENSOR_H
#define STENCIL_LAUNCH_TENSOR_H

#include "stencil/launch/launch.h"

enum { TENSOR_ALIGNMENT_BYTES = 16 }; /* of the array, its rows and its planes */

/* Everything that a map says beside the array's address. */
struct tensor_shape {
  int rank;                             /* 3; 2 for stencils of fewer dimensions */
  unsigned long long extents[MAX_DIMS]; /* elements in x, y, z; those beyond the rank are 1 */
  unsigned long long row_bytes, plane_bytes;
  unsigned box[MAX_DIMS]; /* elements of one copy */
  int element_bytes, promotion_bytes;
};

/* The shape of maps on fields of a domain.
 *   dims  of the stencil */
void tensor_shape_make(const struct tensor_maps *maps, int dims, const struct domain *domain, enum dtype dtype,
                       struct tensor_shape *out);

/* NULL, or what of it no driver takes. */
const char *tensor_shape_error(const struct tensor_shape *shape);

#endif
