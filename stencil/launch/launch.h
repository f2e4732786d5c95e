/* launch.h: how a variant's kernel is called: everything that a caller needs besides its code. launch_shape.h
 * computes it from a template's formulas. */
#ifndef STENCIL_LAUNCH_LAUNCH_H
#define STENCIL_LAUNCH_LAUNCH_H

#include <stdbool.h>

#include "stencil/launch/domain.h"

enum { KERNEL_NAME_BYTES = 128 };

/* The tensor maps that a kernel takes for some inputs or outputs. The copy engine of sm_90 and later needs one for each
 * array that it copies. See tensor_shape.h. */
struct tensor_maps {
  int count;              /* 0: the kernel takes none */
  int fields[MAX_FIELDS]; /* numbers of the inputs, or of the outputs */
  long box[MAX_DIMS];     /* elements of one copy in x, y and z; the same for all maps */
  int promotion_bytes;    /* smallest fetch of the L2 cache: 64, 128 or 256; 0: the hardware's default */
};

/* The kernel's arguments are, in this order:
 *   - a pointer for each input, one for each output, and one for each array that it carries (see iterate.h)
 *   - a texture object for each input that is whole (see input_is_whole), where passes_textures is not 0
 *   - the tensor maps of inputs, and those of outputs
 *   - a pointer to the workspace, where it has one
 *   - struct Geometry
 *   - struct Coefficients, where passes_coefficients is set */
struct launch {
  char kernel[KERNEL_NAME_BYTES];                     /* its name in the source and in the cubin */
  long block[MAX_DIMS], grid[MAX_DIMS], shared_bytes; /* shared_bytes: dynamic shared memory of a block */
  int index_bytes;                                    /* 4 or 8: size of the integers in the kernel's Geometry */
  bool literal_extents;                               /* the kernel's Geometry is then empty */
  bool passes_coefficients;                           /* the kernel takes the coefficients as its last argument */
  /* texture objects for inputs. 0: none; 1: linear textures; 2: 2D textures whose rows are rows of the field. A double
   * is two 32-bit integers. */
  int passes_textures;
  struct tensor_maps input_maps, output_maps;
  long cluster[MAX_DIMS]; /* blocks of a cluster; 0 counts as 1 */
  int steps;              /* time steps that the launch makes */
  int carried_count;      /* arrays that the launch writes besides its outputs: those of iterate_carried */
  /* programmatic dependent launch: the kernel may begin before earlier work in the stream is done. It waits for that
   * work itself before it touches memory. It has no workspace. */
  bool overlaps;
  /* cooperative launch: all blocks run at the same time, so that each may wait for any other. The driver refuses the
   * launch on a GPU that cannot hold all blocks at once. */
  bool cooperative;
  /* global memory that is zero before the first launch and then keeps what the last launch wrote. Launches with the
   * same workspace must not overlap. 0: none */
  long workspace_bytes;
  bool is_stored; /* it was read from a database, so that it may be the launch of another kernel */
};

/* The number of blocks of a cluster; 1 means that there are no clusters. */
long launch_cluster_blocks(const struct launch *launch);

/* Write the struct Geometry that a launch passes to the kernel. It has 11 integers of index_bytes each, in the order
 * nx, ny, nz, row, plane, x0, x1, y0, y1, z0, z1. Where extents are literal it is one zero byte.
 *   bytes  receives at most GEOMETRY_BYTES
 * Returns the number of bytes written. */
enum { GEOMETRY_BYTES = 88 };
size_t geometry_pack(const struct launch *launch, const struct domain *domain, void *bytes);

/* Write the struct Coefficients that a launch passes to a kernel that takes it: one element for each coefficient.
 *   bytes  receives coefficient_count elements
 * Returns the number of bytes written; 0 where the coefficients are built into the kernel. */
size_t coefficients_pack(const struct launch *launch, const struct stencil *stencil, enum dtype dtype,
                         const double *coefficients, void *bytes);

#endif
