/* launch.h: how a variant's kernel is called: all that must be known beside its code. */
#ifndef STENCIL_LAUNCH_LAUNCH_H
#define STENCIL_LAUNCH_LAUNCH_H

#include <stdbool.h>

#include "stencil/launch/domain.h"

enum { KERNEL_NAME_BYTES = 128 };

/* The tensor maps that a kernel takes of some inputs, or of some outputs: what the copy engine of sm_90 and later knows
 * of an array. See tensor.h. */
struct tensor_maps {
  int count;              /* 0: it takes none */
  int fields[MAX_FIELDS]; /* which inputs, or outputs */
  long box[MAX_DIMS];     /* elements of one copy, in x, y and z; the same for all */
  int promotion_bytes;    /* what the L2 cache fetches at least: 64, 128 or 256; 0: as it likes */
};

/* The kernel's arguments are, in this order: a pointer for each input, one for each output, a texture object for each
 * input (where passes_textures says so), the tensor maps of inputs, those of outputs, a pointer to the workspace (where
 * it has one), struct Geometry, and struct Coefficients (where passes_coefficients says so). */
struct launch {
  char kernel[KERNEL_NAME_BYTES];                     /* its name in the source, and in the cubin */
  long block[MAX_DIMS], grid[MAX_DIMS], shared_bytes; /* shared: dynamic, of a block */
  int index_bytes;                                    /* 4 or 8: the type of the extents that the kernel takes */
  bool literal_extents;                               /* the kernel's Geometry is then empty */
  bool passes_coefficients;                           /* whether the kernel takes them as its last argument */
  int passes_textures; /* 1: a linear texture for each input, behind the pointers; 2: a 2D texture, its rows those of the
                               field; a double is two integers of 32 bits; 0: none */
  struct tensor_maps input_maps, output_maps;
  long cluster[MAX_DIMS]; /* blocks of a cluster; 0 counts as 1 */
  bool overlaps; /* programmatic dependent launch: it may begin before what precedes it in its stream is done, for which
                    it waits itself before it touches memory; then it has no workspace */
  long workspace_bytes; /* global memory that is zero before the first launch on it, and then as the last one left it;
                           launches on it do not overlap. 0: none */
};

/* How many blocks a cluster has; 1: there are no clusters. */
long launch_cluster_blocks(const struct launch *launch);

/* The struct Geometry that a launch passes to the kernel: 11 integers of index_bytes each, in the order
 * nx, ny, nz, row, plane, x0, x1, y0, y1, z0, z1; one zero byte where extents are literal.
 *   bytes  receives at most GEOMETRY_BYTES
 * Returns how many bytes it takes. */
enum { GEOMETRY_BYTES = 88 };
size_t geometry_pack(const struct launch *launch, const struct domain *domain, void *bytes);

/* The struct Coefficients that a launch passes where the kernel takes one: one element each.
 *   bytes  receives coefficient_count elements
 * Returns how many bytes it takes; 0 where they are built in. */
size_t coefficients_pack(const struct launch *launch, const struct stencil *stencil, enum dtype dtype,
                         const double *coefficients, void *bytes);

#endif
