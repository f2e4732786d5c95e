/* scene.c: fills the inputs of a scene, and computes the reference for them. */
#include "tuner/verify/scene.h"

#include <stdlib.h>
#include <string.h>

#include "stencil/analysis/iterate.h"
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

static halotune_status allocate_fields(struct scene *scene) {
  const struct stencil *stencil = scene->request.stencil;
  size_t points = (size_t)grid_points(&scene->request.domain.grid);
  bool ok = true;
  for (int i = 0; i < stencil->input_count; i++) ok = ok && (scene->inputs[i] = calloc(points, sizeof(double)));
  for (int i = 0; i < scene->written_count; i++) {
    ok = ok && (scene->outputs[i] = calloc(points, sizeof(double))) &&
         (scene->want[i] = calloc(points, sizeof(double))) && (scene->magnitudes[i] = calloc(points, sizeof(double)));
  }
  return ok ? HALOTUNE_OK : fail_memory();
}

/* Make fields equal where no step computes them. Carried arrays become inputs, as outputs do. */
static void share_skipped(struct scene *scene) {
  const struct scene_request *r = &scene->request;
  const struct box all = box_computed(r->stencil, r->analysis, &r->domain.grid);
  struct carried carried[MAX_FIELDS];
  inputs_share_skipped(r->stencil, r->analysis, r->steps > 1 ? &scene->box : &all, &r->domain.grid, scene->inputs,
                       scene->outputs);
  iterate_carried(r->stencil, r->launch_steps, carried);
  for (int i = r->stencil->output_count; i < scene->written_count; i++) {
    struct carried *what = &carried[i - r->stencil->output_count];
    memcpy(scene->outputs[i], scene->inputs[what->input],
           (size_t)grid_points(&r->domain.grid) * sizeof *scene->outputs[i]);
  }
}

struct inputs scene_inputs(const struct scene_request *request) {
  const struct analysis *analysis = request->analysis;
  return (struct inputs){request->input,   request->seed,        request->dtype,
                         request->threads, !analysis->is_linear, analysis->asks_signs};
}

static halotune_status fill_field(const struct scene *scene, const struct inputs *inputs, int field, double *values) {
  const struct scene_request *r = &scene->request;
  return inputs_fill(inputs, field, r->stencil, &r->domain.grid, &r->ending, values);
}

static halotune_status fill_fields(struct scene *scene) {
  const struct scene_request *r = &scene->request;
  const struct inputs inputs = scene_inputs(r);
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < r->stencil->input_count && status == HALOTUNE_OK; i++) {
    status = fill_field(scene, &inputs, i, scene->inputs[i]);
  }
  for (int i = 0; i < scene->written_count && status == HALOTUNE_OK; i++) {
    status = fill_field(scene, &inputs, MAX_FIELDS + i, scene->outputs[i]);
  }
  if (status == HALOTUNE_OK) share_skipped(scene);
  return status;
}

/* Make the reference's steps.
 *   want, magnitudes  of each output; `want` holds the outputs' content before */
static halotune_status run_reference(const struct scene *scene, int steps, double *const want[],
                                     double *const magnitudes[]) {
  const struct scene_request *r = &scene->request;
  const double *inputs[MAX_FIELDS];
  struct reference reference = {.stencil = r->stencil,
                                .analysis = r->analysis,
                                .grid = r->domain.grid,
                                .coefficients = r->coefficients,
                                .steps = steps,
                                .threads = r->threads,
                                .box = steps > 1 ? &scene->box : NULL,
                                .ending = r->ending};
  reference.doubt = compare_rounding(r->dtype) * scene->allowed_units;
  reference.dtype = r->dtype;
  for (int i = 0; i < MAX_FIELDS; i++) inputs[i] = scene->inputs[i];
  for (int i = 0; i < r->stencil->output_count; i++)
    memcpy(want[i], scene->outputs[i], (size_t)grid_points(&r->domain.grid) * sizeof *want[i]);
  return reference_run(&reference, inputs, want, magnitudes);
}

/* Compute the carried inputs. They are outputs of an earlier step. */
static halotune_status run_carried(struct scene *scene, int number, const struct carried *carried) {
  const struct scene_request *r = &scene->request;
  double *want[MAX_FIELDS] = {0}, *magnitudes[MAX_FIELDS] = {0};
  size_t points = (size_t)grid_points(&r->domain.grid);
  const int output_count = r->stencil->output_count;
  bool ok = true;
  for (int i = 0; i < output_count; i++) {
    bool is_kept = i == carried->output;
    want[i] = is_kept ? scene->want[number] : calloc(points, sizeof(double));
    magnitudes[i] = is_kept ? scene->magnitudes[number] : calloc(points, sizeof(double));
    ok = ok && want[i] && magnitudes[i];
  }
  halotune_status status = ok ? run_reference(scene, r->steps - carried->later, want, magnitudes) : fail_memory();
  for (int i = 0; i < output_count; i++) {
    if (i == carried->output) continue;
    free(want[i]);
    free(magnitudes[i]);
  }
  return status;
}

static halotune_status check_reference(const struct scene *scene) {
  const struct scene_request *r = &scene->request;
  const struct finite_results results = {.stencil = r->stencil,
                                         .dtype = r->dtype,
                                         .grid = r->domain.grid,
                                         .box = scene->box,
                                         .steps = r->steps,
                                         .threads = r->threads,
                                         .want = scene->want,
                                         .magnitudes = scene->magnitudes};
  return finite_check(&results);
}

const char *scene_written_name(const struct scene *scene, int written) {
  const struct stencil *stencil = scene->request.stencil;
  struct carried carried[MAX_FIELDS];
  if (written < stencil->output_count) return stencil->outputs[written];
  iterate_carried(stencil, scene->request.launch_steps, carried);
  return stencil->inputs[carried[written - stencil->output_count].input];
}

halotune_status scene_plan(const struct scene_request *request, struct scene *out) {
  struct carried carried[MAX_FIELDS];
  *out = (struct scene){.request = *request};
  if (out->request.launch_steps < 1) out->request.launch_steps = 1;
  if (iterate_most_steps(request->stencil, out->request.launch_steps) < out->request.launch_steps)
    return fail(HALOTUNE_ARGUMENT, "%d steps write more than %d arrays", out->request.launch_steps, MAX_FIELDS);
  out->launches = request->steps / out->request.launch_steps;
  const int output_count = request->stencil->output_count;
  out->written_count = output_count + iterate_carried(request->stencil, out->request.launch_steps, carried);
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    out->box.low[axis] = request->domain.low[axis];
    out->box.high[axis] = request->domain.high[axis];
  }
  out->allowed_units =
      compare_allowed_units(request->stencil, request->analysis, &request->domain.grid, request->steps);
  for (int i = 0; i < out->written_count; i++) {
    const int output = i < output_count ? i : carried[i - output_count].output;
    out->written[i] = box_written(request->stencil, request->analysis, &request->domain.grid, output, &out->box);
  }
  const struct reference reference = {.stencil = request->stencil,
                                      .analysis = request->analysis,
                                      .grid = request->domain.grid,
                                      .steps = request->steps};
  return reference_check(&reference);
}

halotune_status scene_make(const struct scene_request *request, struct scene *out) {
  struct carried carried[MAX_FIELDS];
  const int output_count = request->stencil->output_count;
  halotune_status status = scene_plan(request, out);
  iterate_carried(request->stencil, out->request.launch_steps, carried);
  if (status == HALOTUNE_OK) status = allocate_fields(out);
  if (status == HALOTUNE_OK) status = fill_fields(out);
  if (status == HALOTUNE_OK) status = run_reference(out, request->steps, out->want, out->magnitudes);
  for (int i = output_count; i < out->written_count && status == HALOTUNE_OK; i++) {
    status = run_carried(out, i, &carried[i - output_count]);
  }
  if (status == HALOTUNE_OK) status = check_reference(out);
  if (status != HALOTUNE_OK) scene_free(out);
  return status;
}

halotune_status scene_collect_input(const struct scene *scene, int input, double **out) {
  const struct scene_request *r = &scene->request;
  const struct input_layout layout = input_layout_of(r->stencil, input, r->dtype, &r->domain);
  const struct grid *grid = &r->domain.grid;
  long n[MAX_DIMS];
  *out = calloc((size_t)layout.elements, sizeof **out);
  if (!*out) return fail_memory();
  input_layout_points(&layout, grid, n);
  for (long z = 0; z < n[2]; z++) {
    for (long y = 0; y < n[1]; y++) {
      for (long x = 0; x < n[0]; x++) {
        (*out)[input_layout_index(&layout, x, y, z)] = scene->inputs[input][grid_index(grid, x, y, z)];
      }
    }
  }
  return HALOTUNE_OK;
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
