/* gpu_reference_steps.c: launches a kernel for each step and output. */
#include "tuner/device/gpu_reference_steps.h"

#include "tuner/device/gpu_memory.h"

struct gpu_steps gpu_steps_make(const struct gpu_recipe *recipe, enum dtype dtype, CUdeviceptr on_gpu) {
  struct gpu_steps out = {.dtype = dtype,
                          .input_count = (int)recipe->input_count,
                          .output_count = (int)recipe->output_count,
                          .count = (long)recipe->steps,
                          .recipe = on_gpu};
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    out.grid.n[axis] = (long)recipe->n[axis];
    out.wraps[axis] =
        recipe->boundary[axis] == BOUNDARY_PERIODIC || recipe->boundary[axis] == BOUNDARY_PERIODIC_ENDPOINT;
    for (long long i = 0; i < recipe->tap_count; i++) {
      const long offset = recipe->taps[i].offset[axis];
      if (-offset > out.reach_low[axis]) out.reach_low[axis] = -offset;
      if (offset > out.reach_high[axis]) out.reach_high[axis] = offset;
    }
  }
  for (int i = 0; i < GPU_RECIPE_INPUTS; i++) out.sources[i] = recipe->sources[i];
  return out;
}

struct box gpu_steps_grow(const struct gpu_steps *steps, const struct box *part, long count) {
  struct box box = *part;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    const long n = steps->grid.n[axis];
    if (box.low[axis] == 0 && box.high[axis] == n) continue;
    box.low[axis] -= count * steps->reach_low[axis];
    box.high[axis] += count * steps->reach_high[axis];
    const bool has_all = box.high[axis] - box.low[axis] >= n;
    if (steps->wraps[axis] && !has_all) continue;
    if (box.low[axis] < 0 || has_all) box.low[axis] = 0;
    if (box.high[axis] > n || has_all) box.high[axis] = n;
  }
  return box;
}

/* Compute all outputs of a step.
 *   before  results of the step before; NULL: this is the first step */
static halotune_status run_step(const struct gpu_steps *steps, struct gpu_checker *checker, const CUdeviceptr *starts,
                                const struct gpu_place *before, const struct gpu_place *to,
                                const struct gpu_reference_parts *parts, struct gpu_found *found) {
  struct gpu_reference_inputs inputs = {{0}, {0}, {0}};
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < steps->input_count; i++) {
    inputs.starts[i] = starts ? starts[i] : 0;
    if (!before || steps->sources[i] < 0) continue;
    inputs.values[i] = before->values[steps->sources[i]];
    inputs.magnitudes[i] = before->magnitudes[steps->sources[i]];
  }
  for (int o = 0; o < steps->output_count && status == HALOTUNE_OK; o++) {
    struct gpu_found one;
    status =
        gpu_reference(checker, steps->dtype, steps->recipe, &inputs, parts, o, to->values[o], to->magnitudes[o], &one);
    if (status == HALOTUNE_OK) gpu_found_add(found, &one);
  }
  return status;
}

halotune_status gpu_steps_run(const struct gpu_steps *steps, struct gpu_checker *checker, const CUdeviceptr *starts,
                              const struct gpu_place places[2], const struct box *part, struct gpu_found *found) {
  halotune_status status = HALOTUNE_OK;
  for (long left = steps->count; left > 0 && status == HALOTUNE_OK; left--) {
    const struct box from = gpu_steps_grow(steps, part, left), to = gpu_steps_grow(steps, part, left - 1);
    const struct gpu_reference_parts parts = {.points = to, .from = from, .to = to};
    const struct gpu_place *before = left < steps->count ? &places[left % 2] : NULL;
    status = run_step(steps, checker, starts, before, &places[(left - 1) % 2], &parts, found);
  }
  return status;
}

halotune_status gpu_place_make(struct gpu *gpu, int output_count, long points, struct gpu_place *out) {
  const size_t bytes = (size_t)points * sizeof(double);
  halotune_status status = HALOTUNE_OK;
  *out = (struct gpu_place){.values = {0}};
  for (int o = 0; o < output_count && status == HALOTUNE_OK; o++) {
    status = gpu_allocate(gpu, bytes, &out->values[o]);
    if (status == HALOTUNE_OK) status = gpu_allocate(gpu, bytes, &out->magnitudes[o]);
  }
  return status;
}

void gpu_place_free(struct gpu *gpu, struct gpu_place *place) {
  for (int o = 0; o < MAX_FIELDS; o++) {
    if (place->values[o]) gpu->cu->mem_free(place->values[o]);
    if (place->magnitudes[o]) gpu->cu->mem_free(place->magnitudes[o]);
  }
  *place = (struct gpu_place){.values = {0}};
}
