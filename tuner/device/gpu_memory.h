/* gpu_memory.h: fields in the GPU's memory: a field between two guards, or many sets of fields that are used in
 * turn. */
#ifndef DEVICE_GPU_MEMORY_H
#define DEVICE_GPU_MEMORY_H

#include "tuner/device/gpu_error.h"

enum { GPU_ALIGN_BYTES = 512 };

/* Allocate memory, which is not initialised.
 * Returns HALOTUNE_OK or HALOTUNE_NO_GPU; gpu->failed is CUDA_ERROR_OUT_OF_MEMORY if memory was the reason. */
halotune_status gpu_allocate(struct gpu *gpu, size_t bytes, CUdeviceptr *out);

/* A field with a guard before and after it. Start with {0}; end with gpu_buffer_free. */
struct gpu_buffer {
  CUdeviceptr allocation, memory,
      data; /* memory: start of the guard before the field; data: start of the field, a multiple of GPU_ALIGN_BYTES */
  size_t front_bytes, bytes, behind_bytes;
};

/* The memory that the device needs for a field of this size, with its guards. */
size_t gpu_buffer_total(size_t bytes, size_t guard_bytes);

/* Allocate a field. It is not initialised.
 * Returns HALOTUNE_OK or HALOTUNE_NO_GPU; gpu->failed is CUDA_ERROR_OUT_OF_MEMORY if memory was the reason. */
halotune_status gpu_buffer_make(struct gpu *gpu, size_t bytes, size_t guard_bytes, struct gpu_buffer *out);

/* Poison the field and its guards. */
halotune_status gpu_buffer_poison(struct gpu *gpu, const struct gpu_buffer *buffer, CUstream stream);

void gpu_buffer_free(struct gpu *gpu, struct gpu_buffer *buffer);

/* Sets of fields in one piece of memory, filled with zeros. Start with {0}; end with gpu_rotation_free. */
struct gpu_rotation {
  CUdeviceptr memory;
  bool is_borrowed; /* the memory belongs to others */
  int count, field_count;
  size_t set_bytes, offsets[2 * MAX_FIELDS]; /* of the fields in a set */
};

/* The number of sets that together exceed twice the L2 cache: at least 1, at most GPU_MOST_SETS, which limits the
 * number for tiny fields. */
enum { GPU_MOST_SETS = 1024 };
int gpu_rotation_sets(size_t set_bytes, int l2_bytes);

/* Allocate the sets. After a failure `out` is {0}. Returns what gpu_allocate returns. */
halotune_status gpu_rotation_make(struct gpu *gpu, int count, int field_count, const size_t field_bytes[],
                                  CUstream stream, struct gpu_rotation *out);

/* A single set of two fields that others have allocated, at multiples of GPU_ALIGN_BYTES. */
struct gpu_rotation gpu_rotation_borrow(CUdeviceptr first, CUdeviceptr second);

void gpu_rotation_free(struct gpu *gpu, struct gpu_rotation *rotation);

CUdeviceptr gpu_rotation_field(const struct gpu_rotation *rotation, int set, int field);

#endif
