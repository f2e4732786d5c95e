/* memory.c: device memory, which the processes that execute kernels can map, and textures over it. A device pointer is
 * no host address, so a program that dereferences one crashes, as with a GPU. */
#include <stdlib.h>
#include <string.h>

#include "tests/fake_cuda/fake.h"

enum { MAX_TEXTURES = 4096 };
static const CUdeviceptr first_address = 0x7f2000000000ull, unit_bytes = 2ull << 20;
static const double copy_bytes_per_us = 2145e3; /* bytes copied; as many are written again: 4290 GB/s */

static struct fake_memory *allocations; /* sorted by address */
static int allocation_count;
static size_t used_bytes;
static CUdeviceptr next_address;
static struct fake_texture textures[MAX_TEXTURES];

/* The position of the first allocation that ends after an address. */
static int position_of(CUdeviceptr address) {
  int low = 0, high = allocation_count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (allocations[middle].begin + allocations[middle].bytes > address) high = middle;
    else low = middle + 1;
  }
  return low;
}

struct fake_memory *fake_memory_find(CUdeviceptr address) {
  int i = position_of(address);
  return i < allocation_count && allocations[i].begin <= address ? &allocations[i] : NULL;
}

static CUresult allocate(CUdeviceptr *pointer, size_t bytes) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > fake_memory_bytes() - used_bytes) return CUDA_ERROR_OUT_OF_MEMORY;
  struct fake_memory *more = realloc(allocations, (size_t)(allocation_count + 1) * sizeof *more);
  struct fake_memory memory = {.bytes = bytes, .is_written = true};
  if (!more) return CUDA_ERROR_OUT_OF_MEMORY;
  allocations = more;
  if (emulation_buffer_create_sparse(bytes, 4, &memory.buffer) != HALOTUNE_OK) return CUDA_ERROR_OUT_OF_MEMORY;
  content_make(&memory);
  /* Addresses are never used twice, so that a pointer to freed memory is found. */
  if (next_address == 0) next_address = first_address;
  memory.begin = next_address;
  next_address += (bytes + 2 * unit_bytes - 1) / unit_bytes * unit_bytes;
  allocations[allocation_count++] = memory;
  used_bytes += bytes;
  *pointer = memory.begin;
  return CUDA_SUCCESS;
}

static CUresult release(CUdeviceptr pointer) {
  struct fake_memory *memory = fake_memory_find(pointer);
  if (pointer == 0) return CUDA_SUCCESS;
  if (!memory || memory->begin != pointer) return CUDA_ERROR_INVALID_VALUE;
  used_bytes -= memory->bytes;
  emulation_buffer_free(memory->buffer);
  free(memory->parts);
  memmove(memory, memory + 1, (size_t)(allocations + allocation_count - (memory + 1)) * sizeof *memory);
  allocation_count--;
  return CUDA_SUCCESS;
}

CUresult fake_mem_alloc(CUdeviceptr *pointer, size_t bytes) {
  ENTER("cuMemAlloc_v2");
  NEED_CONTEXT();
  return allocate(pointer, bytes);
}

CUresult fake_mem_free(CUdeviceptr pointer) {
  ENTER("cuMemFree_v2");
  const CUresult result = fake_drain_all(); /* the driver waits for the work on the memory */
  return result == CUDA_SUCCESS ? release(pointer) : result;
}

/* Streams are synchronous, so their memory is like any other. There is none during a capture. */
CUresult fake_mem_alloc_async(CUdeviceptr *pointer, size_t bytes, CUstream stream) {
  ENTER("cuMemAllocAsync");
  NEED_CONTEXT();
  return fake_is_capturing(stream) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : allocate(pointer, bytes);
}

CUresult fake_mem_free_async(CUdeviceptr pointer, CUstream stream) {
  ENTER("cuMemFreeAsync");
  return fake_is_capturing(stream) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : release(pointer);
}

CUresult fake_mem_info(size_t *free_bytes, size_t *total_bytes) {
  ENTER("cuMemGetInfo_v2");
  NEED_CONTEXT();
  *total_bytes = fake_memory_bytes();
  *free_bytes = *total_bytes - used_bytes;
  return CUDA_SUCCESS;
}

/* The host address of device memory; NULL if the memory is not all in one allocation. */
static unsigned char *bytes_at(CUdeviceptr address, size_t bytes, bool is_written) {
  struct fake_memory *memory = fake_memory_find(address);
  if (!memory || address + bytes > memory->begin + memory->bytes) return NULL;
  if (!is_written) return (unsigned char *)emulation_buffer_data(memory->buffer) + (address - memory->begin);
  memory->is_written = true;
  return content_change(memory, address - memory->begin, bytes);
}

CUresult fake_to_device_now(CUdeviceptr to, const void *from, size_t bytes) {
  if (bytes == 0) return CUDA_SUCCESS;
  unsigned char *at = bytes_at(to, bytes, true);
  if (!at) return CUDA_ERROR_INVALID_VALUE;
  memcpy(at, from, bytes);
  return CUDA_SUCCESS;
}

CUresult fake_to_host_now(void *to, CUdeviceptr from, size_t bytes) {
  if (bytes == 0) return CUDA_SUCCESS;
  const unsigned char *at = bytes_at(from, bytes, false);
  if (!at) return CUDA_ERROR_INVALID_VALUE;
  memcpy(to, at, bytes);
  return CUDA_SUCCESS;
}

CUresult fake_to_device(CUdeviceptr to, const void *from, size_t bytes) {
  ENTER("cuMemcpyHtoD_v2");
  NEED_CONTEXT();
  return fake_to_device_now(to, from, bytes);
}

CUresult fake_to_host(void *to, CUdeviceptr from, size_t bytes) {
  ENTER("cuMemcpyDtoH_v2");
  NEED_CONTEXT();
  return fake_to_host_now(to, from, bytes);
}

CUresult fake_copy_now(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  const unsigned char *source = bytes_at(from, bytes, false);
  unsigned char *target = bytes_at(to, bytes, true);
  if (!source || !target) return CUDA_ERROR_INVALID_VALUE;
  memmove(target, source, bytes);
  struct fake_memory *written = fake_memory_find(to), *read = fake_memory_find(from);
  if (bytes > 0) content_copy(written, to - written->begin, read, from - read->begin, bytes);
  model_pass(model_gap_us(false) + (double)bytes / copy_bytes_per_us);
  return CUDA_SUCCESS;
}

CUresult fake_fill_now(CUdeviceptr to, unsigned word, size_t count) {
  uint32_t *target = (uint32_t *)(void *)bytes_at(to, count * sizeof *target, true);
  if (!target || to % sizeof *target != 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; i++) target[i] = word;
  struct fake_memory *memory = fake_memory_find(to);
  content_fill(memory, to - memory->begin, count * sizeof *target, word);
  model_pass(model_gap_us(false) + (double)(count * sizeof *target) / copy_bytes_per_us);
  return CUDA_SUCCESS;
}

static bool texel_bytes(CUarray_format format, unsigned channels, uint32_t *out) {
  switch ((int)format) {
  case CU_AD_FORMAT_FLOAT:
  case CU_AD_FORMAT_SIGNED_INT32:
  case CU_AD_FORMAT_UNSIGNED_INT32: *out = 4 * channels; return channels == 1 || channels == 2 || channels == 4;
  default: return false;
  }
}

/* Describe the texture of a resource, with the limits of a GPU. */
static bool shape_of(const CUDA_RESOURCE_DESC *resource, struct fake_texture *out) {
  enum { ALIGNMENT = 512, PITCH_ALIGNMENT = 32, MAX_WIDTH = 131072, MAX_HEIGHT = 65000 };
  struct emulation_wire_texture *shape = &out->shape;
  if (resource->resType == CU_RESOURCE_TYPE_LINEAR) {
    out->begin = resource->res.linear.devPtr;
    if (!texel_bytes(resource->res.linear.format, resource->res.linear.numChannels, &shape->texel_bytes)) return false;
    shape->width = resource->res.linear.sizeInBytes / shape->texel_bytes;
    shape->height = 1;
    shape->pitch_bytes = resource->res.linear.sizeInBytes;
    if (shape->width > 1u << 28) return false;
  } else if (resource->resType == CU_RESOURCE_TYPE_PITCH2D) {
    out->begin = resource->res.pitch2D.devPtr;
    if (!texel_bytes(resource->res.pitch2D.format, resource->res.pitch2D.numChannels, &shape->texel_bytes))
      return false;
    shape->width = resource->res.pitch2D.width;
    shape->height = resource->res.pitch2D.height;
    shape->pitch_bytes = resource->res.pitch2D.pitchInBytes;
    if (shape->width > MAX_WIDTH || shape->height > MAX_HEIGHT || shape->pitch_bytes % PITCH_ALIGNMENT != 0)
      return false;
  } else {
    return false;
  }
  return out->begin % ALIGNMENT == 0 && bytes_at(out->begin, shape->height * shape->pitch_bytes, false);
}

/* The handle modulo MAX_TEXTURES is the index in the table. */
const struct fake_texture *fake_texture_find(CUtexObject handle) {
  const struct fake_texture *texture = &textures[handle % MAX_TEXTURES];
  return handle != 0 && texture->handle == handle ? texture : NULL;
}

CUresult fake_texture_create(CUtexObject *texture, const CUDA_RESOURCE_DESC *resource,
                             const CUDA_TEXTURE_DESC *texture_description, const CUDA_RESOURCE_VIEW_DESC *view) {
  static const CUtexObject first_handle = 0x7e57000000000000ull;
  static uint64_t made;
  struct fake_texture new = {0};
  ENTER("cuTexObjectCreate");
  NEED_CONTEXT();
  if (view || !shape_of(resource, &new)) return CUDA_ERROR_INVALID_VALUE;
  if (texture_description->filterMode != CU_TR_FILTER_MODE_POINT) return CUDA_ERROR_NOT_SUPPORTED;
  new.shape.zero_outside =
      resource->resType == CU_RESOURCE_TYPE_LINEAR || texture_description->addressMode[0] == CU_TR_ADDRESS_MODE_BORDER;
  for (int i = 0; i < MAX_TEXTURES; i++) {
    if (textures[i].handle != 0) continue;
    new.handle = *texture = first_handle + ++made *MAX_TEXTURES + (CUtexObject)i;
    textures[i] = new;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult fake_texture_destroy(CUtexObject texture) {
  ENTER("cuTexObjectDestroy");
  if (!fake_texture_find(texture)) return CUDA_ERROR_INVALID_VALUE;
  textures[texture % MAX_TEXTURES].handle = 0;
  return CUDA_SUCCESS;
}
