/* gpu_memory.c: allocates fields, with guards or in sets. */
#include "tuner/device/gpu_memory.h"

#include "tuner/device/gpu_check.h"

static size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

size_t gpu_buffer_total(size_t bytes, size_t guard_bytes) {
  return 2 * round_up(guard_bytes, GPU_ALIGN_BYTES) + bytes + 2 * (size_t)GPU_ALIGN_BYTES;
}

halotune_status gpu_allocate(struct gpu *gpu, size_t bytes, CUdeviceptr *out) {
  return gpu_did(gpu, gpu->cu->mem_alloc(out, bytes), "cuMemAlloc");
}

halotune_status gpu_buffer_make(struct gpu *gpu, size_t bytes, size_t guard_bytes, struct gpu_buffer *out) {
  size_t guard = round_up(guard_bytes, GPU_ALIGN_BYTES), total = gpu_buffer_total(bytes, guard_bytes);
  *out = (struct gpu_buffer){.front_bytes = guard, .bytes = bytes, .behind_bytes = guard + round_up(bytes, 8) - bytes};
  halotune_status status = gpu_allocate(gpu, total, &out->allocation);
  if (status != HALOTUNE_OK) {
    *out = (struct gpu_buffer){0};
    return status;
  }
  out->memory = round_up(out->allocation, GPU_ALIGN_BYTES);
  out->data = out->memory + out->front_bytes;
  return HALOTUNE_OK;
}

halotune_status gpu_buffer_poison(struct gpu *gpu, const struct gpu_buffer *buffer, CUstream stream) {
  size_t words = (buffer->front_bytes + buffer->bytes + buffer->behind_bytes) / sizeof gpu_poison_word;
  return gpu_did(gpu, gpu->cu->fill_words(buffer->memory, gpu_poison_word, words, stream), "cuMemsetD32Async");
}

void gpu_buffer_free(struct gpu *gpu, struct gpu_buffer *buffer) {
  if (buffer->allocation) gpu->cu->mem_free(buffer->allocation);
  *buffer = (struct gpu_buffer){0};
}

int gpu_rotation_sets(size_t set_bytes, int l2_bytes) {
  size_t wanted = 2 * (size_t)(l2_bytes > 0 ? l2_bytes : 0), sets = set_bytes > 0 ? wanted / set_bytes + 1 : 1;
  return set_bytes >= wanted ? 1 : sets > GPU_MOST_SETS ? GPU_MOST_SETS : (int)sets;
}

halotune_status gpu_rotation_make(struct gpu *gpu, int count, int field_count, const size_t field_bytes[],
                                  CUstream stream, struct gpu_rotation *out) {
  *out = (struct gpu_rotation){.count = count, .field_count = field_count};
  for (int i = 0; i < field_count; i++) {
    out->offsets[i] = out->set_bytes;
    out->set_bytes += round_up(field_bytes[i], GPU_ALIGN_BYTES);
  }
  size_t bytes = (size_t)count * out->set_bytes;
  halotune_status status = gpu_allocate(gpu, bytes + GPU_ALIGN_BYTES, &out->memory);
  if (status == HALOTUNE_OK) {
    size_t words = (bytes + GPU_ALIGN_BYTES) / sizeof gpu_poison_word;
    status = gpu_did(gpu, gpu->cu->fill_words(out->memory, 0, words, stream), "cuMemsetD32Async");
  }
  if (status != HALOTUNE_OK) gpu_rotation_free(gpu, out);
  return status;
}

struct gpu_rotation gpu_rotation_borrow(CUdeviceptr first, CUdeviceptr second) {
  const CUdeviceptr low = first < second ? first : second;
  return (struct gpu_rotation){
      .memory = low, .is_borrowed = true, .count = 1, .field_count = 2, .offsets = {first - low, second - low}};
}

void gpu_rotation_free(struct gpu *gpu, struct gpu_rotation *rotation) {
  if (rotation->memory && !rotation->is_borrowed) gpu->cu->mem_free(rotation->memory);
  *rotation = (struct gpu_rotation){0};
}

CUdeviceptr gpu_rotation_field(const struct gpu_rotation *rotation, int set, int field) {
  return round_up(rotation->memory, GPU_ALIGN_BYTES) + (size_t)set * rotation->set_bytes + rotation->offsets[field];
}
