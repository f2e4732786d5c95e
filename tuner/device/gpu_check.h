/* gpu_check.h: fields in the GPU's memory looked at by the GPU: kernels of gpu/check.cu, and what they find. */
#ifndef DEVICE_GPU_CHECK_H
#define DEVICE_GPU_CHECK_H

#include "stencil/launch/domain.h"
#include "tuner/device/gpu_error.h"

/* What a check is told; struct Look of check.cu. Counts are elements: of the field's type, or words of 32 bits for
 * check_input. */
struct gpu_look {
  long long front, count, behind; /* guard, field, guard */
  long long nx, ny;
  long long low[MAX_DIMS], high[MAX_DIMS];
  double rounding, allowed_units; /* as compare_fields takes them */
  long long compares;             /* with the reference or the pristine input; else numbers only have to be finite */
  long long keeps_poison;         /* outside of the box the field is still poisoned */
};

/* What it finds; struct Found of check.cu. All but `damaged` and `first_damaged` are of the box, and mean what
 * struct comparison does; of an input, `bad` are words that changed. */
struct gpu_found {
  long long bad, not_finite, first_bad; /* first: the element's index; meaningless where there is none */
  long long damaged, first_damaged;     /* elements outside of the box; the index is negative in front of the field */
  double sum_of_squares, max_error, max_units;
};

/* What `bytes` of memory are filled with to be recognised, 4 at a time. */
extern const unsigned gpu_poison_word;

enum { GPU_CHECK_THREADS = 256, GPU_CHECK_MAX_BLOCKS = 1024 };

/* The source of the kernels, from malloc, the caller's; NULL when memory is out. */
char *gpu_check_source(void);

/* What nothing found looks like, and the sum of what two parts found. */
struct gpu_found gpu_found_nothing(void);
void gpu_found_add(struct gpu_found *to, const struct gpu_found *from);

/* The kernels, loaded. Start with {0}; end with gpu_checker_free. */
struct gpu_checker {
  struct gpu *gpu;
  CUmodule module;
  CUfunction check[DTYPE_COUNT], check_input, digest, empty, spin;
  CUdeviceptr found; /* GPU_CHECK_MAX_BLOCKS */
  CUstream stream;
  int blocks; /* of a check */
  struct gpu_found host[GPU_CHECK_MAX_BLOCKS];
};

/* Load the compiled source. Checks run on `stream`.
 *   blocks  of a check, at most GPU_CHECK_MAX_BLOCKS
 * Returns HALOTUNE_OK or HALOTUNE_NO_GPU. */
halotune_status gpu_checker_load(struct gpu *gpu, const void *cubin, CUstream stream, int blocks,
                                 struct gpu_checker *out);
void gpu_checker_free(struct gpu_checker *checker);

/* Look at an output, and wait for the answer.
 *   memory            of the guard in front
 *   want, magnitudes  dense arrays of doubles; not read where nothing is compared */
halotune_status gpu_check(struct gpu_checker *checker, enum dtype dtype, CUdeviceptr memory, CUdeviceptr want,
                          CUdeviceptr magnitudes, const struct gpu_look *look, struct gpu_found *out);

/* Look at an input. */
halotune_status gpu_check_input(struct gpu_checker *checker, CUdeviceptr memory, CUdeviceptr pristine,
                                const struct gpu_look *look, struct gpu_found *out);

/* A number that fields with the same words have in common, and others as good as never.
 *   count  of words of 32 bits */
halotune_status gpu_check_digest(struct gpu_checker *checker, CUdeviceptr field, long long count, uint64_t *out);

/* Launch the kernel that does nothing; the driver's own result. */
CUresult gpu_launch_empty(const struct gpu_checker *checker);

/* Launch some rounds of arithmetic in so many blocks; a round is a few clocks. */
CUresult gpu_launch_spin(const struct gpu_checker *checker, int blocks, unsigned rounds);

#endif
