/* launch_arguments.c: writes the structs that a kernel takes by value, and counts the blocks of a cluster. */
#include "stencil/launch/launch.h"

long launch_cluster_blocks(const struct launch *launch) {
  long blocks = 1;
  for (int axis = 0; axis < MAX_DIMS; axis++) blocks *= launch->cluster[axis] > 1 ? launch->cluster[axis] : 1;
  return blocks;
}

size_t geometry_pack(const struct launch *launch, const struct domain *domain, void *bytes) {
  long numbers[DOMAIN_NUMBERS];
  if (launch->literal_extents) { /* a struct without members takes one byte in C++ */
    *(char *)bytes = 0;
    return 1;
  }
  domain_numbers(domain, numbers);
  for (int i = 0; i < DOMAIN_NUMBERS; i++) {
    if (launch->index_bytes == 4) ((int *)bytes)[i] = (int)numbers[i];
    else ((long long *)bytes)[i] = numbers[i];
  }
  return DOMAIN_NUMBERS * (size_t)launch->index_bytes;
}

size_t coefficients_pack(const struct launch *launch, const struct stencil *stencil, enum dtype dtype,
                         const double *coefficients, void *bytes) {
  if (!launch->passes_coefficients) return 0;
  for (int i = 0; i < stencil->coefficient_count; i++) {
    if (dtype == DTYPE_F32) ((float *)bytes)[i] = (float)coefficients[i];
    else ((double *)bytes)[i] = coefficients[i];
  }
  return (size_t)stencil->coefficient_count * dtype_bytes(dtype);
}
