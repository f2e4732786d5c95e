/* kernel.h: a compiled variant on a GPU, ready to be launched on pointers. */
#ifndef GPU_DRIVER_KERNEL_H
#define GPU_DRIVER_KERNEL_H

#include "gpu/driver/device.h"
#include "stencil/launch/tensor_shape.h"

/* What a launch needs besides the kernel's code, for one domain and one set of coefficients. It contains no pointers,
 * so it can be sent to another process as bytes. */
struct kernel_plan {
  char name[KERNEL_NAME_BYTES];
  int input_count, output_count; /* output_count: outputs, then the arrays that a launch carries; see struct launch */
  unsigned grid[MAX_DIMS], block[MAX_DIMS], shared_bytes; /* shared_bytes: dynamic shared memory */
  int passes_textures;                                    /* as in struct launch */
  unsigned textured_inputs;                               /* one bit for each input: it has a texture object, then */
  bool passes_coefficients, overlaps, cooperative, is_stored; /* as in struct launch */
  struct tensor_maps input_maps, output_maps;                 /* as in struct launch */
  struct tensor_shape input_shape, output_shape;              /* shapes of these maps, if there are any */
  unsigned cluster[MAX_DIMS];                                 /* blocks */
  size_t workspace_bytes;                                     /* as in struct launch */
  enum dtype dtype;
  struct domain domain;
  size_t geometry_bytes, coefficient_bytes; /* of the two members below, as the kernel takes them */
  char geometry[GEOMETRY_BYTES] __attribute__((aligned(8)));
  double coefficients[MAX_COEFFICIENTS]; /* packed, in the element's type */
};

/* Plan the launches of a variant.
 *   launch        from generate() for this domain
 *   coefficients  the values that a launch passes, if the variant takes them as an argument */
void kernel_plan_make(const struct launch *launch, const struct stencil *stencil, enum dtype dtype,
                      const struct domain *domain, const double *coefficients, struct kernel_plan *out);

/* Start with {0}; end with kernel_unload. */
struct kernel {
  const struct cu *cu;
  CUmodule module;
  CUfunction function;
  struct kernel_plan plan;
  CUlaunchAttribute attributes[3]; /* attributes of each launch; there may be none */
  unsigned attribute_count;
};

/* Set functions that kernel_load calls before and after each load of a module, for a program's limit for the driver.
 * Both get `state`. NULL removes them. Threads: call it while no other thread loads. */
void kernel_loads_watch(void (*begins)(const void *state), void (*ends)(const void *state), const void *state);

/* Load a cubin.
 *   out  filled on success; after a failure kernel_unload is harmless
 * Returns HALOTUNE_OK, or HALOTUNE_NO_GPU: with the driver's error, or because the kernel takes other arguments than
 * a stored plan passes, which a driver would read out of bounds. Drivers before CUDA 12.4 do not tell what a kernel
 * takes. compute-sanitizer reports an error of cuFuncGetParamInfo for a stored plan: it is how a driver answers when it
 * is asked for an argument that the kernel does not have.
 * The thread needs a context of the device. */
halotune_status kernel_load(const struct cu *cu, const void *cubin, const struct kernel_plan *plan, struct kernel *out);

void kernel_unload(struct kernel *kernel);

/* The fields of a launch, with the texture objects, tensor maps and workspace that the kernel takes. Launches on the
 * same outputs must not overlap, so launches with the same workspace do not overlap either. End with
 * kernel_fields_free. */
struct kernel_fields {
  CUdeviceptr inputs[MAX_FIELDS], outputs[MAX_FIELDS];
  CUtexObject textures[MAX_FIELDS];
  int texture_count;
  CUtensorMap *maps;     /* maps of inputs, then of outputs; NULL if there are none */
  CUdeviceptr workspace; /* 0: none */
};

/* Bind pointers. Each field has domain_elements elements. Its address is a multiple of 512 bytes if the kernel takes
 * textures, of 16 bytes if it takes tensor maps. If the kernel has a workspace, the call waits for the default stream
 * and cannot be part of a stream capture. */
halotune_status kernel_bind(const struct kernel *kernel, const CUdeviceptr inputs[], const CUdeviceptr outputs[],
                            struct kernel_fields *out);
void kernel_fields_free(const struct kernel *kernel, struct kernel_fields *fields);

/* Launches that take less than this go into a CUDA graph, because the start of a launch is not negligible then. */
extern const double kernel_graph_below_ms;

/* Launch once, without waiting. Returns the driver's own result; kernel_launch_check makes a status of it. */
CUresult kernel_launch(struct kernel *kernel, struct kernel_fields *fields, CUstream stream);

/* Write the name of the driver's call for messages: "cuLaunchKernelEx in clusters of 2x1x1 blocks". */
enum { KERNEL_CALL_BYTES = 160 };
void kernel_call_name(const struct kernel *kernel, char out[KERNEL_CALL_BYTES]);

/* Turn the result of kernel_launch into a status with a detail. */
halotune_status kernel_launch_check(const struct kernel *kernel, CUresult result);

/* Launch once on pointers that are not kept. The kernel must not take textures. The launch copies tensor maps, and the
 * workspace is allocated in the stream for the duration of the kernel.
 * Returns HALOTUNE_OK; HALOTUNE_NO_GPU with the driver's error; HALOTUNE_MEMORY. */
halotune_status kernel_launch_once(struct kernel *kernel, const CUdeviceptr inputs[], const CUdeviceptr outputs[],
                                   CUstream stream);

#endif
