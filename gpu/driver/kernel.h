/* kernel.h: a compiled variant on a GPU, ready to be launched on pointers. */
#ifndef GPU_DRIVER_KERNEL_H
#define GPU_DRIVER_KERNEL_H

#include "gpu/driver/device.h"
#include "stencil/launch/tensor.h"

/* What must be known of a kernel beside its code, for one domain and one set of coefficients. Holds no pointers: it may cross
 * to another process as it is. */
struct kernel_plan {
  char name[KERNEL_NAME_BYTES];
  int input_count, output_count;
  unsigned grid[MAX_DIMS], block[MAX_DIMS], shared_bytes; /* shared: dynamic */
  int passes_textures;                                    /* as in struct launch */
  bool passes_coefficients, overlaps;
  struct tensor_maps input_maps, output_maps;    /* as in struct launch */
  struct tensor_shape input_shape, output_shape; /* of those maps, where there are any */
  unsigned cluster[MAX_DIMS];                    /* blocks */
  size_t workspace_bytes;                        /* as in struct launch */
  enum dtype dtype;
  struct domain domain;
  char geometry[GEOMETRY_BYTES] __attribute__((aligned(8)));
  double coefficients[MAX_COEFFICIENTS]; /* packed, in the element's type */
};

/* Plan the launches of a variant.
 *   launch        as generate() gave it for this domain
 *   coefficients  passed at launch where the variant takes them so */
void kernel_plan_make(const struct launch *launch, const struct stencil *stencil, enum dtype dtype,
                      const struct domain *domain, const double *coefficients, struct kernel_plan *out);

/* Start with {0}; end with kernel_unload. */
struct kernel {
  const struct cu *cu;
  CUmodule module;
  CUfunction function;
  struct kernel_plan plan;
  CUlaunchAttribute attributes[2]; /* of each launch, where it has any */
  unsigned attribute_count;
};

/* Load a cubin.
 *   out  filled on success; after a failure kernel_unload is harmless
 * Returns HALOTUNE_OK, or HALOTUNE_NO_GPU with what the driver said. The thread needs a context of the device. */
halotune_status kernel_load(const struct cu *cu, const void *cubin, const struct kernel_plan *plan, struct kernel *out);

void kernel_unload(struct kernel *kernel);

/* The fields of a launch, with texture objects and tensor maps where the kernel takes them, and its workspace: launches
 * on the same outputs do not overlap, so that those on one workspace do not. End with kernel_fields_free. */
struct kernel_fields {
  CUdeviceptr inputs[MAX_FIELDS], outputs[MAX_FIELDS];
  CUtexObject textures[MAX_FIELDS];
  int texture_count;
  CUtensorMap *maps;     /* of inputs, then of outputs; NULL where there are none */
  CUdeviceptr workspace; /* 0: none */
};

/* Bind pointers. Each field has domain_elements elements, and begins at a multiple of 512 bytes where textures are
 * used, of 16 bytes where tensor maps are. For a workspace this waits for the default stream, and cannot be part of a
 * stream capture. */
halotune_status kernel_bind(const struct kernel *kernel, const CUdeviceptr inputs[], const CUdeviceptr outputs[],
                            struct kernel_fields *out);
void kernel_fields_free(const struct kernel *kernel, struct kernel_fields *fields);

/* Launch once; returns at once. The driver's own result, so that a caller in a hurry need not look. */
CUresult kernel_launch(struct kernel *kernel, struct kernel_fields *fields, CUstream stream);

/* What that calls, for messages: "cuLaunchKernelEx in clusters of 2x1x1 blocks". */
enum { KERNEL_CALL_BYTES = 96 };
void kernel_call_name(const struct kernel *kernel, char out[KERNEL_CALL_BYTES]);

/* Its result in words. */
halotune_status kernel_launch_check(const struct kernel *kernel, CUresult result);

/* Launch once on pointers that are not kept; the kernel takes no textures. Tensor maps are copied by the launch, and a
 * workspace is the stream's, for that long.
 * Returns HALOTUNE_OK; HALOTUNE_NO_GPU with what the driver said; HALOTUNE_MEMORY. */
halotune_status kernel_launch_once(struct kernel *kernel, const CUdeviceptr inputs[], const CUdeviceptr outputs[],
                                   CUstream stream);

#endif
