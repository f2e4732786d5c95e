/* gpu_memory.h: fields in the GPU's memory: between guards, or many sets of them to take turns. */
#ifndef DEVICE_GPU_MEMORY_H
#define DEVICE_GPU_MEMORY_H

#include "tuner/device/gpu_error.h"

enum { GPU_ALIGN_BYTES = 512 };

/* A field with a guard in front and one behind. Start with {0}; end with gpu_buffer_free. */
struct gpu_buffer {
  CUdeviceptr allocation, memory,
      data; /* memory: of the guard in front; data: of the field, a multiple of GPU_ALIGN_BYTES */
  size_t front_bytes, bytes, behind_bytes;
};

/* What the device gives for a field of so many bytes. */
size_t gpu_buffer_total(size_t bytes, size_t guard_bytes);

/* Allocate one. Its content is what was there.
 * Returns HALOTUNE_OK or HALOTUNE_NO_GPU; gpu->failed is CUDA_ERROR_OUT_OF_MEMORY where that is why. */
halotune_status gpu_buffer_make(struct gpu *gpu, size_t bytes, size_t guard_bytes, struct gpu_buffer *out);

/* Poison field and guards. */
halotune_status gpu_buffer_poison(struct gpu *gpu, const struct gpu_buffer *buffer, CUstream stream);

void gpu_buffer_free(struct gpu *gpu, struct gpu_buffer *buffer);

/* Sets of fields in one piece of memory, filled with zeros. Start with {0}; end with gpu_rotation_free. */
struct gpu_rotation {
  CUdeviceptr memory;
  int count, field_count;
  size_t stride_bytes; /* of a field to the next */
};

/* How many sets it takes until together they exceed twice the L2 cache; at least 1, at most GPU_MOST_SETS, so that
 * tiny fields take turns among that many. */
enum { GPU_MOST_SETS = 1024 };
int gpu_rotation_sets(size_t set_bytes, int l2_bytes);

halotune_status gpu_rotation_make(struct gpu *gpu, int count, int field_count, size_t field_bytes, CUstream stream,
                                  struct gpu_rotation *out);
void gpu_rotation_free(struct gpu *gpu, struct gpu_rotation *rotation);

CUdeviceptr gpu_rotation_field(const struct gpu_rotation *rotation, int set, int field);

#endif
