/* kernel.c: loads a module, binds fields, and launches. */
#include "gpu/driver/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A kernel must opt in to more dynamic shared memory than this. */
enum { UNASKED_SHARED_BYTES = 48 * 1024 };

const double kernel_graph_below_ms = 0.020;

enum { MOST_ARGUMENTS = 5 * MAX_FIELDS + 3 };

void kernel_plan_make(const struct launch *launch, const struct stencil *stencil, enum dtype dtype,
                      const struct domain *domain, const double *coefficients, struct kernel_plan *out) {
  *out = (struct kernel_plan){.input_count = stencil->input_count,
                              .output_count = stencil->output_count + launch->carried_count,
                              .shared_bytes = (unsigned)launch->shared_bytes,
                              .passes_textures = launch->passes_textures,
                              .overlaps = launch->overlaps,
                              .cooperative = launch->cooperative,
                              .is_stored = launch->is_stored,
                              .input_maps = launch->input_maps,
                              .output_maps = launch->output_maps,
                              .workspace_bytes = (size_t)launch->workspace_bytes,
                              .dtype = dtype,
                              .domain = *domain};
  for (int i = 0; i < stencil->input_count; i++) out->textured_inputs |= (unsigned)input_is_whole(stencil, i) << i;
  memcpy(out->name, launch->kernel, sizeof out->name);
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    out->grid[axis] = (unsigned)launch->grid[axis];
    out->block[axis] = (unsigned)launch->block[axis];
    out->cluster[axis] = launch->cluster[axis] > 1 ? (unsigned)launch->cluster[axis] : 1;
  }
  tensor_shape_make(&launch->input_maps, stencil->dims, domain, dtype, &out->input_shape);
  tensor_shape_make(&launch->output_maps, stencil->dims, domain, dtype, &out->output_shape);
  out->geometry_bytes = geometry_pack(launch, domain, out->geometry);
  out->coefficient_bytes = coefficients_pack(launch, stencil, dtype, coefficients, out->coefficients);
  out->passes_coefficients = out->coefficient_bytes > 0;
}

/* Make the launch attributes for clusters, overlap and cooperative launches: cuLaunchKernel has no arguments for
 * these. */
static void make_attributes(struct kernel *kernel) {
  const unsigned *cluster = kernel->plan.cluster;
  if (cluster[0] * cluster[1] * cluster[2] > 1) {
    CUlaunchAttribute *attribute = &kernel->attributes[kernel->attribute_count++];
    attribute->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute->value.clusterDim.x = cluster[0];
    attribute->value.clusterDim.y = cluster[1];
    attribute->value.clusterDim.z = cluster[2];
  }
  if (kernel->plan.overlaps) {
    CUlaunchAttribute *attribute = &kernel->attributes[kernel->attribute_count++];
    attribute->id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute->value.programmaticStreamSerializationAllowed = 1;
  }
  if (kernel->plan.cooperative) {
    CUlaunchAttribute *attribute = &kernel->attributes[kernel->attribute_count++];
    attribute->id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute->value.cooperative = 1;
  }
}

static struct {
  void (*begins)(const void *state), (*ends)(const void *state);
  const void *state;
} watch;

void kernel_loads_watch(void (*begins)(const void *state), void (*ends)(const void *state), const void *state) {
  watch.begins = begins, watch.ends = ends, watch.state = state;
}

static halotune_status module_load(const struct cu *cu, const void *cubin, CUmodule *out) {
  if (watch.begins) watch.begins(watch.state);
  const CUresult result = cu->module_load(out, cubin);
  if (watch.ends) watch.ends(watch.state);
  return cu_check(cu, result, "cuModuleLoadData");
}

static int map_count(const struct kernel_plan *plan) { return plan->input_maps.count + plan->output_maps.count; }

/* Whether the kernel gets a texture object of an input. */
static bool has_texture(const struct kernel_plan *plan, int input) {
  return plan->passes_textures && (plan->textured_inputs >> input & 1);
}

/* The arguments of a launch, in the order of the kernel's parameters. */
struct arguments {
  void *values[MOST_ARGUMENTS];
  size_t bytes[MOST_ARGUMENTS];
  int count;
};

static void add_argument(struct arguments *arguments, void *value, size_t bytes) {
  arguments->values[arguments->count] = value;
  arguments->bytes[arguments->count++] = bytes;
}

/*   fields  bound to pointers; without maps if only sizes are wanted */
static void list_arguments(struct kernel_plan *plan, struct kernel_fields *fields, struct arguments *out) {
  int textures = 0;
  out->count = 0;
  for (int i = 0; i < plan->input_count; i++) add_argument(out, &fields->inputs[i], sizeof fields->inputs[i]);
  for (int i = 0; i < plan->output_count; i++) add_argument(out, &fields->outputs[i], sizeof fields->outputs[i]);
  for (int i = 0; i < plan->input_count; i++) {
    if (has_texture(plan, i)) add_argument(out, &fields->textures[textures++], sizeof fields->textures[0]);
  }
  for (int i = 0; i < map_count(plan); i++)
    add_argument(out, fields->maps ? &fields->maps[i] : NULL, sizeof fields->maps[0]);
  if (plan->workspace_bytes > 0) add_argument(out, &fields->workspace, sizeof fields->workspace);
  add_argument(out, plan->geometry, plan->geometry_bytes);
  if (plan->passes_coefficients) add_argument(out, plan->coefficients, plan->coefficient_bytes);
}

/* Compare the arguments of a stored plan with those of the kernel. Others were generated with their kernel. */
static halotune_status arguments_check(struct kernel *kernel) {
  const struct cu *cu = kernel->cu;
  struct kernel_fields none = {.maps = NULL};
  struct arguments wanted;
  size_t offset, bytes;
  if (!kernel->plan.is_stored || !cu->function_parameter) return HALOTUNE_OK;
  list_arguments(&kernel->plan, &none, &wanted);
  bool is_good = true;
  for (int i = 0; i <= wanted.count && is_good; i++) {
    const CUresult result = cu->function_parameter(kernel->function, (size_t)i, &offset, &bytes);
    const bool is_there = result == CUDA_SUCCESS; /* else its number is that of no argument, or the driver fails */
    if (!is_there && result != CUDA_ERROR_INVALID_VALUE) return cu_check(cu, result, "cuFuncGetParamInfo");
    is_good = is_there ? i < wanted.count && bytes == wanted.bytes[i] : i == wanted.count;
  }
  if (is_good) return HALOTUNE_OK;
  return fail(HALOTUNE_NO_GPU,
              "the kernel %s takes other arguments than its launch passes, so it is not launched; if it comes from a "
              "database, run 'halotune db check'",
              kernel->plan.name);
}

halotune_status kernel_load(const struct cu *cu, const void *cubin, const struct kernel_plan *plan,
                            struct kernel *out) {
  *out = (struct kernel){.cu = cu, .plan = *plan};
  make_attributes(out);
  halotune_status status = module_load(cu, cubin, &out->module);
  if (status == HALOTUNE_OK) {
    status = cu_check(cu, cu->module_function(&out->function, out->module, plan->name), "cuModuleGetFunction");
  }
  if (status == HALOTUNE_OK) status = arguments_check(out);
  if (status == HALOTUNE_OK && plan->shared_bytes > UNASKED_SHARED_BYTES) {
    status = cu_check(
        cu, cu->function_set(out->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)plan->shared_bytes),
        "cuFuncSetAttribute");
  }
  if (status != HALOTUNE_OK) kernel_unload(out);
  return status;
}

void kernel_unload(struct kernel *kernel) {
  if (kernel->module) kernel->cu->module_unload(kernel->module);
  *kernel = (struct kernel){.cu = NULL};
}

/* Make a linear texture over the whole field, or a 2D texture whose rows are the field's rows. A double is two
 * integers. */
static halotune_status make_texture(const struct kernel *kernel, CUdeviceptr field, CUtexObject *out) {
  const struct domain *d = &kernel->plan.domain;
  bool single = kernel->plan.dtype == DTYPE_F32;
  size_t bytes = single ? 4 : 8, elements = (size_t)domain_elements(d), row = (size_t)d->row;
  CUarray_format format = single ? CU_AD_FORMAT_FLOAT : CU_AD_FORMAT_SIGNED_INT32;
  unsigned channels = single ? 1 : 2;
  CUDA_RESOURCE_DESC resource;
  CUDA_TEXTURE_DESC texture;
  memset(&resource, 0, sizeof resource);
  memset(&texture, 0, sizeof texture);
  if (kernel->plan.passes_textures == 1) {
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = field;
    resource.res.linear.format = format;
    resource.res.linear.numChannels = channels;
    resource.res.linear.sizeInBytes = elements * bytes;
  } else {
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D.devPtr = field;
    resource.res.pitch2D.format = format;
    resource.res.pitch2D.numChannels = channels;
    resource.res.pitch2D.width = row;
    resource.res.pitch2D.height = elements / row;
    resource.res.pitch2D.pitchInBytes = row * bytes;
  }
  for (int i = 0; i < MAX_DIMS; i++) texture.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
  texture.filterMode = CU_TR_FILTER_MODE_POINT;
  texture.flags = single ? 0 : CU_TRSF_READ_AS_INTEGER;
  return cu_check(kernel->cu, kernel->cu->texture_create(out, &resource, &texture, NULL), "cuTexObjectCreate");
}

static CUtensorMapL2promotion promotion_of(int bytes) {
  switch (bytes) {
  case 64: return CU_TENSOR_MAP_L2_PROMOTION_L2_64B;
  case 128: return CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
  case 256: return CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
  default: return CU_TENSOR_MAP_L2_PROMOTION_NONE;
  }
}

/* Encode a tensor map of a field with the driver: dense boxes, no swizzle, zeros outside the array. It needs no device,
 * and nothing has to be freed.
 *   field  a multiple of TENSOR_ALIGNMENT_BYTES */
static halotune_status make_map(const struct cu *cu, const struct tensor_shape *shape, CUdeviceptr field,
                                CUtensorMap *out) {
  const cuuint64_t extents[MAX_DIMS] = {shape->extents[0], shape->extents[1], shape->extents[2]};
  const cuuint64_t strides_bytes[MAX_DIMS - 1] = {shape->row_bytes, shape->plane_bytes};
  const cuuint32_t steps[MAX_DIMS] = {1, 1, 1};
  CUtensorMapDataType type =
      shape->element_bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  char what[128];
  CUresult result = cu->tensor_map_encode(out, type, (cuuint32_t)shape->rank, (void *)(uintptr_t)field, extents,
                                          strides_bytes, shape->box, steps, // NOLINT: the integer is a device address
                                          CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                          promotion_of(shape->promotion_bytes), CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS) return HALOTUNE_OK;
  snprintf(what, sizeof what, "cuTensorMapEncodeTiled of boxes of %ux%ux%u elements", shape->box[0], shape->box[1],
           shape->box[2]);
  return cu_check(cu, result, what);
}

static halotune_status make_maps(const struct kernel *kernel, struct kernel_fields *out) {
  const struct kernel_plan *plan = &kernel->plan;
  const struct tensor_maps *inputs = &plan->input_maps, *outputs = &plan->output_maps;
  int count = map_count(plan);
  halotune_status status = HALOTUNE_OK;
  if (count == 0) return HALOTUNE_OK;
  out->maps = aligned_alloc(_Alignof(CUtensorMap), (size_t)count * sizeof *out->maps);
  if (!out->maps) return fail_memory();
  for (int i = 0; i < inputs->count && status == HALOTUNE_OK; i++) {
    status = make_map(kernel->cu, &plan->input_shape, out->inputs[inputs->fields[i]], &out->maps[i]);
  }
  for (int i = 0; i < outputs->count && status == HALOTUNE_OK; i++) {
    status = make_map(kernel->cu, &plan->output_shape, out->outputs[outputs->fields[i]], &out->maps[inputs->count + i]);
  }
  return status;
}

static void take_pointers(const struct kernel *kernel, const CUdeviceptr inputs[], const CUdeviceptr outputs[],
                          struct kernel_fields *out) {
  *out = (struct kernel_fields){.texture_count = 0};
  memcpy(out->inputs, inputs, (size_t)kernel->plan.input_count * sizeof *inputs);
  memcpy(out->outputs, outputs, (size_t)kernel->plan.output_count * sizeof *outputs);
}

static size_t workspace_words(const struct kernel *kernel) { return (kernel->plan.workspace_bytes + 3) / 4; }

/* Allocate and clear a workspace. It waits until the workspace is cleared, because streams need not wait for the
 * default stream, which clears it. */
static halotune_status make_workspace(const struct kernel *kernel, CUdeviceptr *out) {
  size_t words = workspace_words(kernel);
  halotune_status status = cu_check(kernel->cu, kernel->cu->mem_alloc(out, words * 4), "cuMemAlloc of a workspace");
  if (status != HALOTUNE_OK) {
    *out = 0;
    return status;
  }
  status = cu_check(kernel->cu, kernel->cu->fill_words(*out, 0, words, NULL), "cuMemsetD32Async");
  return status == HALOTUNE_OK ? cu_check(kernel->cu, kernel->cu->stream_synchronize(NULL), "cuStreamSynchronize")
                               : status;
}

halotune_status kernel_bind(const struct kernel *kernel, const CUdeviceptr inputs[], const CUdeviceptr outputs[],
                            struct kernel_fields *out) {
  halotune_status status = HALOTUNE_OK;
  take_pointers(kernel, inputs, outputs, out);
  for (int i = 0; i < kernel->plan.input_count && status == HALOTUNE_OK; i++) {
    if (!has_texture(&kernel->plan, i)) continue;
    status = make_texture(kernel, inputs[i], &out->textures[out->texture_count]);
    if (status == HALOTUNE_OK) out->texture_count++;
  }
  if (status == HALOTUNE_OK) status = make_maps(kernel, out);
  if (status == HALOTUNE_OK && kernel->plan.workspace_bytes > 0) status = make_workspace(kernel, &out->workspace);
  if (status != HALOTUNE_OK) kernel_fields_free(kernel, out);
  return status;
}

void kernel_fields_free(const struct kernel *kernel, struct kernel_fields *fields) {
  while (fields->texture_count > 0) kernel->cu->texture_destroy(fields->textures[--fields->texture_count]);
  free(fields->maps);
  fields->maps = NULL;
  if (fields->workspace) kernel->cu->mem_free(fields->workspace);
  fields->workspace = 0;
}

CUresult kernel_launch(struct kernel *kernel, struct kernel_fields *fields, CUstream stream) {
  struct arguments arguments;
  list_arguments(&kernel->plan, fields, &arguments);
  const unsigned *grid = kernel->plan.grid, *block = kernel->plan.block;
  if (kernel->attribute_count == 0) {
    return kernel->cu->launch(kernel->function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                              kernel->plan.shared_bytes, stream, arguments.values, NULL);
  }
  const CUlaunchConfig config = {.gridDimX = grid[0],
                                 .gridDimY = grid[1],
                                 .gridDimZ = grid[2],
                                 .blockDimX = block[0],
                                 .blockDimY = block[1],
                                 .blockDimZ = block[2],
                                 .sharedMemBytes = kernel->plan.shared_bytes,
                                 .hStream = stream,
                                 .attrs = kernel->attributes,
                                 .numAttrs = kernel->attribute_count};
  return kernel->cu->launch_with(&config, kernel->function, arguments.values, NULL);
}

void kernel_call_name(const struct kernel *kernel, char out[KERNEL_CALL_BYTES]) {
  const unsigned *grid = kernel->plan.grid, *cluster = kernel->plan.cluster;
  char together[64] = "", clusters[64] = "";
  if (kernel->plan.cooperative)
    snprintf(together, sizeof together, " of %llu blocks that run at the same time",
             (unsigned long long)grid[0] * grid[1] * grid[2]);
  if (cluster[0] * cluster[1] * cluster[2] > 1)
    snprintf(clusters, sizeof clusters, " in clusters of %ux%ux%u blocks", cluster[0], cluster[1], cluster[2]);
  snprintf(out, KERNEL_CALL_BYTES, "%s%s%s", kernel->attribute_count == 0 ? "cuLaunchKernel" : "cuLaunchKernelEx",
           together, clusters);
}

halotune_status kernel_launch_check(const struct kernel *kernel, CUresult result) {
  char call[KERNEL_CALL_BYTES];
  if (result == CUDA_SUCCESS) return HALOTUNE_OK;
  kernel_call_name(kernel, call);
  return cu_check(kernel->cu, result, call);
}

/* Launch with a workspace from the stream's memory pool, and return it when the kernel is done. */
static halotune_status launch_with_borrowed(struct kernel *kernel, struct kernel_fields *fields, CUstream stream) {
  const struct cu *cu = kernel->cu;
  size_t words = workspace_words(kernel);
  halotune_status status = cu_check(cu, cu->mem_alloc_async(&fields->workspace, words * 4, stream), "cuMemAllocAsync");
  if (status != HALOTUNE_OK) {
    fields->workspace = 0;
    return status;
  }
  status = cu_check(cu, cu->fill_words(fields->workspace, 0, words, stream), "cuMemsetD32Async");
  if (status == HALOTUNE_OK) status = kernel_launch_check(kernel, kernel_launch(kernel, fields, stream));
  CUresult freed = cu->mem_free_async(fields->workspace, stream);
  fields->workspace = 0;
  return status == HALOTUNE_OK ? cu_check(cu, freed, "cuMemFreeAsync") : status;
}

halotune_status kernel_launch_once(struct kernel *kernel, const CUdeviceptr inputs[], const CUdeviceptr outputs[],
                                   CUstream stream) {
  struct kernel_fields fields;
  take_pointers(kernel, inputs, outputs, &fields);
  halotune_status status = make_maps(kernel, &fields);
  if (status == HALOTUNE_OK) {
    status = kernel->plan.workspace_bytes > 0 ? launch_with_borrowed(kernel, &fields, stream)
                                              : kernel_launch_check(kernel, kernel_launch(kernel, &fields, stream));
  }
  kernel_fields_free(kernel, &fields);
  return status;
}
