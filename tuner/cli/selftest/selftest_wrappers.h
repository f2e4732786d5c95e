/* selftest_wrappers.h: a hand-written variant of the stencil copy for each wrapper that templates use. */
#ifndef CLI_SELFTEST_SELFTEST_WRAPPERS_H
#define CLI_SELFTEST_SELFTEST_WRAPPERS_H

#include "stencil/generate/generate.h"

/* What a launch needs besides pointers: nothing, tensor maps of 2D or 3D fields, clusters, or programmatic dependent
 * launch. */
enum wrapper_launch { WRAPPER_PLAIN, WRAPPER_MAPS_2D, WRAPPER_MAPS_3D, WRAPPER_CLUSTER, WRAPPER_OVERLAP };

/* Cases of tuner/device/wrappers_check.cu: name, compute capability that it needs, launch. */
/* clang-format off */
#define WRAPPER_CASE_LIST(X)      \
  X(vector_1, 75, PLAIN)          \
  X(vector_2, 75, PLAIN)          \
  X(vector_4, 75, PLAIN)          \
  X(vector_readonly, 75, PLAIN)   \
  X(vector_streaming, 75, PLAIN)  \
  X(plain, 75, PLAIN)             \
  X(readonly, 75, PLAIN)          \
  X(streaming, 75, PLAIN)         \
  X(async_smallest, 75, PLAIN)    \
  X(async_8, 75, PLAIN)           \
  X(async_16, 75, PLAIN)          \
  X(async_zero, 75, PLAIN)        \
  X(async_groups, 75, PLAIN)      \
  X(bulk, 90, PLAIN)              \
  X(flags, 75, PLAIN)             \
  X(tensor_copy_2d, 90, MAPS_2D)  \
  X(tensor_edge_2d, 90, MAPS_2D)  \
  X(tensor_store_2d, 90, MAPS_2D) \
  X(tensor_copy_3d, 90, MAPS_3D)  \
  X(tensor_edge_3d, 90, MAPS_3D)  \
  X(tensor_store_3d, 90, MAPS_3D) \
  X(cluster_read, 90, CLUSTER)    \
  X(cluster_write, 90, CLUSTER)   \
  X(cluster_signal, 90, CLUSTER)  \
  X(overlap, 90, OVERLAP)         \
  X(matrices, 90, PLAIN)
/* clang-format on */

struct wrapper_case {
  const char *name;
  int capability;
  enum wrapper_launch launch;
};
extern const struct wrapper_case wrapper_cases[];
extern const int wrapper_case_count;

/* The number of dimensions of the fields that a case copies. */
int wrapper_dims(int number);

extern const struct grid wrapper_grids[2]; /* for two dimensions, for three */

/* Generate source and launch of a case.
 *   out  end with generated_free
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status wrapper_generate(int number, enum dtype dtype, struct generated *out);

#endif
