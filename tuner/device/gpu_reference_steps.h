/* gpu_reference_steps.h: the steps of the reference on the GPU, of the whole grid or of a part of it. A step computes
 * the points that the part depends on in the steps after it, so that the part is exact. */
#ifndef DEVICE_GPU_REFERENCE_STEPS_H
#define DEVICE_GPU_REFERENCE_STEPS_H

#include "tuner/device/gpu_check.h"

/* What the steps need of a recipe. */
struct gpu_steps {
  enum dtype dtype;
  int input_count, output_count;
  long count; /* steps */
  struct grid grid;
  long reach_low[MAX_DIMS], reach_high[MAX_DIMS]; /* how far a step's taps reach */
  bool wraps[MAX_DIMS];                           /* the axis is periodic */
  long long sources[GPU_RECIPE_INPUTS];           /* see struct gpu_recipe */
  CUdeviceptr recipe;                             /* on the GPU */
};

struct gpu_steps gpu_steps_make(const struct gpu_recipe *recipe, enum dtype dtype, CUdeviceptr on_gpu);

/* The box that must be known before the last `count` steps of a part. It may go beyond the ends of a periodic axis,
 * unless it has as many points as the axis: then it is the whole axis. */
struct box gpu_steps_grow(const struct gpu_steps *steps, const struct box *part, long count);

/* Memory for the results of a step: values and magnitudes of each output. */
struct gpu_place {
  CUdeviceptr values[MAX_FIELDS], magnitudes[MAX_FIELDS];
};

/* Allocate a place for the results of so many points of each output. gpu_place_free ends it after any outcome. */
halotune_status gpu_place_make(struct gpu *gpu, int output_count, long points, struct gpu_place *out);
void gpu_place_free(struct gpu *gpu, struct gpu_place *place);

/* Compute all steps, and wait. Steps take turns between two places; the last one ends in the first place.
 *   starts  first contents of the inputs; NULL: values are drawn where they are read
 *   places  the second one is not used for a single step. They have room for the part, grown by all steps but one
 *   found   `bad` is increased by the points, in any step, that the element type cannot hold */
halotune_status gpu_steps_run(const struct gpu_steps *steps, struct gpu_checker *checker, const CUdeviceptr *starts,
                              const struct gpu_place places[2], const struct box *part, struct gpu_found *found);

#endif
