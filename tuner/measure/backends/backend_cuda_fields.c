/* backend_cuda_fields.c: has the worker make the fields of a scene that has none, and checks parts of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/trace.h"
#include "tuner/measure/backends/backend_cuda_parts.h"
#include "tuner/verify/spot.h"

enum { SPOTS = 24, MAKE_MS = 120000 };

/* A step of the GPU's reference may differ from the CPU's by some roundings of double precision, over the magnitude. */
static const double most_difference = 1e-13;

/* After several steps a spot depends on many points, which one thread computes. On a small grid, all threads of the
 * CPU compute the whole reference in less time. */
static bool is_check_cheap(const struct scene *scene) {
  enum { LEAST_GAIN = 16 };
  return scene->request.steps == 1 ||
         (long)LEAST_GAIN * SPOTS * spot_reference_points(scene) <= grid_points(&scene->request.domain.grid);
}

bool cuda_makes_fields(const struct scene *scene) {
  struct gpu_recipe *recipe = malloc(sizeof *recipe);
  bool fits = false;
  const bool applies = recipe && gpu_recipe_applies(scene) && is_check_cheap(scene) &&
                       gpu_recipe_make(scene, recipe, &fits) == HALOTUNE_OK && fits;
  free(recipe);
  return applies;
}

/* Read a spot of a field, as doubles. */
static halotune_status download_spot(struct cuda *c, enum gpu_upload kind, int number, const struct spot *spot,
                                     double *values) {
  const struct domain *domain = &c->wire.domain;
  const bool is_single = kind == GPU_UPLOAD_START && c->wire.dtype == DTYPE_F32;
  const size_t bytes = is_single ? sizeof(float) : sizeof(double);
  const long first = spot->x + domain->row * spot->y + domain->plane * spot->z;
  struct text request = {0};
  struct gpu_reply reply;
  gpu_request_begin(&request, GPU_REQUEST_DOWNLOAD);
  pack_u64(&request, kind);
  pack_u64(&request, (uint64_t)number);
  pack_u64(&request, (uint64_t)first * bytes);
  pack_u64(&request, (uint64_t)spot->count * bytes);
  halotune_status status = cuda_ask(c, &request, MAKE_MS, &reply);
  if (status != HALOTUNE_OK) return status;
  for (int i = 0; i < spot->count; i++) {
    float single = 0;
    if (is_single) memcpy(&single, c->link.window->bytes + (size_t)i * sizeof single, sizeof single);
    else memcpy(&values[i], c->link.window->bytes + (size_t)i * sizeof *values, sizeof *values);
    if (is_single) values[i] = (double)single;
  }
  return HALOTUNE_OK;
}

static halotune_status fail_different(const struct scene *scene, const char *what, const char *name,
                                      const struct spot *spot, int at, double want, double got) {
  return fail(HALOTUNE_NOT_FOUND,
              "the %s of %s of %s that the GPU makes differs from the CPU's: %.17g at (%ld, %ld, %ld), not %.17g", what,
              name, scene->request.stencil->name, got, spot->x + at, spot->y, spot->z, want);
}

/* Compare the contents of the buffers before a launch, bit for bit. */
static halotune_status check_starts(struct cuda *c, const struct scene *scene, const struct spot *spot) {
  const struct stencil *stencil = scene->request.stencil;
  double want[ROW_POINTS], got[ROW_POINTS];
  halotune_status status = HALOTUNE_OK;
  for (int b = 0; b < gpu_problem_buffers(&c->wire) && status == HALOTUNE_OK; b++) {
    const bool is_input = b < stencil->input_count;
    if (!is_input && c->wire.phase_count == 1) break;
    spot_starts(scene, spot, b, want);
    status = download_spot(c, GPU_UPLOAD_START, b, spot, got);
    for (int i = 0; i < spot->count && status == HALOTUNE_OK; i++) {
      if (want[i] == got[i]) continue;
      const char *name = is_input ? stencil->inputs[b] : stencil->outputs[b - stencil->input_count];
      status = fail_different(scene, "start", name, spot, i, want[i], got[i]);
    }
  }
  return status;
}

static halotune_status check_reference(struct cuda *c, const struct scene *scene, const struct spot *spot) {
  const struct stencil *stencil = scene->request.stencil;
  enum { GOT = 2 * MAX_FIELDS, SIZES };
  double(*rows)[ROW_POINTS] = calloc(SIZES + 1, sizeof *rows);
  if (!rows) return fail_memory();
  double *got = rows[GOT], *sizes = rows[SIZES];
  struct result_row want[MAX_FIELDS];
  for (int o = 0; o < MAX_FIELDS; o++) want[o] = (struct result_row){rows[o], rows[MAX_FIELDS + o]};
  halotune_status status = spot_reference(scene, spot, want);
  for (int o = 0; o < stencil->output_count && status == HALOTUNE_OK; o++) {
    status = download_spot(c, GPU_UPLOAD_WANT, o, spot, got);
    if (status == HALOTUNE_OK) status = download_spot(c, GPU_UPLOAD_MAGNITUDE, o, spot, sizes);
    for (int i = 0; i < spot->count && status == HALOTUNE_OK; i++) {
      const double magnitude = want[o].magnitudes[i], most = most_difference * scene->request.steps * magnitude;
      if (!(fabs(got[i] - want[o].values[i]) <= most))
        status = fail_different(scene, "value", stencil->outputs[o], spot, i, want[o].values[i], got[i]);
      else if (!(fabs(sizes[i] - magnitude) <= most))
        status = fail_different(scene, "magnitude", stencil->outputs[o], spot, i, magnitude, sizes[i]);
    }
  }
  free(rows);
  return status;
}

/* Check seeded spots: the contents of the buffers at any point, and the reference in the box. */
static halotune_status check_spots(struct cuda *c, const struct scene *scene) {
  const struct grid *grid = &scene->request.domain.grid;
  const struct box all = {{0, 0, 0}, {grid->n[0], grid->n[1], grid->n[2]}};
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < SPOTS && status == HALOTUNE_OK; i++) {
    const struct spot anywhere = spot_draw(scene, &all, i), inside = spot_draw(scene, &scene->box, i);
    status = check_starts(c, scene, &anywhere);
    if (status == HALOTUNE_OK) status = check_reference(c, scene, &inside);
  }
  return status;
}

static halotune_status ask_to_make(struct cuda *c, const struct gpu_recipe *recipe) {
  struct text request = {0};
  struct gpu_reply reply;
  struct gpu_made made;
  const double all_ms = cuda_reference_ms(c, (double)domain_elements(&c->wire.domain));
  gpu_request_begin(&request, GPU_REQUEST_MAKE_FIELDS);
  pack_bytes(&request, recipe, sizeof *recipe);
  halotune_status status = cuda_ask(c, &request, MAKE_MS + all_ms, &reply);
  if (status != HALOTUNE_OK) return status;
  cuda_trace("make fields", NULL, &reply, GPU_MARK_BEGIN, GPU_MARK_END);
  if (reply.payload_bytes != sizeof made) return fail(HALOTUNE_IO, "the GPU's worker sent an invalid answer");
  memcpy(&made, reply.payload, sizeof made);
  c->drawn_points = made.drawn_points;
  return made.bad_points == 0 ? HALOTUNE_OK : fail(HALOTUNE_NOT_FOUND, "the reference is not finite at some points");
}

halotune_status cuda_make_fields(struct cuda *c) {
  const struct scene *scene = c->problem.scene;
  struct gpu_recipe *recipe = malloc(sizeof *recipe);
  bool fits = false;
  c->drawn_points = 0;
  if (!recipe) return fail_memory();
  halotune_status status = gpu_recipe_make(scene, recipe, &fits);
  if (status == HALOTUNE_OK && !fits) status = fail(HALOTUNE_NOT_FOUND, "the update does not fit the GPU's reference");
  if (status == HALOTUNE_OK) status = ask_to_make(c, recipe);
  const double begin_ms = trace_now_ms();
  if (status == HALOTUNE_OK) status = check_spots(c, scene);
  trace_end(TRACE_PHASES, "check fields", begin_ms, NULL, NULL);
  free(recipe);
  if (status == HALOTUNE_NOT_FOUND && c->drawn_points > 0) {
    struct text reason = {0};
    text_printf(&reason, "%s; the CPU does not make them, because the GPU has no memory for a whole reference",
                fail_text());
    status = fail(HALOTUNE_MEMORY, "%s", text_string(&reason));
    text_free(&reason);
  }
  return status;
}
