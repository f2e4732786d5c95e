/* kernel.c: modules, arguments and launches. */
#include "gpu/kernel.h"

#include <string.h>

/* More dynamic shared memory than a block gets unasked has to be asked for. */
enum { UNASKED_SHARED_BYTES = 48 * 1024 };

void kernel_plan_make(const struct launch *launch, const struct stencil *stencil, enum dtype dtype, const struct domain *domain,
                      const double *coefficients, struct kernel_plan *out) {
  *out = (struct kernel_plan){.input_count = stencil->input_count,
                              .output_count = stencil->output_count,
                              .shared_bytes = (unsigned)launch->shared_bytes,
                              .passes_textures = launch->passes_textures,
                              .workspace_bytes = (size_t)launch->workspace_bytes,
                              .dtype = dtype,
                              .domain = *domain};
  memcpy(out->name, launch->kernel, sizeof out->name);
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    out->grid[axis] = (unsigned)launch->grid[axis];
    out->block[axis] = (unsigned)launch->block[axis];
  }
  geometry_pack(launch, domain, out->geometry);
  out->passes_coefficients = coefficients_pack(launch, stencil, dtype, coefficients, out->coefficients) > 0;
}

halotune_status kernel_load(const struct cu *cu, const void *cubin, const struct kernel_plan *plan, struct kernel *out) {
  *out = (struct kernel){.cu = cu, .plan = *plan};
  halotune_status status = cu_check(cu, cu->module_load(&out->module, cubin), "cuModuleLoadData");
  if (status == HALOTUNE_OK) {
    status = cu_check(cu, cu->module_function(&out->function, out->module, plan->name), "cuModuleGetFunction");
  }
  if (status == HALOTUNE_OK && plan->shared_bytes > UNASKED_SHARED_BYTES) {
    status = cu_check(cu, cu->function_set(out->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                           (int)plan->shared_bytes), "cuFuncSetAttribute");
  }
  if (status != HALOTUNE_OK) kernel_unload(out);
  return status;
}

void kernel_unload(struct kernel *kernel) {
  if (kernel->module) kernel->cu->module_unload(kernel->module);
  *kernel = (struct kernel){.cu = NULL};
}

/* A linear texture over the whole field, or one whose rows are the field's. A double is two integers. */
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

static void take_pointers(const struct kernel *kernel, const CUdeviceptr inputs[], const CUdeviceptr outputs[],
                          struct kernel_fields *out) {
  *out = (struct kernel_fields){.texture_count = 0};
  memcpy(out->inputs, inputs, (size_t)kernel->plan.input_count * sizeof *inputs);
  memcpy(out->outputs, outputs, (size_t)kernel->plan.output_count * sizeof *outputs);
}

static size_t workspace_words(const struct kernel *kernel) { return (kernel->plan.workspace_bytes + 3) / 4; }

/* Streams need not wait for the default one, which clears it: so this does. */
static halotune_status make_workspace(const struct kernel *kernel, CUdeviceptr *out) {
  size_t words = workspace_words(kernel);
  halotune_status status = cu_check(kernel->cu, kernel->cu->mem_alloc(out, words * 4), "cuMemAlloc of a workspace");
  if (status != HALOTUNE_OK) {
    *out = 0;
    return status;
  }
  status = cu_check(kernel->cu, kernel->cu->fill_words(*out, 0, words, NULL), "cuMemsetD32Async");
  return status == HALOTUNE_OK ? cu_check(kernel->cu, kernel->cu->stream_synchronize(NULL), "cuStreamSynchronize") : status;
}

halotune_status kernel_bind(const struct kernel *kernel, const CUdeviceptr inputs[], const CUdeviceptr outputs[],
                            struct kernel_fields *out) {
  halotune_status status = HALOTUNE_OK;
  take_pointers(kernel, inputs, outputs, out);
  for (int i = 0; i < kernel->plan.input_count && kernel->plan.passes_textures && status == HALOTUNE_OK; i++) {
    status = make_texture(kernel, inputs[i], &out->textures[i]);
    if (status == HALOTUNE_OK) out->texture_count++;
  }
  if (status == HALOTUNE_OK && kernel->plan.workspace_bytes > 0) status = make_workspace(kernel, &out->workspace);
  if (status != HALOTUNE_OK) kernel_fields_free(kernel, out);
  return status;
}

void kernel_fields_free(const struct kernel *kernel, struct kernel_fields *fields) {
  while (fields->texture_count > 0) kernel->cu->texture_destroy(fields->textures[--fields->texture_count]);
  if (fields->workspace) kernel->cu->mem_free(fields->workspace);
  fields->workspace = 0;
}

CUresult kernel_launch(struct kernel *kernel, struct kernel_fields *fields, CUstream stream) {
  void *arguments[3 * MAX_FIELDS + 3];
  int count = 0;
  for (int i = 0; i < kernel->plan.input_count; i++) arguments[count++] = &fields->inputs[i];
  for (int i = 0; i < kernel->plan.output_count; i++) arguments[count++] = &fields->outputs[i];
  for (int i = 0; i < fields->texture_count; i++) arguments[count++] = &fields->textures[i];
  if (fields->workspace) arguments[count++] = &fields->workspace;
  arguments[count++] = kernel->plan.geometry;
  if (kernel->plan.passes_coefficients) arguments[count++] = kernel->plan.coefficients;
  const unsigned *grid = kernel->plan.grid, *block = kernel->plan.block;
  return kernel->cu->launch(kernel->function, grid[0], grid[1], grid[2], block[0], block[1], block[2], kernel->plan.shared_bytes,
                            stream, arguments, NULL);
}

CUresult kernel_launch_once(struct kernel *kernel, const CUdeviceptr inputs[], const CUdeviceptr outputs[], CUstream stream) {
  const struct cu *cu = kernel->cu;
  struct kernel_fields fields;
  size_t words = workspace_words(kernel);
  take_pointers(kernel, inputs, outputs, &fields);
  if (words == 0) return kernel_launch(kernel, &fields, stream);
  CUresult result = cu->mem_alloc_async(&fields.workspace, words * 4, stream);
  if (result != CUDA_SUCCESS) return result;
  result = cu->fill_words(fields.workspace, 0, words, stream);
  if (result == CUDA_SUCCESS) result = kernel_launch(kernel, &fields, stream);
  CUresult freed = cu->mem_free_async(fields.workspace, stream);
  return result == CUDA_SUCCESS ? freed : result;
}
