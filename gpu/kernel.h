/* kernel.h: a compiled variant on a GPU, ready to be launched on pointers. */
#ifndef GPU_KERNEL_H
#define GPU_KERNEL_H

#include "gpu/device.h"
#include "stencil/generate.h"

/* Start with {0}; end with kernel_unload. */
struct kernel {
  const struct cu *cu;
  CUmodule module;
  CUfunction function;
  int input_count, output_count;
  unsigned grid[MAX_DIMS], block[MAX_DIMS], shared_bytes;
  int passes_textures;
  enum dtype dtype;
  struct domain domain;
  char geometry[GEOMETRY_BYTES];
  double coefficients[MAX_COEFFICIENTS]; /* packed, in the element's type */
  bool passes_coefficients;
};

/* Load a cubin and prepare its arguments.
 *   spec, generated  what the cubin was made from; the pointers that they hold are not kept
 *   coefficients     passed at launch where the variant takes them so
 *   out              filled on success; after a failure kernel_unload is harmless
 * Returns HALOTUNE_OK, or HALOTUNE_NO_GPU with what the driver said. The thread needs the device's context. */
halotune_status kernel_load(const struct device *device, const void *cubin, const struct variant_spec *spec,
                            const struct generated *generated, const double *coefficients, struct kernel *out);

void kernel_unload(struct kernel *kernel);

/* The fields of a launch, and texture objects where the kernel reads through them. End with kernel_fields_free. */
struct kernel_fields {
  CUdeviceptr inputs[MAX_FIELDS], outputs[MAX_FIELDS];
  CUtexObject textures[MAX_FIELDS];
  int texture_count;
};

/* Bind pointers. Each field has domain_elements elements, and begins at a multiple of 512 bytes where textures are used. */
halotune_status kernel_bind(const struct kernel *kernel, const CUdeviceptr inputs[], const CUdeviceptr outputs[],
                            struct kernel_fields *out);
void kernel_fields_free(const struct kernel *kernel, struct kernel_fields *fields);

/* Launch once; returns at once. The driver's own result, so that a caller in a hurry need not look. */
CUresult kernel_launch(struct kernel *kernel, struct kernel_fields *fields, CUstream stream);

#endif
