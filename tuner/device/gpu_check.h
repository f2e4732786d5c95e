/* gpu_check.h: lets the GPU check fields in its memory, with the kernels of tuner/device/check.cu. */
#ifndef DEVICE_GPU_CHECK_H
#define DEVICE_GPU_CHECK_H

#include "stencil/launch/domain.h"
#include "tuner/device/gpu_error.h"
#include "tuner/device/gpu_recipe.h"

/* The input of a check; struct Look of check.cu. It counts elements of the field's type, or 32-bit words for
 * check_input. */
struct gpu_look {
  long long front, count, behind; /* elements of guard, field, guard */
  long long nx, ny;
  long long low[MAX_DIMS], high[MAX_DIMS];
  double rounding, allowed_units; /* see compare_fields */
  /* compare with the reference or the pristine input; else numbers only have to be finite */
  long long compares;
  long long keeps_poison; /* the field is still poisoned outside of the box */
};

/* The result of a check; struct Found of check.cu. `damaged` and `first_damaged` are about elements outside the box.
 * The other members are about the box and mean the same as in struct comparison; for an input, `bad` counts the words
 * that changed, or the elements where fields exist in parts (gpu_verify_parts.h). */
struct gpu_found {
  long long bad, not_finite, first_bad; /* first_bad: the element's index; meaningless if there is none */
  long long damaged, first_damaged;     /* elements outside of the box; the index is negative before the field */
  double sum_of_squares, max_error, max_units;
};

/* The word with which memory is filled so that untouched elements are recognised. */
extern const unsigned gpu_poison_word;

enum { GPU_CHECK_THREADS = 256, GPU_CHECK_MAX_BLOCKS = 1024 };

/* The source of the kernels, from malloc, which the caller frees; NULL when memory is out. */
char *gpu_check_source(void);

/* gpu_found_nothing returns the result of a check that found nothing. gpu_found_add adds the result of another part. */
struct gpu_found gpu_found_nothing(void);
void gpu_found_add(struct gpu_found *to, const struct gpu_found *from);

/* The loaded kernels. Start with {0}; end with gpu_checker_free. */
struct gpu_checker {
  struct gpu *gpu;
  CUmodule module;
  CUfunction check[DTYPE_COUNT], check_input, digest, empty, spin;
  CUfunction fill[DTYPE_COUNT], reference[DTYPE_COUNT];         /* kernels of tuner/device/fields.cu */
  CUfunction check_start[DTYPE_COUNT], check_part[DTYPE_COUNT]; /* kernels of tuner/device/parts.cu */
  CUdeviceptr found;                                            /* room for GPU_CHECK_MAX_BLOCKS results */
  CUstream stream;
  int blocks; /* blocks of a check */
  struct gpu_found host[GPU_CHECK_MAX_BLOCKS];
};

/* Load the compiled source. Checks run on `stream`.
 *   blocks  blocks of a check, at most GPU_CHECK_MAX_BLOCKS
 * Returns HALOTUNE_OK or HALOTUNE_NO_GPU. */
halotune_status gpu_checker_load(struct gpu *gpu, const void *cubin, CUstream stream, int blocks,
                                 struct gpu_checker *out);
void gpu_checker_free(struct gpu_checker *checker);

/* Check an output, and wait for the result.
 *   memory            start of the guard before the field
 *   want, magnitudes  dense arrays of doubles; not read if nothing is compared */
halotune_status gpu_check(struct gpu_checker *checker, enum dtype dtype, CUdeviceptr memory, CUdeviceptr want,
                          CUdeviceptr magnitudes, const struct gpu_look *look, struct gpu_found *out);

/* Check an input, and wait for the result. */
halotune_status gpu_check_input(struct gpu_checker *checker, CUdeviceptr memory, CUdeviceptr pristine,
                                const struct gpu_look *look, struct gpu_found *out);

/* Check an input of which there is no copy: its content is compared with what a recipe in the GPU's memory says. Wait
 * for the result. The look and the result count elements of the field's type. */
halotune_status gpu_check_start(struct gpu_checker *checker, enum dtype dtype, CUdeviceptr memory, CUdeviceptr recipe,
                                int buffer, const struct gpu_look *look, struct gpu_found *out);

/* Compare the box of a look with the reference, and wait for the result.
 *   data              start of the field; it may have no guards
 *   want, magnitudes  of the points of `part`, which contains the box */
halotune_status gpu_check_part(struct gpu_checker *checker, enum dtype dtype, CUdeviceptr data, CUdeviceptr want,
                               CUdeviceptr magnitudes, const struct gpu_look *look, const struct box *part,
                               struct gpu_found *out);

/* Compute a digest of a field. Equal fields have equal digests, and different fields almost certainly different ones.
 *   count  32-bit words of the field */
halotune_status gpu_check_digest(struct gpu_checker *checker, CUdeviceptr field, long long count, uint64_t *out);

/* Start to fill a field as a recipe in the GPU's memory says; see gpu_recipe.h. */
halotune_status gpu_fill(struct gpu_checker *checker, enum dtype dtype, CUdeviceptr to, CUdeviceptr recipe, int buffer);

/* The fields that a step of the reference reads; 0 behind the last input. */
struct gpu_reference_inputs {
  CUdeviceptr starts[GPU_RECIPE_INPUTS]; /* 0: values are drawn where they are read */
  /* computed by the step before; 0: not computed */
  CUdeviceptr values[GPU_RECIPE_INPUTS], magnitudes[GPU_RECIPE_INPUTS];
};

/* The part of the grid that a step of the reference computes, and the parts whose results are in memory: those of the
 * step before and those of this step. Parts may go beyond the ends of a periodic axis. */
struct gpu_reference_parts {
  struct box points, from, to;
};

/* Compute a step of the reference of one output, and wait for it. `bad` counts points that the element type cannot
 * hold.
 *   want, magnitudes  of the output; other memory than the step's inputs */
halotune_status gpu_reference(struct gpu_checker *checker, enum dtype dtype, CUdeviceptr recipe,
                              const struct gpu_reference_inputs *inputs, const struct gpu_reference_parts *parts,
                              int output, CUdeviceptr want, CUdeviceptr magnitudes, struct gpu_found *out);

/* Launch the kernel that does nothing. Returns the driver's own result. */
CUresult gpu_launch_empty(const struct gpu_checker *checker);

/* Launch some rounds of arithmetic in this number of blocks. A round takes a few clocks. */
CUresult gpu_launch_spin(const struct gpu_checker *checker, int blocks, unsigned rounds);

#endif
