/* kernel.c: modules, arguments and launches. */
#include "gpu/kernel.h"

#include <string.h>

/* More dynamic shared memory than a block gets unasked has to be asked for. */
enum { UNASKED_SHARED_BYTES = 48 * 1024 };

halotune_status kernel_load(const struct device *device, const void *cubin, const struct variant_spec *spec,
                            const struct generated *generated, const double *coefficients, struct kernel *out) {
  const struct cu *cu = device->cu;
  *out = (struct kernel){.cu = cu,
                         .input_count = spec->stencil->input_count,
                         .output_count = spec->stencil->output_count,
                         .shared_bytes = (unsigned)generated->shared_bytes,
                         .passes_textures = generated->passes_textures,
                         .dtype = spec->dtype,
                         .domain = spec->domain};
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    out->grid[axis] = (unsigned)generated->grid[axis];
    out->block[axis] = (unsigned)generated->block[axis];
  }
  geometry_pack(generated, &spec->domain, out->geometry);
  out->passes_coefficients = coefficients_pack(generated, spec->stencil, spec->dtype, coefficients, out->coefficients) > 0;
  halotune_status status = cu_check(cu, cu->module_load(&out->module, cubin), "cuModuleLoadData");
  if (status == HALOTUNE_OK) {
    status = cu_check(cu, cu->module_function(&out->function, out->module, generated->kernel), "cuModuleGetFunction");
  }
  if (status == HALOTUNE_OK && out->shared_bytes > UNASKED_SHARED_BYTES) {
    status = cu_check(cu, cu->function_set(out->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                           (int)out->shared_bytes), "cuFuncSetAttribute");
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
  const struct domain *d = &kernel->domain;
  bool single = kernel->dtype == DTYPE_F32;
  size_t bytes = single ? 4 : 8, elements = (size_t)domain_elements(d), row = (size_t)d->row;
  CUarray_format format = single ? CU_AD_FORMAT_FLOAT : CU_AD_FORMAT_SIGNED_INT32;
  unsigned channels = single ? 1 : 2;
  CUDA_RESOURCE_DESC resource;
  CUDA_TEXTURE_DESC texture;
  memset(&resource, 0, sizeof resource);
  memset(&texture, 0, sizeof texture);
  if (kernel->passes_textures == 1) {
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

halotune_status kernel_bind(const struct kernel *kernel, const CUdeviceptr inputs[], const CUdeviceptr outputs[],
                            struct kernel_fields *out) {
  *out = (struct kernel_fields){.texture_count = 0};
  memcpy(out->inputs, inputs, (size_t)kernel->input_count * sizeof *inputs);
  memcpy(out->outputs, outputs, (size_t)kernel->output_count * sizeof *outputs);
  for (int i = 0; i < kernel->input_count && kernel->passes_textures; i++) {
    halotune_status status = make_texture(kernel, inputs[i], &out->textures[i]);
    if (status != HALOTUNE_OK) {
      kernel_fields_free(kernel, out);
      return status;
    }
    out->texture_count++;
  }
  return HALOTUNE_OK;
}

void kernel_fields_free(const struct kernel *kernel, struct kernel_fields *fields) {
  while (fields->texture_count > 0) kernel->cu->texture_destroy(fields->textures[--fields->texture_count]);
}

CUresult kernel_launch(struct kernel *kernel, struct kernel_fields *fields, CUstream stream) {
  void *arguments[3 * MAX_FIELDS + 2];
  int count = 0;
  for (int i = 0; i < kernel->input_count; i++) arguments[count++] = &fields->inputs[i];
  for (int i = 0; i < kernel->output_count; i++) arguments[count++] = &fields->outputs[i];
  for (int i = 0; i < fields->texture_count; i++) arguments[count++] = &fields->textures[i];
  arguments[count++] = kernel->geometry;
  if (kernel->passes_coefficients) arguments[count++] = kernel->coefficients;
  const unsigned *grid = kernel->grid, *block = kernel->block;
  return kernel->cu->launch(kernel->function, grid[0], grid[1], grid[2], block[0], block[1], block[2], kernel->shared_bytes,
                            stream, arguments, NULL);
}
