/* tensor_shape.h: the numbers of a tensor map. The map tells the copy engine of sm_90 and later how an array lies in
 * memory and how large a copy is. */
#ifndef STENCIL_LAUNCH_TENSOR_SHAPE_H
#define STENCIL_LAUNCH_TENSOR_SHAPE_H

#include "stencil/launch/launch.h"

enum { TENSOR_ALIGNMENT_BYTES = 16 }; /* alignment of the array's address, its rows and its planes */

/* Everything that a map contains except the array's address. */
struct tensor_shape {
  int rank;                             /* 3, or 2 for stencils with fewer dimensions */
  unsigned long long extents[MAX_DIMS]; /* elements in x, y, z; 1 beyond the rank */
  unsigned long long row_bytes, plane_bytes;
  unsigned box[MAX_DIMS]; /* elements of one copy */
  int element_bytes, promotion_bytes;
};

/* Compute the map's numbers for fields of a domain.
 *   dims  dimensions of the stencil */
void tensor_shape_make(const struct tensor_maps *maps, int dims, const struct domain *domain, enum dtype dtype,
                       struct tensor_shape *out);

/* Check the numbers against the driver's limits. Returns NULL, or a text that says which limit they break. */
const char *tensor_shape_error(const struct tensor_shape *shape);

#endif
