/* scene.c: fills the inputs of a scene, and computes the reference for them. */
#include "tuner/verify/scene.h"

#include <stdlib.h>

#include "tuner/verify/compare.h"
#include "tuner/verify/finite.h"
#include "tuner/verify/reference.h"

halotune_status scene_coefficients(const struct stencil *stencil, const struct grid *grid, enum dtype dtype,
                                   double *values) {
  enum { DIFFERENT = 61 };
  halotune_status status = stencil_coefficients(stencil, grid, values);
  for (int i = 0; i < stencil->coefficient_count && status == HALOTUNE_OK; i++) {
    values[i] *= 1 + (double)(1 + i * 7 % DIFFERENT) / (8.0 * DIFFERENT);
    if (dtype == DTYPE_F32) values[i] = (double)(float)values[i];
  }
  return status;
}

static halotune_status allocate(struct scene *scene) {
  const struct stencil *stencil = scene->request.stencil;
  size_t points = (size_t)grid_points(&scene->request.domain.grid);
  bool ok = true;
  for (int i = 0; i < stencil->input_count; i++) ok = ok && (scene->inputs[i] = calloc(points, sizeof(double)));
  for (int i = 0; i < stencil->output_count; i++) {
    ok = ok && (scene->outputs[i] = calloc(points, sizeof(double))) &&
         (scene->want[i] = calloc(points, sizeof(double))) && (scene->magnitudes[i] = calloc(points, sizeof(double)));
  }
  return ok ? HALOTUNE_OK : fail_memory();
}

static halotune_status fill_fields(struct scene *scene) {
  const struct scene_request *r = &scene->request;
  struct inputs inputs = {r->input, r->seed, r->dtype, r->threads, !r->analysis->is_linear};
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < r->stencil->input_count && status == HALOTUNE_OK; i++) {
    status = inputs_fill(&inputs, i, r->stencil, &r->domain.grid, scene->inputs[i]);
  }
  for (int i = 0; i < r->stencil->output_count && status == HALOTUNE_OK; i++) {
    status = inputs_fill(&inputs, MAX_FIELDS + i, r->stencil, &r->domain.grid, scene->outputs[i]);
  }
  if (status != HALOTUNE_OK) return status;
  inputs_share_skipped(r->stencil, r->analysis, &r->domain.grid, scene->inputs, scene->outputs);
  size_t points = (size_t)grid_points(&r->domain.grid);
  for (int i = 0; i < r->stencil->output_count; i++) {
    for (size_t k = 0; k < points; k++) scene->want[i][k] = scene->outputs[i][k];
  }
  return HALOTUNE_OK;
}

halotune_status scene_make(const struct scene_request *request, struct scene *out) {
  const double *inputs[MAX_FIELDS];
  *out = (struct scene){.request = *request};
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    out->box.low[axis] = request->domain.low[axis];
    out->box.high[axis] = request->domain.high[axis];
  }
  halotune_status status = allocate(out);
  if (status == HALOTUNE_OK) status = fill_fields(out);
  if (status == HALOTUNE_OK) {
    for (int i = 0; i < MAX_FIELDS; i++) inputs[i] = out->inputs[i];
    struct reference reference = {.stencil = request->stencil,
                                  .analysis = request->analysis,
                                  .grid = request->domain.grid,
                                  .coefficients = request->coefficients,
                                  .steps = request->steps,
                                  .threads = request->threads};
    status = reference_run(&reference, inputs, out->want, out->magnitudes);
    out->allowed_units =
        compare_allowed_units(request->stencil, request->analysis, &request->domain.grid, request->steps);
  }
  if (status == HALOTUNE_OK) status = finite_check(out);
  if (status != HALOTUNE_OK) scene_free(out);
  return status;
}

void scene_free(struct scene *scene) {
  for (int i = 0; i < MAX_FIELDS; i++) {
    free(scene->inputs[i]);
    free(scene->outputs[i]);
    free(scene->want[i]);
    free(scene->magnitudes[i]);
  }
  *scene = (struct scene){.box = {{0}, {0}}};
}
